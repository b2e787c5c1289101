/**
 * Large files that changed or have holes, between a folder and another machine. Only the differences are
 * sent, as counted at the socket.
 */
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { noise, plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';

const MIB = 1024 * 1024;
let sandbox: Sandbox;
let peer: PeerServer;
let wire: Wire;
let place: string;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  peer = await serve('offered');
  wire = await openWire(peer.address.port);
  place = plainPlace(wire.port);
});
afterEach(async () => {
  wire?.close();
  await peer?.close();
  sandbox?.[Symbol.dispose]();
});

const serve = (folder: string) => serveForTest(sandbox.path(folder));

interface Wire {
  readonly port: number;
  /** Bytes in both directions since the previous call. */
  bytes(): number;
  /**
   * Gets the first bytes of what a client sends. Returning true cuts the connection when the peer answers.
   */
  losesAnswer: (text: string) => boolean;
  close(): void;
}

/** Forwards connections to a peer and counts their bytes. */
async function openWire(port: number): Promise<Wire> {
  let bytes = 0;
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let isLost = false;
    near.on('data', (piece: Buffer) => {
      bytes += piece.length;
      isLost ||= wire.losesAnswer(piece.toString('latin1', 0, 400));
      far.write(piece);
    });
    far.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (isLost) near.destroy();
      else near.write(piece);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const wire: Wire = {
    port: typeof address === 'object' && address ? address.port : 0,
    bytes: () => {
      const counted = bytes;
      bytes = 0;
      return counted;
    },
    losesAnswer: () => false,
    close: () => server.close(),
  };
  return wire;
}

const OLD = 1_500_000_000;
const run = (...parameters: readonly string[]) =>
  runCli(parameters, {
    cwd: sandbox.folder,
    environment: { DRAY_TOKEN: TEST_TOKEN, XDG_CACHE_HOME: sandbox.path('cache') },
  });
/** The last record of `--json`. */
const summaryOf = async (...parameters: readonly string[]) => {
  const { exitCode, stderr, stdout } = await run(...parameters, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
};
const plant = (path: string, content: Buffer, seconds = OLD) => {
  sandbox.write(path, content);
  utimesSync(sandbox.path(path), seconds, seconds);
};
const bytesOf = (path: string) => readFileSync(sandbox.path(path));
const isSame = (left: string, right: string) => bytesOf(left).equals(bytesOf(right));

/** At both ends; `changed` differs in one MiB in the middle. */
const SIZE_BYTES = runBudget({ short: 24, long: 64 }) * MIB;
const old = noise(SIZE_BYTES, 1);
const changed = Buffer.from(old);
noise(MIB, 2).copy(changed, 20 * MIB + 777);

describe('A large file that exists at both ends', () => {
  it.each([
    ['to a peer', () => ['source', plainPlace(wire.port, 'tree')], 'source', 'offered/tree', 'sentBytes'],
    [
      'from a peer',
      () => [plainPlace(wire.port, 'tree'), 'source'],
      'offered/tree',
      'source',
      'receivedBytes',
    ],
  ] as const)('is updated by its differences only, %s', async (_, places, from, to, counted) => {
    plant(`${from}/disk.img`, changed, OLD + 60);
    plant(`${from}/small`, Buffer.from('beside it'));
    chmodSync(sandbox.path(from, 'disk.img'), 0o750);
    plant(`${to}/disk.img`, old);
    const foreseen = await summaryOf('copy', ...places(), '--dry-run');
    expect(isSame(`${from}/disk.img`, `${to}/disk.img`)).toBe(false);
    wire.bytes();
    const done = await summaryOf('sync', ...places());
    expect(isSame(`${from}/disk.img`, `${to}/disk.img`)).toBe(true);
    const stat = statSync(sandbox.path(to, 'disk.img'));
    expect([stat.mtimeMs, stat.mode & 0o7777]).toEqual([(OLD + 60) * 1000, 0o750]);
    expect(done).toMatchObject({ copiedFiles: 2, copiedBytes: SIZE_BYTES + 9, failed: 0 });
    expect(done[counted]).toBeLessThan(1.1 * MIB + 9);
    expect(foreseen.forecast[counted]).toBe(done[counted]);
    expect(foreseen.forecast.reads + foreseen.forecast.writes).toBeLessThanOrEqual(done.requests.total);
    expect(wire.bytes()).toBeLessThan(1.5 * MIB);
    expect(readdirSync(sandbox.path(to)).sort()).toEqual(['disk.img', 'small']);
    expect(await summaryOf('copy', ...places())).toMatchObject({ result: 'upToDate' });
  });

  longIt('is updated by its differences only from peer to peer', async () => {
    mkdirSync(sandbox.path('other'));
    const second = await serve('other');
    try {
      plant('offered/disk.img', changed, OLD + 60);
      plant('other/disk.img', old);
      const done = await summaryOf('copy', place, plainPlace(second.address.port));
      expect(isSame('offered/disk.img', 'other/disk.img')).toBe(true);
      expect(Math.max(done.sentBytes, done.receivedBytes)).toBeLessThan(1.1 * MIB);
      expect(wire.bytes()).toBeLessThan(1.5 * MIB);
    } finally {
      await second.close();
    }
  });

  longIt('is updated by its differences only when it grows or shrinks', async () => {
    const grown = Buffer.concat([old.subarray(0, 5 * MIB), noise(MIB, 3)]);
    plant('source/file', grown, OLD + 60);
    plant('offered/file', old.subarray(0, 5 * MIB));
    expect((await summaryOf('copy', 'source', place)).sentBytes).toBe(MIB);
    expect(isSame('source/file', 'offered/file')).toBe(true);
    plant('source/file', old.subarray(0, 3 * MIB + 5), OLD + 120);
    expect((await summaryOf('copy', 'source', place)).sentBytes).toBeLessThanOrEqual(64 * 1024);
    expect(isSame('source/file', 'offered/file')).toBe(true);
  });

  longIt('is moved to --backup-dir before it is replaced', async () => {
    plant('source/file', changed.subarray(0, 24 * MIB), OLD + 60);
    for (const [from, to, kept] of [
      ['source', plainPlace(wire.port, 'tree'), plainPlace(wire.port, 'kept')],
      [plainPlace(wire.port, 'tree'), 'here', 'kept'],
    ] as const) {
      const target = to === 'here' ? 'here' : 'offered/tree';
      plant(`${target}/file`, old.subarray(0, 24 * MIB));
      const done = await summaryOf('copy', from, to, '--backup-dir', kept);
      expect(done.sentBytes + done.receivedBytes).toBeLessThan(1.1 * MIB);
      expect(isSame(`${target}/file`, 'source/file')).toBe(true);
      expect(
        bytesOf(kept === 'kept' ? 'kept/file' : 'offered/kept/file').equals(old.subarray(0, 24 * MIB)),
      ).toBe(true);
    }
  });

  longIt('is updated by its differences under --bwlimit, with small files in one request', async () => {
    plant('source/file', changed.subarray(0, 24 * MIB), OLD + 60);
    plant('offered/file', old.subarray(0, 24 * MIB));
    for (let number = 0; number < 30; number += 1) plant(`source/small${number}`, noise(100, number));
    chmodSync(sandbox.path('source/small1'), 0o701);
    const done = await summaryOf('copy', 'source', place, '--bwlimit', '100M');
    expect(done.sentBytes).toBeLessThan(1.1 * MIB + 3_000);
    expect(done.requests.total).toBeLessThan(20);
    expect(isSame('source/file', 'offered/file')).toBe(true);
    expect(statSync(sandbox.path('offered/small1')).mode & 0o777).toBe(0o701);
  });

  longIt('is sent whole with --no-delta', async () => {
    const size = 12 * MIB;
    plant('source/file', changed.subarray(9 * MIB, 9 * MIB + size), OLD + 60);
    plant('offered/file', old.subarray(9 * MIB, 9 * MIB + size));
    expect((await summaryOf('copy', 'source', place, '--no-delta')).sentBytes).toBe(size);
    expect(isSame('source/file', 'offered/file')).toBe(true);
  });

  longIt('is sent whole to a peer without deltas', async () => {
    const size = 12 * MIB;
    plant('source/file', changed.subarray(9 * MIB, 9 * MIB + size), OLD + 60);
    plant('offered/file', old.subarray(9 * MIB, 9 * MIB + size));
    await peer.close();
    wire.close();
    peer = await serve('offered');
    // An older peer answers a route that it does not have in this way.
    const { port } = peer.address;
    const older = await openOlder(port);
    try {
      const done = await summaryOf('copy', 'source', plainPlace(older.port));
      expect(done).toMatchObject({ copiedFiles: 1, failed: 0, sentBytes: size });
      expect(older.refused()).toBe(1);
      expect(isSame('source/file', 'offered/file')).toBe(true);
    } finally {
      older.close();
    }
  });

  it('arrives when answers are lost on the way', async () => {
    const size = 24 * MIB;
    plant('source/file', changed.subarray(0, size), OLD + 60);
    plant('offered/file', old.subarray(0, size));
    const calls = ['begin', 'sign', 'write', 'complete'];
    const lost = new Set<string>();
    // The request arrives, but its sender never sees the answer.
    wire.losesAnswer = (text) => {
      const call = calls.find((one) => text.startsWith('POST') && text.includes(`/${one} HTTP`));
      if (!call || lost.has(call)) return false;
      lost.add(call);
      return true;
    };
    const done = await summaryOf('copy', 'source', place);
    expect([...lost].sort()).toEqual([...calls].sort());
    expect(done).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(done.sentBytes).toBeLessThan(1.1 * MIB);
    expect(isSame('source/file', 'offered/file')).toBe(true);
    const left = readdirSync(sandbox.path('offered/.dray-tmp'));
    expect(left.filter((name) => statSync(sandbox.path('offered/.dray-tmp', name)).size > 0)).toEqual([]);
  });
});

const SPARSE_BYTES = runBudget({ short: 32, long: 256 }) * MIB;

const DELTA_MODES = runBudget({ short: ['--inplace'], long: ['', '--inplace'] });

/** A file with one MiB of data; the rest is a hole. */
function plantSparse(path: string, dataAt: number, seconds: number, seed = 5): void {
  const full = sandbox.path(path);
  const fd = openSync(full, 'w');
  try {
    ftruncateSync(fd, SPARSE_BYTES);
    writeSync(fd, noise(MIB, seed), 0, MIB, dataAt);
  } finally {
    closeSync(fd);
  }
  utimesSync(full, seconds, seconds);
}

const diskBytes = (path: string) => statSync(sandbox.path(path)).blocks * 512;

describe('A file with holes', () => {
  longIt('is sent without its holes and keeps them: to a peer, back, and to another peer', async () => {
    plantSparse('source/below/image', SPARSE_BYTES / 4 + MIB + 123, OLD);
    // A file system without holes has none to keep.
    const most = diskBytes('source/below/image') + MIB;
    expect((await summaryOf('copy', 'source', place)).sentBytes).toBeLessThan(1.2 * MIB);
    expect(wire.bytes()).toBeLessThan(2 * MIB);
    expect(diskBytes('offered/below/image')).toBeLessThanOrEqual(most);
    expect((await summaryOf('copy', place, 'back')).receivedBytes).toBeLessThan(1.2 * MIB);
    expect(wire.bytes()).toBeLessThan(2 * MIB);
    expect(diskBytes('back/below/image')).toBeLessThanOrEqual(most);
    expect(isSame('source/below/image', 'back/below/image')).toBe(true);
    expect(readdirSync(sandbox.path('back'))).toEqual(['below']);
    mkdirSync(sandbox.path('other'));
    const second = await serve('other');
    try {
      await summaryOf('copy', place, plainPlace(second.address.port));
      expect(wire.bytes()).toBeLessThan(2 * MIB);
      expect(diskBytes('other/below/image')).toBeLessThanOrEqual(most);
      expect(isSame('source/below/image', 'other/below/image')).toBe(true);
    } finally {
      await second.close();
    }
    expect(await summaryOf('copy', place, 'back')).toMatchObject({ result: 'upToDate' });
  });

  it.each(DELTA_MODES)('keeps its holes in a delta %s', async (inPlace) => {
    plantSparse('source/image', 3 * MIB, OLD, 5);
    plantSparse('offered/image', (SPARSE_BYTES / 4) * 3, OLD - 60, 6);
    const most = diskBytes('source/image') + MIB;
    const options = inPlace === '' ? [] : [inPlace];
    const done = await summaryOf('delta', 'source/image', plainPlace(wire.port, 'image'), ...options);
    expect(done).toMatchObject({ result: 'copied' });
    expect(done.sentBytes).toBeLessThan(1.2 * MIB);
    expect(wire.bytes()).toBeLessThan(2 * MIB);
    expect(isSame('source/image', 'offered/image')).toBe(true);
    // In place, old data turns into a hole only where the system supports that: Linux, on most file systems.
    expect(diskBytes('offered/image')).toBeLessThanOrEqual(inPlace === '' ? most : most + 2 * MIB);
    expect(await summaryOf('delta', 'source/image', plainPlace(wire.port, 'image'))).toMatchObject({
      sentBytes: 0,
    });
  });

  longIt('is updated where data became zeros, without sending the zeros', async () => {
    plantSparse('source/image', 3 * MIB, OLD, 5);
    sandbox.path('offered/image');
    plant('offered/image', noise(SPARSE_BYTES, 9), OLD - 60);
    const done = await summaryOf('delta', 'source/image', plainPlace(wire.port, 'image'), '--inplace');
    expect(done.sentBytes).toBeLessThan(1.2 * MIB);
    expect(isSame('source/image', 'offered/image')).toBe(true);
  });
});

/** A peer without deltas: a proxy that refuses the calls of one that has them. */
async function openOlder(port: number) {
  let refused = 0;
  const { createServer: createHttpServer, request } = await import('node:http');
  const server = createHttpServer((call, answer) => {
    if (call.url?.startsWith('/v1/deltas')) {
      refused += 1;
      call.resume();
      const error = { code: 'unsupported', message: 'There is no such call.', retry: 'no' };
      answer.writeHead(404, { 'dray-peer': '1' }).end(JSON.stringify({ error }));
      return;
    }
    const { headers, method, url: path } = call;
    const passed = request({ host: '127.0.0.1', port, method, path, headers }, (back) => {
      answer.writeHead(back.statusCode!, back.headers);
      back.pipe(answer);
    });
    call.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    refused: () => refused,
    close: () => server.close(),
  };
}
