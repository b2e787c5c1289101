/** What a peer's folder as a store of plain objects makes of the peer's errors. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import type { PeerClient } from '../remotes/peer/peer-client.ts';
import { createPeerFileStore } from '../remotes/peer/peer-file-store.ts';
import { withRetry } from '../remotes/with-retry.ts';
import { startTestPeer, type TestPeer } from './peer-fixture.ts';

const still: Clock = { nowMs: () => 0, monotonicMs: () => 0, random: () => 0, sleep: async () => {} };
let peer: TestPeer;
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
});

/** The last byte of the first body that it sends is another one when it arrives. */
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
  it('keeps its advice, so that a file that was spoilt on its way is sent again', async () => {
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

  it('keeps what it tells beside the message when something cannot be removed', async () => {
    peer.write('folder/file', 'x');
    const store = createPeerFileStore(peer.client, '');
    await expect(store.delete(['folder/'])).rejects.toMatchObject({
      code: 'conflict',
      data: { path: 'folder' },
    });
  });
});
