import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longIt } from '../base/long-it.fixture.ts';
import { FILE_STORE } from '../remotes/contract/abilities.fixture.ts';
import { describeObjectStoreContract } from '../remotes/contract/suite.fixture.ts';
import type { PartInfo } from '../remotes/object-store.ts';
import { openPeerRemote } from '../remotes/peer/open-peer.ts';
import { createPeerObjectStore } from '../remotes/peer/peer-object-store.ts';
import { noise, serveForTest, startTestPeer, TEST_TOKEN } from './peer.fixture.ts';

describeObjectStoreContract(
  'A folder of a peer',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'dray-peer-'));
    await mkdir(join(root, 'repository'));
    const server = await serveForTest(root);
    const store = await openPeerRemote(
      {
        kind: 'peer',
        host: '127.0.0.1',
        port: server.address.port,
        prefix: 'repository',
        tls: false,
        isTyped: true,
      },
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

describe('Objects larger than one request to a peer', () => {
  const MIB = 1024 * 1024;

  longIt(
    'are stored in full under their checksum and condition, and leave nothing behind if refused',
    async () => {
      await using peer = await startTestPeer();
      const store = createPeerObjectStore(peer.client, '');
      const bytes = noise(70 * MIB, 1);
      const checksum = { sha256: createHash('sha256').update(bytes).digest('hex') };
      const wrong = { sha256: createHash('sha256').digest('hex') };
      const condition = { absent: true } as const;
      await expect(store.put('pack', bytes, { checksum: wrong, condition })).rejects.toMatchObject({
        code: 'checksumRefused',
      });
      expect(await store.head('pack')).toBeUndefined();
      expect(await store.put('pack', bytes, { checksum, condition })).toMatchObject({ written: true });
      expect(await store.put('pack', bytes, { checksum, condition })).toEqual({ written: false });
      expect(readFileSync(peer.path('pack')).equals(bytes)).toBe(true);
      expect(await store.multipart!.listUploads({ prefix: '' })).toEqual({ uploads: [] });
    },
  );

  it('may have more than 10,000 parts, all listed at their completion', async () => {
    await using peer = await startTestPeer();
    const { multipart } = createPeerObjectStore(peer.client, '');
    expect(multipart!.partBytesMax).toBe(64 * MIB);
    const upload = { key: 'large', uploadId: await multipart!.create('large') };
    const parts: PartInfo[] = [];
    for (const number of [1, 10_001, 99_999])
      parts.push(await multipart!.uploadPart(upload, number, Buffer.from(`${number} `)));
    const unsent = Array.from({ length: 90_000 }, (_, at) => ({ ...parts[2]!, number: at + 2 }));
    await expect(multipart!.complete(upload, [...parts, ...unsent])).rejects.toMatchObject({
      code: 'notFound',
      data: { part: 2 },
    });
    expect(await multipart!.complete(upload, parts)).toMatchObject({ written: true });
    expect(readFileSync(peer.path('large'), 'utf8')).toBe('1 10001 99999 ');
  });
});
