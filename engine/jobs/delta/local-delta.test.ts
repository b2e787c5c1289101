import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import { createLeasedMemory } from '../../base/leased-memory.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { BLOCK_HASHES, type BlockHash } from '../../checksums/block-digest.ts';
import { openBlockThreads } from '../../files/blocks/block-threads.ts';
import { openLocalDeltaSource } from '../../files/blocks/local-delta-source.ts';
import { openLocalDeltaTarget } from '../../files/blocks/local-delta-target.ts';
import type { DeltaSource, DeltaTarget } from '../../model/delta-sides.ts';
import { type BlockDelta, type DeltaReport, runBlockDelta } from '../../transfer/delta/block-delta.ts';

const CHUNK_SIZE = { min: 256, average: 1024, max: 4096 };
const MIB = 1024 * 1024;
const MTIME_NS = 1_600_000_000_123_456_789n;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-delta-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Wish {
  readonly blockBytes?: number;
  readonly hash?: BlockHash;
  readonly mode?: BlockDelta['mode'];
  readonly isInPlace?: boolean;
  /** The mode of the new file. */
  readonly fileMode?: number;
  readonly isDryRun?: boolean;
  readonly threads?: number;
  readonly signal?: AbortSignal;
  readonly source?: (source: DeltaSource) => DeltaSource;
  readonly target?: (target: DeltaTarget) => DeltaTarget;
  readonly onProgress?: (report: DeltaReport) => void;
}

async function deltaOf(wish: Wish): Promise<DeltaReport> {
  const { blockBytes = 512, hash = 'xxh3', isInPlace = false, mode = 'blocks' } = wish;
  const signal = wish.signal ?? new AbortController().signal;
  const threads = openBlockThreads({ threads: wish.threads ?? 0, signal });
  const signature = {
    hash,
    seed: randomBytes(8).readBigUInt64LE(),
    blockBytes: mode === 'content' ? CHUNK_SIZE.max : blockBytes,
  };
  const both = { signature, chunkSize: CHUNK_SIZE, threads };
  const source = openLocalDeltaSource({ path: join(folder, 'new'), ...both });
  try {
    const target = openLocalDeltaTarget({
      path: join(folder, 'old'),
      ...both,
      newTemporary: isInPlace ? undefined : () => join(folder, 'temporary'),
      mtimeNs: MTIME_NS,
      mode: wish.fileMode,
    });
    return await runBlockDelta({
      source: wish.source?.(source) ?? source,
      target: wish.target?.(target) ?? target,
      signature,
      mode,
      concurrency: 3,
      memory: createLeasedMemory({
        budget: new Budget(16 * MIB),
        largestBytes: 4 * MIB,
        open: (length) => ({ buffer: new SharedArrayBuffer(length), start: 0 }),
      }),
      signal,
      ...(wish.isDryRun ? { isDryRun: true } : {}),
      ...(wish.onProgress ? { onProgress: wish.onProgress } : {}),
    });
  } finally {
    await threads.close();
    source.close();
  }
}

function put(name: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, name), bytes);
}

function get(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** Random bytes with runs of zeros, and a changed version of them. */
const pairs = fc
  .record({
    oldBytes: fc.integer({ min: 0, max: 40_000 }),
    newBytes: fc.integer({ min: 0, max: 40_000 }),
    edits: fc.array(fc.tuple(fc.nat(39_999), fc.integer({ min: 1, max: 3_000 }), fc.boolean()), {
      maxLength: 6,
    }),
    hasOld: fc.boolean(),
    isAlike: fc.boolean(),
  })
  .map(({ edits, hasOld, isAlike, newBytes, oldBytes }) => {
    const old = randomBytes(oldBytes);
    const now = randomBytes(newBytes);
    if (isAlike) old.copy(now);
    for (const [at, length, isZero] of edits) {
      if (isZero) now.subarray(at, at + length).fill(0);
      else if (at < now.length) randomBytes(Math.min(length, now.length - at)).copy(now, at);
      if (isZero && length % 2 === 0) old.subarray(at, at + length).fill(0);
    }
    return { old: hasOld ? old : undefined, now };
  });

describe('a block delta between two files', () => {
  it('makes the target equal to the source, for any two files, in any mode, and sends no more than differs', async () => {
    const property = fc.asyncProperty(
      pairs,
      fc.constantFrom(...BLOCK_HASHES),
      fc.constantFrom(241, 512, 1000, 4096, 65_536),
      fc.constantFrom('blocks', 'whole', 'content'),
      fc.boolean(),
      async ({ now, old }, hash, blockBytes, mode, inPlace) => {
        const isInPlace = inPlace && mode !== 'content';
        rmSync(join(folder, 'old'), { force: true });
        if (old) put('old', old);
        put('new', now);
        const report = await deltaOf({ blockBytes, hash, mode, isInPlace });
        expect(get('old').equals(now)).toBe(true);
        expect(statSync(join(folder, 'old'), { bigint: true }).mtimeNs).toBe(MTIME_NS);
        expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
        expect(report).toMatchObject({ sizeBytes: now.length, doneBytes: now.length });
        expect(report.sentBytes + report.sameBytes).toBe(now.length);
        if (mode === 'blocks') expect(report.sentBytes).toBeLessThanOrEqual(differing(old, now, blockBytes));
        if (mode !== 'content') {
          expect(await deltaOf({ blockBytes, hash, isInPlace })).toMatchObject({ sentBytes: 0 });
        }
      },
    );
    await fc.assert(property, { numRuns: runBudget({ short: 60, long: 300 }) });
  });

  it('reports in a dry run what would be sent, and touches nothing', async () => {
    const old = randomBytes(100_000);
    const now = Buffer.from(old);
    randomBytes(512).copy(now, 5 * 512);
    put('old', old);
    put('new', now);
    const before = statSync(join(folder, 'old'), { bigint: true });
    for (const isInPlace of [true, false]) {
      expect(await deltaOf({ isDryRun: true, isInPlace })).toMatchObject({ sentBytes: 512 });
    }
    expect(get('old').equals(old)).toBe(true);
    expect(statSync(join(folder, 'old'), { bigint: true }).ctimeNs).toBe(before.ctimeNs);
    expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
  });

  it('finds by content what moved by a byte', async () => {
    const old = randomBytes(2_000_000);
    put('old', old);
    put('new', Buffer.concat([Buffer.from([1]), old]));
    const { sentBytes } = await deltaOf({ mode: 'content' });
    expect(sentBytes).toBeLessThan(0.01 * old.length);
    expect(get('old').equals(get('new'))).toBe(true);
  });

  it('does not move chunks within a file that is overwritten in place', async () => {
    put('old', randomBytes(5_000));
    put('new', randomBytes(6_000));
    await expect(deltaOf({ mode: 'content', isInPlace: true })).rejects.toMatchObject({ code: 'usage' });
    expect(get('old').length).toBe(5_000);
  });

  it('works in threads, over several segments', async () => {
    const old = randomBytes(40 * 1024 * 1024 + 77);
    const now = Buffer.from(old);
    for (let at = 0; at < now.length; at += 999_999) now[at]! ^= 1;
    for (const isInPlace of [false, true]) {
      put('old', old);
      put('new', now);
      const report = await deltaOf({ blockBytes: 4096, isInPlace, threads: 2 });
      expect(report.sentBytes).toBeLessThanOrEqual(42 * 4096);
      expect(get('old').equals(now)).toBe(true);
    }
  });

  it('leaves zeros of a fresh file unwritten', async () => {
    put('new', Buffer.concat([randomBytes(4096), Buffer.alloc(20 * 1024 * 1024), randomBytes(100)]));
    const written: number[] = [];
    const target = (inner: DeltaTarget): DeltaTarget => ({
      ...inner,
      write(ranges, bytes, signal) {
        written.push(bytes.length);
        return inner.write(ranges, bytes, signal);
      },
    });
    for (const mode of ['blocks', 'whole'] as const) {
      rmSync(join(folder, 'old'), { force: true });
      written.length = 0;
      await deltaOf({ mode, blockBytes: 4096, target });
      expect(written.reduce((sum, bytes) => sum + bytes, 0)).toBe(4196);
      expect(get('old').equals(get('new'))).toBe(true);
    }
  });

  it('copies moved data in pieces, several at once', async () => {
    const old = randomBytes(40 * MIB);
    put('old', old);
    put('new', Buffer.concat([Buffer.from('inserted'), old]));
    const moved: number[] = [];
    const target = (inner: DeltaTarget): DeltaTarget => ({
      ...inner,
      copy(moves, signal) {
        moved.push(moves.reduce((sum, value, at) => (at % 3 === 2 ? sum + value : sum), 0));
        return inner.copy(moves, signal);
      },
    });
    const report = await deltaOf({ mode: 'content', target });
    expect(report.copiedBytes).toBeGreaterThan(39 * MIB);
    expect(moved.reduce((sum, bytes) => sum + bytes)).toBe(report.copiedBytes);
    expect(Math.max(...moved)).toBeLessThanOrEqual(16 * MIB);
    expect(get('old').equals(get('new'))).toBe(true);
  });

  it('refuses a source that changes meanwhile, and leaves the old file intact', async () => {
    const old = randomBytes(50_000);
    for (const when of ['sign', 'read', 'checkUnchanged'] as const) {
      put('old', old);
      put('new', randomBytes(60_000));
      const source = (inner: DeltaSource): DeltaSource => ({
        ...inner,
        [when]: (...args: never[]) => {
          appendFileSync(join(folder, 'new'), 'x');
          return (inner[when] as (...args: never[]) => unknown)(...args);
        },
      });
      await expect(deltaOf({ source })).rejects.toMatchObject({
        code: 'io',
        data: { reason: 'changedWhileRead' },
      });
      expect(get('old').equals(old)).toBe(true);
      expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
    }
  });

  it.each(['blocks', 'whole'] as const)(
    'has the %s of a segment in flight together, and none after one has failed',
    async (mode) => {
      put('old', randomBytes(16 * MIB));
      put('new', randomBytes(16 * MIB));
      for (const fails of [true, false]) {
        let underWay = 0;
        const allUnderWay = Promise.withResolvers<void>();
        const target = (inner: DeltaTarget): DeltaTarget => ({
          ...inner,
          async write(ranges, bytes, signal) {
            underWay += 1;
            // None ends before the last has begun, so that running them in turn would hang.
            if (underWay === 4) allUnderWay.resolve();
            await allUnderWay.promise;
            underWay -= 1;
            if (fails && ranges[0] === 0) throw new DrayError('io', 'The disk is gone.');
            return inner.write(ranges, bytes, signal);
          },
          async discard() {
            expect(underWay).toBe(0);
            await inner.discard();
          },
        });
        const delta = deltaOf({ mode, blockBytes: 4096, target });
        if (fails) await expect(delta).rejects.toMatchObject({ code: 'io' });
        else expect(await delta).toMatchObject({ sentBytes: 16 * MIB, batches: 4 });
      }
    },
  );

  it('in place of a file that loses its name meanwhile fails', async () => {
    put('old', randomBytes(50_000));
    put('new', randomBytes(50_000));
    const target = (inner: DeltaTarget): DeltaTarget => ({
      ...inner,
      async complete() {
        put('other', Buffer.from('of somebody else'));
        renameSync(join(folder, 'other'), join(folder, 'old'));
        return inner.complete();
      },
    });
    await expect(deltaOf({ isInPlace: true, target })).rejects.toMatchObject({
      code: 'io',
      data: { reason: 'changedWhileRead' },
    });
    expect(get('old').toString()).toBe('of somebody else');
  });

  it.each(['begin', 'complete'] as const)('in place of a file that grows before "%s" fails', async (name) => {
    // Zeros behind the old end would be skipped, not written.
    put('new', Buffer.concat([randomBytes(4096), Buffer.alloc(40_000)]));
    for (const old of [Buffer.alloc(0), randomBytes(5000), undefined]) {
      rmSync(join(folder, 'old'), { force: true });
      if (old) put('old', old);
      const target = (inner: DeltaTarget): DeltaTarget => ({
        ...inner,
        [name]: (...args: never[]) => {
          appendFileSync(join(folder, 'old'), randomBytes(8192));
          return (inner[name] as (...args: never[]) => unknown)(...args);
        },
      });
      await expect(deltaOf({ isInPlace: true, target })).rejects.toMatchObject({
        code: 'io',
        data: { reason: 'changedWhileRead' },
      });
      await deltaOf({ isInPlace: true });
      expect(get('old').equals(get('new'))).toBe(true);
    }
  });

  it.runIf(process.platform !== 'win32')(
    'never shows other users a file that only its owner may read, even while it is written',
    async () => {
      put('new', randomBytes(50_000));
      const modes: number[] = [];
      const target = (inner: DeltaTarget): DeltaTarget => ({
        ...inner,
        async complete() {
          modes.push(statSync(join(folder, 'temporary')).mode & 0o777);
          return inner.complete();
        },
      });
      await deltaOf({ target, mode: 'whole', fileMode: 0o600 });
      put('new', randomBytes(60_000));
      await deltaOf({ target, mode: 'whole' });
      expect(modes).toEqual([0o600, 0o600]);
      expect(statSync(join(folder, 'old')).mode & 0o777).toBe(0o600);
    },
  );

  it('refuses bytes that do not match their digest', async () => {
    const old = randomBytes(50_000);
    put('old', old);
    put('new', randomBytes(50_000));
    const source = (inner: DeltaSource): DeltaSource => ({
      ...inner,
      async read(ranges, into, wish) {
        const digests = await inner.read(ranges, into, wish);
        into[into.length >> 1]! ^= 1;
        return digests;
      },
    });
    for (const mode of ['blocks', 'whole', 'content'] as const) {
      await expect(deltaOf({ mode, source })).rejects.toMatchObject({ code: 'checksumRefused' });
    }
    expect(get('old').equals(old)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
  });

  it('leaves the old file intact when it is stopped half-way; in place, another run repairs it', async () => {
    const old = randomBytes(40 * 1024 * 1024);
    const now = randomBytes(40 * 1024 * 1024);
    put('new', now);
    for (const isInPlace of [false, true]) {
      put('old', old);
      const controller = new AbortController();
      const onProgress = () => controller.abort();
      const stopped = deltaOf({
        blockBytes: 4096,
        isInPlace,
        onProgress,
        signal: controller.signal,
        threads: 2,
      });
      await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
      expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
      if (!isInPlace) expect(get('old').equals(old)).toBe(true);
      await deltaOf({ blockBytes: 4096, isInPlace });
      expect(get('old').equals(now)).toBe(true);
    }
  });

  it('computes few digests of two large files that have nothing in common, and makes one like the other', async () => {
    const size = runBudget({ short: 9, long: 20 }) * 16 * MIB + 12_345;
    writeFileSync(join(folder, 'new'), randomBytes(size));
    for (const isInPlace of runBudget({ short: [true], long: [false, true] })) {
      writeFileSync(join(folder, 'old'), randomBytes(size - 100_000));
      let signedBytes = 0;
      const target = (plain: DeltaTarget): DeltaTarget => ({
        ...plain,
        isInPlace: plain.isInPlace,
        oldBytes: plain.oldBytes,
        sign(start, end, signal) {
          signedBytes += end - start;
          return plain.sign(start, end, signal);
        },
      });
      const report = await deltaOf({ blockBytes: 4_096, isInPlace, target });
      expect(report.sentBytes).toBe(size);
      expect(signedBytes).toBeLessThan(0.7 * size);
      expect(readFileSync(join(folder, 'old')).equals(readFileSync(join(folder, 'new')))).toBe(true);
    }
  });
});

/** Bytes of the blocks that differ between the two ends. */
function differing(old: Buffer | undefined, now: Buffer, blockBytes: number): number {
  let bytes = 0;
  for (let at = 0; at < now.length; at += blockBytes) {
    const block = now.subarray(at, at + blockBytes);
    if (!old?.subarray(at, at + blockBytes).equals(block)) bytes += block.length;
  }
  return bytes;
}
