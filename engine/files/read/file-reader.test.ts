import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Budget } from '../../base/budget.ts';
import type { Chunk } from '../../model/entry.ts';
import { DEFAULT_LAYOUT, type Layout } from '../../model/layout.ts';
import {
  type FileReaderOptions,
  type ReadBatch,
  type ReadRequest,
  type ReadResult,
  readFiles,
  WHOLE_READ_BYTES_MAX,
} from './file-reader.ts';
import { INLINE_BYTES_MAX } from './read-limits.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Small enough to cut many chunks in a test. */
const CUT_LAYOUT: Layout = {
  ...DEFAULT_LAYOUT,
  chunkAbove: MIB,
  chunkSize: { min: 64 * KIB, average: 256 * KIB, max: MIB },
};
const WHOLE_LAYOUT: Layout = { ...DEFAULT_LAYOUT, chunkAbove: 0 };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-reader-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe.each([
  { where: 'on the calling thread', threads: 0 },
  { where: 'in threads', threads: 2 },
])('readFiles $where', ({ threads }) => {
  it('returns every small file with its hash, bytes and stat', async () => {
    const requests = manyFiles(2500);
    const { results } = await collect(requests, { threads });
    expect(results.length).toBe(2500);
    for (const result of results) {
      const { path } = requests[result.id]!;
      if (result.kind !== 'whole') throw new Error(`${path}: ${result.kind}`);
      expect(Buffer.from(result.bytes!).toString()).toBe(contentOf(result.id));
      expect(result.hash).toBe(sha256(contentOf(result.id)));
    }
    expect(new Set(results.map(({ id }) => id)).size).toBe(2500);
  });

  it('returns no bytes and takes no memory when only hashes are requested', async () => {
    const requests = [...manyFiles(2100), { ...write('large', noise(5 * MIB)), id: 2100 }];
    const memory = new Budget(1);
    const permit = await memory.acquire(1);
    const { results } = await collect(requests, { threads, memory, wantBytes: false, layout: CUT_LAYOUT });
    permit.release();
    const wholes = results.filter((result) => result.kind === 'whole');
    expect(wholes.length).toBe(2100);
    for (const result of wholes) expect(result.hash).toBe(sha256(contentOf(result.id)));
    expect(results.some((result) => 'bytes' in result)).toBe(false);
    expect(results.filter(({ kind }) => kind === 'chunked').length).toBe(1);
  });

  it('cuts large files into ordered chunks that add up to the file', async () => {
    const contents = [noise(9 * MIB + 1, 1), noise(MIB + 1, 2), noise(12 * MIB, 3), new Uint8Array(3 * MIB)];
    const requests = contents.map((bytes, id) => ({ ...write(`big-${id}`, bytes), id }));
    const { results } = await collect(requests, { threads, layout: CUT_LAYOUT });
    for (const [id, bytes] of contents.entries()) {
      const own = results.filter((result) => result.id === id);
      const chunks = own.slice(0, -1).filter((result) => result.kind === 'chunk');
      const end = own.at(-1)!;
      if (end.kind !== 'chunked') throw new Error(end.kind);
      expect(chunks.length).toBe(own.length - 1);
      expect(Buffer.concat(chunks.map((chunk) => chunk.bytes!)).equals(bytes)).toBe(true);
      for (const chunk of chunks) expect(chunk.hash).toBe(sha256(chunk.bytes!));
      expect(end.chunks).toEqual(chunks.map(({ hash, sizeBytes }) => ({ hash, sizeBytes })));
      expect(end.hash).toBe(hashOfDigests(end.chunks));
      expect(end.stat.sizeBytes).toBe(bytes.length);
    }
  });

  it('cuts a file the same with and without bytes', async () => {
    const requests = [{ ...write('big', noise(9 * MIB, 4)), id: 0 }];
    const withBytes = await collect(requests, { threads, layout: CUT_LAYOUT });
    const without = await collect(requests, { threads, layout: CUT_LAYOUT, wantBytes: false });
    const ends = [withBytes, without].map(({ results }) => {
      const end = results.at(-1)!;
      if (end.kind !== 'chunked') throw new Error(end.kind);
      return { hash: end.hash, chunks: end.chunks };
    });
    expect(ends[1]).toEqual(ends[0]);
  });

  it('works with a budget far smaller than one file', async () => {
    const requests = [
      { ...write('a', noise(13 * MIB, 5)), id: 0 },
      { ...write('b', noise(9 * MIB, 6)), id: 1 },
      { ...write('c', noise(MIB, 7)), id: 2 },
    ];
    const memory = new Budget(64 * KIB);
    const { results } = await collect(requests, { threads, layout: CUT_LAYOUT, memory });
    expect(results.filter(({ kind }) => kind === 'chunked' || kind === 'whole').length).toBe(3);
    expect(memory.used).toBe(0);
  });

  it('hashes a file too large to be held, without its bytes', async () => {
    const path = write('giant', Uint8Array.of(1, 2, 3)).path;
    truncateSync(join(root, path), WHOLE_READ_BYTES_MAX + 5);
    const { results } = await collect([{ id: 3, path, sizeBytes: WHOLE_READ_BYTES_MAX + 5 }], {
      threads,
      layout: WHOLE_LAYOUT,
    });
    const hash = createHash('sha256')
      .update(Uint8Array.of(1, 2, 3))
      .update(new Uint8Array(WHOLE_READ_BYTES_MAX + 2));
    expect(results).toMatchObject([{ kind: 'whole', id: 3, hash: hash.digest('hex') }]);
    expect(results[0]).not.toHaveProperty('bytes');
  });

  it('reads files of all classes one after another in one thread', async () => {
    const layout: Layout = { ...DEFAULT_LAYOUT, chunkAbove: WHOLE_READ_BYTES_MAX + MIB };
    const requests = ['stream', 'cut', 'stream', 'cut', 'batch'].map((kind, id) => {
      const { path } = write(`${kind}-${id}`, '');
      const sizeBytes =
        kind === 'cut' ? layout.chunkAbove + 1 : kind === 'stream' ? WHOLE_READ_BYTES_MAX + 1 : 7;
      truncateSync(join(root, path), sizeBytes);
      return { id, path, sizeBytes };
    });
    const memory = new Budget(256 * MIB);
    let cutBytes = 0;
    const ends: string[] = [];
    for await (const batch of readFiles(
      requests,
      options({ threads: Math.min(1, threads), layout, memory }),
    )) {
      for (const result of batch.results) {
        if (result.kind === 'chunk') cutBytes += result.bytes!.length;
        else ends[result.id] = result.kind;
      }
      batch.release();
    }
    expect(ends).toEqual(['whole', 'chunked', 'whole', 'chunked', 'whole']);
    expect(cutBytes).toBe(2 * (layout.chunkAbove + 1));
    expect(memory.used).toBe(0);
  });

  it('reads a file at its current size, whatever the scan found', async () => {
    const requests = [
      { ...write('grew-a-little', 'now longer'), sizeBytes: 3, id: 0 },
      { ...write('grew-large', noise(3 * MIB, 8)), sizeBytes: 10, id: 1 },
      { ...write('shrank', 'tiny'), sizeBytes: 5 * MIB, id: 2 },
      { ...write('shrank-to-nothing', ''), sizeBytes: 5 * MIB, id: 3 },
      { ...write('grew-past-the-batch', noise(900 * KIB, 9)), sizeBytes: 0, id: 4 },
    ];
    const { results } = await collect(requests, { threads, layout: CUT_LAYOUT });
    const ends = results.filter(({ kind }) => kind !== 'chunk').sort((a, b) => a.id - b.id);
    expect(ends.map(({ kind }) => kind)).toEqual(['whole', 'chunked', 'whole', 'whole', 'whole']);
    expect(ends.map((end) => (end.kind === 'failed' ? -1 : 'stat' in end ? end.stat.sizeBytes : -1))).toEqual(
      [10, 3 * MIB, 4, 0, 900 * KIB],
    );
    expect(ends[2]).toMatchObject({ hash: sha256('tiny') });
  });

  it('reports each file that it could not read, and continues', async () => {
    const good = { ...write('good', 'fine'), id: 0 };
    mkdirSync(join(root, 'folder'));
    symlinkSync('good', join(root, 'link'));
    const large = 5 * MIB;
    const requests = [
      good,
      { id: 1, path: 'gone', sizeBytes: 4 },
      { id: 2, path: 'folder', sizeBytes: 4 },
      { id: 3, path: 'link', sizeBytes: 4 },
      { id: 4, path: 'gone', sizeBytes: large },
      { id: 5, path: 'link', sizeBytes: large },
      { id: 6, path: 'good/inside', sizeBytes: 4 },
    ];
    const { results } = await collect(requests, { threads, layout: CUT_LAYOUT });
    const reasons = results
      .filter((result) => result.kind === 'failed')
      .sort((a, b) => a.id - b.id)
      .map(({ id, error }) => [
        id,
        error.code,
        error.data.reason,
        error.message.includes(requests[id]!.path),
      ]);
    expect(reasons).toEqual([
      [1, 'io', 'vanished', true],
      [2, 'io', 'notAFile', true],
      [3, 'io', 'notAFile', true],
      [4, 'io', 'vanished', true],
      [5, 'io', 'notAFile', true],
      [6, 'io', 'vanished', true],
    ]);
    expect(results.filter(({ kind }) => kind === 'whole').map(({ id }) => id)).toEqual([0]);
  });

  it('does not wait for a writer when a pipe replaced a file', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const { results } = await collect([{ id: 0, path: 'pipe', sizeBytes: 10 }], { threads });
    expect(results).toMatchObject([
      { kind: 'failed', error: { data: { path: 'pipe', reason: 'notAFile' } } },
    ]);
  });

  it('detects that a large file changes while it is read', async () => {
    const request = { ...write('busy', noise(20 * MIB)), id: 0 };
    const memory = new Budget(1);
    const kinds = new Set<string>();
    for await (const batch of readFiles([request], options({ threads, memory, layout: CUT_LAYOUT }))) {
      if (kinds.size === 0) appendFileSync(join(root, 'busy'), 'more');
      for (const result of batch.results) {
        kinds.add(result.kind === 'failed' ? String(result.error.data.reason) : result.kind);
      }
      batch.release();
    }
    expect([...kinds]).toEqual(['chunk', 'changedWhileRead']);
    expect(memory.used).toBe(0);
  });

  it('fails as a whole when its layout is invalid', async () => {
    const layout = { ...CUT_LAYOUT, chunkSize: { min: 1, average: 2, max: 3 } };
    const requests = [{ ...write('big', noise(2 * MIB)), id: 0 }];
    await expect(collect(requests, { threads, layout })).rejects.toMatchObject({ code: 'internal' });
  });

  it('returns stats as Node does, with the mtime to the nanosecond', async () => {
    const request = { ...write('sub/exact', 'x'), id: 0 };
    const full = join(root, request.path);
    utimesSync(full, 1_700_000_000.123_457, 1_700_000_000.123_457);
    chmodSync(full, 0o744);
    const { results } = await collect([request], { threads });
    const expected = statSync(full);
    expect(results).toMatchObject([
      {
        stat: {
          sizeBytes: 1,
          mtimeMs: expected.mtimeMs,
          ctimeMs: expected.ctimeMs,
          inode: expected.ino,
          mtimeNs: statSync(full, { bigint: true }).mtimeNs,
          executable: true,
          isRacy: false,
        },
      },
    ]);
  });

  it('accepts requests that arrive slowly', async () => {
    const requests = manyFiles(2300);
    async function* slowly() {
      for (const request of requests) {
        if (request.id % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
        yield request;
      }
    }
    const { results } = await collect(slowly(), { threads });
    expect(results.length).toBe(2300);
  });

  it('fails with the error of its source', async () => {
    function* broken() {
      yield* manyFiles(3000);
      throw new Error('no more');
    }
    await expect(collect(broken(), { threads })).rejects.toMatchObject({ code: 'internal' });
  });

  it('reuses only the memory of released batches', async () => {
    const memory = new Budget(64 * MIB);
    const contents = Array.from({ length: 12 }, (_, id) => noise(9 * MIB + id, id));
    const requests = contents.map((bytes, id) => ({ ...write(`whole-${id}`, bytes), id }));
    const offsets = new Set<number>();
    let held: ReadBatch | undefined;
    const checkHeld = () => {
      for (const result of held?.results ?? []) {
        if (result.kind === 'whole') expect(Buffer.compare(result.bytes!, contents[result.id]!)).toBe(0);
      }
    };
    for await (const batch of readFiles(requests, options({ threads, memory }))) {
      for (const result of batch.results) if (result.kind === 'whole') offsets.add(result.bytes!.byteOffset);
      checkHeld();
      held?.release();
      held?.release();
      held = batch;
    }
    checkHeld();
    held?.release();
    expect(offsets.size).toBeLessThan(contents.length);
    expect(memory.used).toBe(0);
  });

  it('releases all memory when its consumer stops early', async () => {
    const memory = new Budget(64 * MIB);
    const requests = [...manyFiles(2500), { ...write('big', noise(20 * MIB, 1)), id: 2500 }];
    for await (const batch of readFiles(requests, options({ threads, memory, layout: CUT_LAYOUT }))) {
      batch.release();
      break;
    }
    expect(memory.used).toBe(0);
  });

  it('stops on an abort while it waits for memory', async () => {
    const controller = new AbortController();
    const memory = new Budget(1);
    const hold = await memory.acquire(1);
    const reading = collect(manyFiles(2500), { threads, memory, signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
    hold.release();
    expect(memory.used).toBe(0);
  });

  it('stops on an abort in the middle of a large file', async () => {
    const controller = new AbortController();
    const memory = new Budget(256 * MIB);
    const requests = [{ ...write('big', noise(64 * MIB, 2)), id: 0 }];
    const seen: ReadResult[] = [];
    const reading = async () => {
      const all = readFiles(
        requests,
        options({ threads, memory, layout: CUT_LAYOUT, signal: controller.signal }),
      );
      for await (const batch of all) {
        seen.push(...batch.results);
        batch.release();
        controller.abort();
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: 'aborted' });
    expect(seen.every(({ kind }) => kind === 'chunk')).toBe(true);
    expect(memory.used).toBe(0);
  });

  it('stops on an abort while it waits for its source', async () => {
    const controller = new AbortController();
    async function* stuck() {
      yield* manyFiles(1);
      await new Promise(() => undefined);
    }
    const reading = collect(stuck(), { threads, signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  });

  it('does nothing when it was aborted before the start', async () => {
    const reading = collect(manyFiles(3), { threads, signal: AbortSignal.abort() });
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  });

  it('ends at once when there is nothing to read', async () => {
    expect((await collect([], { threads })).results).toEqual([]);
  });
});

describe('readFiles with a thread that dies', () => {
  it('fails with an internal error and releases all memory', async () => {
    const memory = new Budget(64 * MIB);
    const dying = vi.spyOn(Worker.prototype, 'postMessage').mockImplementationOnce(function (this: Worker) {
      void this.terminate();
    });
    const reading = collect(manyFiles(4200), { threads: 2, memory });
    await expect(reading).rejects.toMatchObject({ code: 'internal' });
    expect(dying).toHaveBeenCalled();
    dying.mockRestore();
    expect(memory.used).toBe(0);
  });
});

function options(given: Partial<FileReaderOptions>): FileReaderOptions {
  return {
    root,
    layout: DEFAULT_LAYOUT,
    wantBytes: true,
    memory: new Budget(256 * MIB),
    signal: new AbortController().signal,
    ...given,
  };
}

/** All results, their bytes copied. */
async function collect(
  requests: Iterable<ReadRequest> | AsyncIterable<ReadRequest>,
  given: Partial<FileReaderOptions>,
): Promise<{ results: ReadResult[] }> {
  const results: ReadResult[] = [];
  const all = given.threads === 0 ? requests : withFiller(requests);
  for await (const batch of readFiles(all, options(given))) {
    for (const result of batch.results) {
      if (result.id === FILLER) continue;
      const hasBytes = 'bytes' in result && result.bytes !== undefined;
      results.push(hasBytes ? { ...result, bytes: result.bytes!.slice() } : result);
    }
    batch.release();
  }
  return { results };
}

const FILLER = -1;

/** Enough work by scanned size to start the threads. */
async function* withFiller(
  requests: Iterable<ReadRequest> | AsyncIterable<ReadRequest>,
): AsyncGenerator<ReadRequest> {
  yield { ...write('filler', ''), id: FILLER, sizeBytes: INLINE_BYTES_MAX + 1 };
  yield* requests;
}

function write(path: string, content: string | Uint8Array): Omit<ReadRequest, 'id'> {
  if (path.includes('/')) mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  return { path, sizeBytes: content.length };
}

function manyFiles(count: number): ReadRequest[] {
  return Array.from({ length: count }, (_, id) => ({ ...write(`f${id}`, contentOf(id)), id }));
}

function contentOf(id: number): string {
  return `content ${id} `.repeat(id % 7);
}

function noise(length: number, seed = 0): Uint8Array {
  const block = createHash('shake256', { outputLength: 65_521 }).update(String(seed)).digest();
  const bytes = new Uint8Array(length);
  for (let at = 0, turn = 0; at < length; at += block.length, turn += 1) {
    block.writeUInt32BE(turn, turn % 60_000);
    bytes.set(block.subarray(0, Math.min(block.length, length - at)), at);
  }
  return bytes;
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function hashOfDigests(chunks: readonly Chunk[]): string {
  return sha256(Buffer.concat(chunks.map(({ hash }) => Buffer.from(hash, 'hex'))));
}
