import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_STORE } from '../remotes/contract-abilities.ts';
import { describeObjectStoreContract } from '../remotes/contract-suite.ts';
import { openPeerRemote } from '../remotes/peer/open-peer.ts';
import { serveForTest, TEST_TOKEN } from './peer-fixture.ts';

describeObjectStoreContract(
  'A folder of a peer',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'dray-peer-'));
    await mkdir(join(root, 'repository'));
    const server = await serveForTest(root);
    const store = await openPeerRemote(
      { kind: 'peer', host: '127.0.0.1', port: server.address.port, prefix: 'repository' },
      { connection: {}, environment: { DRAY_TOKEN: TEST_TOKEN } },
    );
    return {
      store,
      close: async () => {
        await store.close();
        await server.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  },
  FILE_STORE,
);
