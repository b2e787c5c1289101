import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_STORE } from '../remotes/contract-abilities.ts';
import { describeObjectStoreContract } from '../remotes/contract-suite.ts';
import { openPeerRemote } from '../remotes/peer/open-peer.ts';
import { serveFolder } from './serve-folder.ts';

const TOKEN = 'a-token-of-this-test';

describeObjectStoreContract(
  'A folder of a peer',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'dray-peer-'));
    await mkdir(join(root, 'repository'));
    const server = await serveFolder({
      root,
      host: '127.0.0.1',
      port: 0,
      token: TOKEN,
      isReadOnly: false,
      hostNames: [],
      connectionsMax: 64,
      software: 'test',
      onFailure: (error) => console.error(error),
    });
    const store = await openPeerRemote(
      { kind: 'peer', host: '127.0.0.1', port: server.address.port, prefix: 'repository' },
      { connection: {}, environment: { DRAY_TOKEN: TOKEN } },
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
