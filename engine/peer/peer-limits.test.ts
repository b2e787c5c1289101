/** Slow, silent, numerous or large clients: each is ended by itself, and the others continue. */
import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { PEER_LIMITS } from '../peer-protocol/messages.ts';
import { headPeerFile } from '../remotes/peer/peer-files.ts';
import { noise, serveForTest, startTestPeer, TEST_TOKEN, type TestPeer } from './peer.fixture.ts';
import { ownCertificate } from './peer-own-certificate.ts';

let peer: TestPeer;
const open: Socket[] = [];
const NEVER_STOPPED = new AbortController().signal;
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await peer?.[Symbol.asyncDispose]();
});

/** Short, so that a test need not wait. The tests check that the wait has an end. */
const SHORT_MS = 200;
const NEVER = 1_000_000;
const PATIENT = { headersMs: NEVER, paceMs: NEVER, stallMs: NEVER, aliveMs: NEVER };

function openSocket(): Socket {
  const socket = connect({ port: peer.port(), host: '127.0.0.1' });
  socket.on('error', () => {});
  open.push(socket);
  return socket;
}

const closed = (socket: Socket) =>
  new Promise<string>((resolve) => {
    const pieces: Buffer[] = [];
    socket.on('data', (piece) => pieces.push(piece));
    socket.once('close', () => resolve(Buffer.concat(pieces).toString('latin1')));
  });

function head(method: string, route: string, more: readonly string[] = []): string {
  const lines = [
    `${method} /v1/${route} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${TEST_TOKEN}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const expectAlive = async () => expect((await peer.send('GET', '')).status).toBe(200);

describe('a slow client', () => {
  it('is disconnected if its headers never end', async () => {
    peer = await startTestPeer({ patience: { ...PATIENT, headersMs: SHORT_MS } });
    const socket = openSocket();
    const ended = closed(socket);
    socket.write('GET /v1/ HTTP/1.1\r\nhost: 127.0.0.1\r\nx-never: e');
    expect(await ended).toContain('408');
    await expectAlive();
  });

  it.each([
    ['write', ['content-length: 100000', 'dray-head-bytes: 10']],
    ['read', ['content-length: 1000']],
    ['deltas', ['content-length: 1000']],
    ['objects/put', ['content-length: 1000']],
  ])('is disconnected if the body of "%s" stalls', async (route, headers) => {
    peer = await startTestPeer({ patience: { ...PATIENT, paceMs: SHORT_MS } });
    const socket = openSocket();
    const ended = closed(socket);
    socket.write(`${head('POST', route, headers)}{"pa`);
    await ended;
    await expectAlive();
  });

  it('is disconnected if a range of a large file stalls, and the upload continues with another', async () => {
    peer = await startTestPeer({ patience: { ...PATIENT, paceMs: SHORT_MS } });
    const begun = await peer.send('POST', 'uploads', {
      body: JSON.stringify({ path: 'large', mtimeNs: '0', rangeBytes: 65_536, sizeBytes: 65_536 }),
    });
    const { upload } = (await begun.json()) as { upload: string };
    const socket = openSocket();
    const ended = closed(socket);
    socket.write(
      `${head('PUT', `uploads/${upload}?at=0`, ['content-length: 65536', 'dray-crc64nvme: 0000000000000000'])}abc`,
    );
    await ended;
    const state = await peer.send('POST', `uploads/${upload}/state`, { body: '{}' });
    expect(await state.json()).toMatchObject({ received: [] });
    await expectAlive();
  });

  it('is disconnected if it does not read the answer', async () => {
    peer = await startTestPeer({ patience: { ...PATIENT, stallMs: SHORT_MS } });
    peer.write('large', noise(64 * 1024 * 1024, 1));
    const socket = openSocket();
    socket.pause();
    const ended = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    socket.write(head('GET', 'content?path=large'));
    // The kernel's buffered bytes still arrive; only then the end.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    let taken = 0;
    socket.on('data', (piece) => {
      taken += piece.length;
    });
    socket.resume();
    await ended;
    expect(taken).toBeLessThan(64 * 1024 * 1024);
    await expectAlive();
  });
});

describe('a client that never ends its handshake', () => {
  it('is disconnected like one that never ends its headers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-peer-tls-'));
    const root = join(folder, 'offered');
    mkdirSync(root);
    const tls = await ownCertificate(folder, 'test');
    const server = await serveForTest(root, { tls, patience: { ...PATIENT, headersMs: SHORT_MS } });
    try {
      const socket = connect({ port: server.address.port, host: '127.0.0.1' });
      socket.on('error', () => {});
      open.push(socket);
      await closed(socket);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a request that takes long', () => {
  it('gets a sign now and then that it is still being worked on', async () => {
    peer = await startTestPeer({ patience: { ...PATIENT, aliveMs: 1 } });
    // Zeros that take no space, and are still read.
    peer.write('large', '');
    truncateSync(peer.path('large'), 256 * 1024 * 1024);
    const socket = openSocket();
    const ended = closed(socket);
    socket.write(head('HEAD', 'content?path=large&sums=crc64nvme', ['connection: close']));
    const answer = await ended;
    expect(answer).toMatch(/^(?:HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
    expect(answer.toLowerCase()).toContain('dray-crc64nvme: ');
    const info = await headPeerFile(peer.client, 'large', { checksums: true, signal: NEVER_STOPPED });
    expect(info?.crc64).toBeDefined();
  });

  it('gives no checksum of a file that changed while it was read', async () => {
    peer = await startTestPeer({ patience: { ...PATIENT, aliveMs: 1 } });
    peer.write('large', '');
    truncateSync(peer.path('large'), 256 * 1024 * 1024);
    const socket = openSocket();
    const ended = closed(socket);
    socket.once('data', () => utimesSync(peer.path('large'), 1, 1));
    socket.write(head('HEAD', 'content?path=large&sums=crc64nvme', ['connection: close']));
    const answer = await ended;
    expect(answer).toContain('102 Processing');
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer.toLowerCase()).not.toContain('dray-crc64nvme: ');
  });
});

describe('a request beyond a limit', () => {
  it('one connection more than allowed is closed, and the next is accepted after one has ended', async () => {
    peer = await startTestPeer({ connectionsMax: 3 });
    const three = Array.from({ length: 3 }, openSocket);
    const answered = (socket: Socket) =>
      new Promise<string>((resolve) => {
        socket.once('data', (piece) => resolve(String(piece)));
      });
    for (const socket of three) {
      const answer = answered(socket);
      socket.write(head('GET', ''));
      expect(await answer).toContain('HTTP/1.1 200');
    }
    expect(await closed(openSocket())).toBe('');
    const [first] = three;
    const ended = closed(first!);
    first!.end();
    await ended;
    const late = openSocket();
    const answer = answered(late);
    late.write(head('GET', ''));
    expect(await answer).toContain('HTTP/1.1 200');
  });

  it.each([
    ['headers', head('GET', '', [`x-long: ${'x'.repeat(PEER_LIMITS.headerBytesMax)}`]), '431'],
    ['JSON', head('POST', 'read', [`content-length: ${PEER_LIMITS.jsonBytesMax + 1}`]), '413'],
    [
      'a batch',
      head('POST', 'write', [
        `content-length: ${PEER_LIMITS.bodyBytesMax + PEER_LIMITS.jsonBytesMax + 1}`,
        'dray-head-bytes: 2',
      ]),
      '413',
    ],
    [
      'JSON before contents',
      head('POST', 'write', ['content-length: 9000000', 'dray-head-bytes: 9000000']),
      '413',
    ],
    ['a body without its length', head('POST', 'read', ['transfer-encoding: chunked']), '411'],
    ['a path', head('GET', `content?path=${'x'.repeat(PEER_LIMITS.pathBytesMax + 1)}`), '414'],
  ])('%s is refused before it is read', async (_what, text, status) => {
    peer = await startTestPeer();
    const socket = openSocket();
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (piece) => resolve(String(piece)));
    });
    socket.write(text);
    expect(await answer).toContain(`HTTP/1.1 ${status}`);
    await expectAlive();
  });
});

it('folders used as repositories make room for others', async () => {
  peer = await startTestPeer();
  const names = Array.from({ length: 257 }, (_, at) => `repository-${at}`);
  for (const name of names) mkdirSync(peer.path(name));
  const list = (at: string) => peer.send('POST', `objects/list?at=${at}`, { body: '{"prefix":""}' });
  for (const name of [...names, names[0]!]) expect((await list(name)).status, name).toBe(200);
});
