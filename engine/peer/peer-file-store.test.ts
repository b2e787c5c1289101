/** How the store of plain files at a peer handles the peer's errors. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { openPeerClient, type PeerClient } from '../remotes/peer/peer-client.ts';
import { createPeerFileStore } from '../remotes/peer/peer-file-store.ts';
import { withRetry } from '../remotes/wrappers/with-retry.ts';
import { startTestPeer, TEST_TOKEN, type TestPeer } from './peer.fixture.ts';

const still: Clock = { nowMs: () => 0, monotonicMs: () => 0, random: () => 0, sleep: async () => {} };
let peer: TestPeer;
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
});

/** Changes the last byte of the first body on its way. */
function falsifying(client: PeerClient): PeerClient {
  let isLeft = true;
  return {
    ...client,
    call(request) {
      if (!isLeft || !request.body) return client.call(request);
      isLeft = false;
      const body = Buffer.from(request.body);
      body[body.length - 1]! ^= 1;
      return client.call({ ...request, body });
    },
  };
}

describe('an error of a peer', () => {
  it('keeps its retry advice, so that a file damaged on its way is sent again', async () => {
    const put = createPeerFileStore(falsifying(peer.client), '').put('file', Buffer.from('content'));
    await expect(put).rejects.toMatchObject({
      code: 'checksumRefused',
      retry: 'retry',
      data: { path: 'file' },
    });
    const repeated: ErrorCode[] = [];
    const store = withRetry(createPeerFileStore(falsifying(peer.client), ''), {
      clock: still,
      onRetry: ({ code }) => repeated.push(code),
    });
    expect(await store.put('file', Buffer.from('content'))).toMatchObject({ written: true });
    expect(repeated).toEqual(['checksumRefused']);
    expect(readFileSync(peer.path('file'), 'utf8')).toBe('content');
  });

  it('keeps its data when something cannot be removed', async () => {
    peer.write('folder/file', 'x');
    const store = createPeerFileStore(peer.client, '');
    await expect(store.delete(['folder/'])).rejects.toMatchObject({
      code: 'conflict',
      data: { path: 'folder' },
    });
  });
});

describe('a server that is not a peer', () => {
  it('does not make a file count as absent', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end('not found'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const client = await openPeerClient({ origin, token: TEST_TOKEN, connectionsMax: 1, attemptsMax: 1 });
    try {
      const store = createPeerFileStore(client, '');
      const calls = [store.head('file'), store.get('file'), store.read('file', { maxBytes: 100 })];
      for (const outcome of await Promise.allSettled<unknown>(calls))
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'unsupported' } });
    } finally {
      await client.close();
      server.close();
    }
  });

  it('is not mistaken for a peer without the file', async () => {
    peer.write('file', 'x');
    const store = createPeerFileStore(peer.client, '');
    for (const key of ['absent', 'file/below', 'no/folder/absent']) {
      const calls = [store.head(key), store.get(key), store.read(key, { maxBytes: 100 })];
      expect(await Promise.all<unknown>(calls), key).toEqual([undefined, undefined, undefined]);
    }
  });
});
