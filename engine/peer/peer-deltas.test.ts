/**
 * Tests one side of a delta at a peer with hand-written requests: clients that are cut off, that call too
 * early, and that send nonsense.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PEER_LIMITS } from '../peer-protocol/messages.ts';
import { noise, startTestPeer, TEST_TOKEN, type TestPeer } from './peer.fixture.ts';

const MIB = 1024 * 1024;
const SIZE = 4 * MIB;
const CONTENT = noise(SIZE, 1);

let peer: TestPeer;
const sockets: Socket[] = [];
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await peer[Symbol.asyncDispose]();
});

async function openTarget(more: object = {}): Promise<string> {
  const chunkSize = { min: 4_096, average: 8_192, max: 65_536 };
  const wish = { side: 'target', path: 'file', hash: 'xxh3', seed: '1', blockBytes: 65_536, chunkSize };
  const opened = await peer.send('POST', 'deltas', {
    body: JSON.stringify({ ...wish, mtimeNs: '1600000000000000000', ...more }),
  });
  return ((await opened.json()) as { delta: string }).delta;
}

const call = (delta: string, name: string, body: string) =>
  peer.send('POST', `deltas/${delta}/${name}`, { body });
const begin = (delta: string) => call(delta, 'begin', `{"sizeBytes":${SIZE},"keepsOld":false}`);

/** The whole file in one call, whose second half is held back. Resolves when the peer has begun with it. */
async function writeHalf(delta: string) {
  const head = JSON.stringify({ ranges: [0, SIZE] });
  const socket = connect({ port: peer.port(), host: '127.0.0.1' });
  socket.on('error', () => {});
  sockets.push(socket);
  const lines = [
    `POST /v1/deltas/${delta}/write HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${TEST_TOKEN}`,
    `dray-head-bytes: ${head.length}`,
    `content-length: ${head.length + SIZE}`,
    'expect: 100-continue',
  ];
  const heard = new Promise((resolve) => socket.once('data', resolve));
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // The peer sends "100 Continue" in the tick in which it reads the request.
  await heard;
  const answered = new Promise<string>((resolve) => {
    socket.once('data', (piece) => resolve(String(piece).slice(9, 12)));
    socket.once('close', () => resolve('closed'));
  });
  socket.write(head);
  socket.write(CONTENT.subarray(0, SIZE / 2));
  await peer.send('GET', '');
  return { socket, answered, sendRest: () => socket.write(CONTENT.subarray(SIZE / 2)) };
}

const unfinished = () =>
  readdirSync(peer.root, { recursive: true, encoding: 'utf8' }).filter((name) => /-9999\./.test(name));

describe('a target of a delta', () => {
  it('that is ended closes its file once running calls have ended, and no sooner', async () => {
    const delta = await openTarget();
    await begin(delta);
    const { answered, sendRest } = await writeHalf(delta);
    let isEnded = false;
    const ended = peer.send('DELETE', `deltas/${delta}`).then(() => {
      isEnded = true;
    });
    await peer.send('GET', '');
    expect(isEnded).toBe(false);
    sendRest();
    expect(await answered).toBe('200');
    await ended;
    expect(unfinished()).toEqual([]);
    expect((await call(delta, 'begin', '{}')).status).toBe(404);
  });

  it('that is completed waits for running writes', async () => {
    const delta = await openTarget();
    await begin(delta);
    const { answered, sendRest } = await writeHalf(delta);
    const completed = call(delta, 'complete', '{}');
    await peer.send('GET', '');
    expect(unfinished().length).toBe(1);
    sendRest();
    expect(await answered).toBe('200');
    expect((await completed).status).toBe(200);
    expect(readFileSync(peer.path('file')).equals(CONTENT)).toBe(true);
    expect(unfinished()).toEqual([]);
  });

  it('names its file by the requested path', async () => {
    const delta = await openTarget();
    await begin(delta);
    mkdirSync(peer.path('file/in'), { recursive: true });
    const answer = await call(delta, 'complete', '{}');
    expect(answer.status).toBe(409);
    const { error } = (await answer.json()) as { error: { message: string; data: object } };
    expect(error.message).toMatch(/^file is a folder that is not empty/);
    expect(error.data).toMatchObject({ path: 'file' });
  });

  it('accepts no data before it is begun', async () => {
    const delta = await openTarget();
    for (const [name, body] of Object.entries({
      write: '{"ranges":[]}',
      clear: '{"ranges":[0,1]}',
      copy: '{"moves":[]}',
      complete: '{}',
    }))
      expect((await call(delta, name, body)).status, name).toBe(409);
    expect(readdirSync(peer.root)).not.toContain('file');
  });
});

it('a digest that this version no longer offers is refused with the digests that it offers', async () => {
  const chunkSize = { min: 4_096, average: 8_192, max: 65_536 };
  const wish = { side: 'source', path: 'file', hash: 'blake3', seed: '1', blockBytes: 65_536, chunkSize };
  const answer = await peer.send('POST', 'deltas', { body: JSON.stringify(wish) });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect([answer.status, error.code]).toEqual([400, 'usage']);
  expect(error.message).toContain('this peer signs blocks with xxh3 or sha256, not with "blake3"');
});

describe('an invalid opening request', () => {
  it('holds no memory if it is not JSON, however often it comes', async () => {
    peer.write('small', 'x');
    const nonsense = Buffer.alloc(PEER_LIMITS.jsonBytesMax, 'x');
    for (let sent = 0; sent < 60; sent += 1)
      expect((await peer.send('POST', 'deltas', { body: nonsense })).status).toBe(400);
    expect((await peer.send('POST', 'read', { body: '{"paths":["small"]}' })).status).toBe(200);
  });

  it('is refused if it asks for blocks above the limit', async () => {
    const chunkSize = { min: 4_096, average: 8_192, max: 65_536 };
    const wish = { side: 'source', path: 'file', hash: 'xxh3', seed: '1', chunkSize };
    const body = JSON.stringify({ ...wish, blockBytes: 32 * MIB });
    expect((await peer.send('POST', 'deltas', { body })).status).toBe(400);
  });
});

it('a delta of a folder is refused as a conflict, and one of a missing file as not found', async () => {
  mkdirSync(peer.path('folder'));
  const open = (path: string) =>
    peer.send('POST', 'deltas', {
      body: JSON.stringify({
        side: 'source',
        path,
        hash: 'xxh3',
        seed: '1',
        blockBytes: 4_096,
        chunkSize: { min: 4_096, average: 8_192, max: 65_536 },
      }),
    });
  expect((await open('folder')).status).toBe(409);
  expect((await open('nothing')).status).toBe(404);
});
