import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { type ChunkSize, createChunker, openChunkerTools, WINDOW_BYTES } from './chunker.ts';
import { CHUNKER_MEMORY_START, createChunkerMemory, viewMemory } from './chunker-memory.ts';
import { LANE_BYTES } from './chunker-wasm.ts';

const MEMORY_BYTES = 8 * 1024 * 1024;
const memory = createChunkerMemory(MEMORY_BYTES);
const view = viewMemory(memory, CHUNKER_MEMORY_START, MEMORY_BYTES);
const tools = openChunkerTools(memory);

const SMALL: ChunkSize = { min: 64, average: 256, max: 1024 };

describe('the chunker', () => {
  it('returns chunks that add up to the input and stay within their bounds', () => {
    fc.assert(
      fc.property(contents, sizes, (bytes, size) => {
        const lengths = chunkLengths(bytes, size);
        expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(bytes.length);
        for (const length of lengths.slice(0, -1)) expect(length).toBeGreaterThanOrEqual(size.min);
        for (const length of lengths) expect(length).toBeLessThanOrEqual(size.max);
      }),
      { numRuns: runBudget({ short: 50, long: 200 }) },
    );
  });

  it('cuts at the same places however the input is split', () => {
    const splits = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(contents, sizes, splits, (bytes, size, pieces) => {
        expect(chunkLengths(bytes, size, pieces)).toEqual(chunkLengths(bytes, size));
      }),
      { numRuns: runBudget({ short: 50, long: 200 }) },
    );
  });

  it('cuts where the plain definition does', () => {
    fc.assert(
      fc.property(contents, sizes, (bytes, size) => {
        expect(chunkLengths(bytes, size)).toEqual(chunkLengthsByDefinition(bytes, size));
      }),
      { numRuns: runBudget({ short: 30, long: 100 }) },
    );
  });

  it('cuts where the plain definition does in stretches long enough for its fast loop', () => {
    const long = fc
      .tuple(fc.integer(), fc.integer({ min: 2 * LANE_BYTES, max: 300_000 }))
      .map(([seed, length]) => noise(seed, length));
    const averages = fc.constantFrom(32_768, 65_536, 131_072);
    const splits = fc.array(fc.integer({ min: 1, max: 120_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(long, averages, splits, (bytes, average, pieces) => {
        const size = { min: average / 16, average, max: 8 * average };
        expect(chunkLengths(bytes, size, pieces)).toEqual(chunkLengthsByDefinition(bytes, size));
      }),
      { numRuns: runBudget({ short: 5, long: 60 }) },
    );
  });

  it('changes only a few chunks when a byte is inserted', () => {
    const bytes = noise(7, 400_000);
    const before = new Set(chunkNames(bytes));
    expect(before.size).toBeGreaterThan(1000);
    for (let run = 0; run < 20; run += 1) {
      const at = run * 19_997;
      const edited = new Uint8Array(bytes.length + 1);
      edited.set(bytes.subarray(0, at));
      edited[at] = run;
      edited.set(bytes.subarray(at), at + 1);
      const added = chunkNames(edited).filter((name) => !before.has(name));
      expect(added.length).toBeLessThanOrEqual(8);
    }
  });

  it('cuts known bytes where format 1 cuts them', () => {
    const lengths = chunkLengths(noise(1, 8 * 1024 * 1024), {
      min: 262_144,
      average: 1_048_576,
      max: 4_194_304,
    });
    expect(lengths).toEqual([2_094_769, 994_335, 1_391_898, 1_548_472, 1_011_010, 1_104_859, 243_265]);
    expect(chunkLengths(noise(1, 4000), SMALL)).toEqual([
      382, 233, 330, 444, 267, 258, 328, 257, 264, 301, 98, 221, 503, 114,
    ]);
  });

  it('cuts random data into chunks with a mean slightly above the requested average', () => {
    const lengths = chunkLengths(noise(3, 4_000_000), { min: 4096, average: 16_384, max: 65_536 });
    const mean = 4_000_000 / lengths.length;
    expect(mean).toBeGreaterThan(16_384);
    expect(mean).toBeLessThan(16_384 * 1.3);
  });

  it('cuts identical bytes only by size', () => {
    const lengths = chunkLengths(new Uint8Array(5000), SMALL);
    expect(new Set(lengths.slice(0, -1)).size).toBe(1);
  });

  it('refuses invalid sizes', () => {
    for (const size of [
      { min: WINDOW_BYTES - 1, average: 256, max: 1024 },
      { min: 300, average: 256, max: 1024 },
      { min: 64, average: 256, max: 128 },
      { min: 64.5, average: 256, max: 1024 },
    ]) {
      expect(() => createChunker(size, tools)).toThrow(RangeError);
    }
  });
});

const contents = fc.oneof(
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 40_000 })).map(([seed, length]) => noise(seed, length)),
  fc.uint8Array({ maxLength: 3000 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 0, max: 20_000 }))
    .map(([unit, length]) => Uint8Array.from({ length }, (_, at) => unit[at % unit.length]!)),
);

const sizes = fc.constantFrom<ChunkSize>(
  SMALL,
  { min: WINDOW_BYTES, average: WINDOW_BYTES, max: WINDOW_BYTES },
  { min: 100, average: 1000, max: 1001 },
  { min: 1000, average: 16_384, max: 30_000 },
);

/** Reproducible bytes without a pattern (mulberry32). */
function noise(seed: number, length: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) & 255;
  });
}

/** `pieces`: lengths of the input buffers, repeated. */
function chunkLengths(
  bytes: Uint8Array,
  size: ChunkSize,
  pieces: readonly number[] = [bytes.length],
): number[] {
  const chunker = createChunker(size, tools);
  view.set(bytes);
  const lengths: number[] = [];
  let start = 0;
  let at = 0;
  for (let piece = 0; at < bytes.length; piece += 1) {
    const end = Math.min(bytes.length, at + pieces[piece % pieces.length]!);
    for (let cut = chunker.findCut(view, at, end); cut >= 0; cut = chunker.findCut(view, at, end)) {
      lengths.push(cut - start);
      start = cut;
      at = cut;
    }
    at = end;
  }
  if (start < bytes.length) lengths.push(bytes.length - start);
  return lengths;
}

/** Format 1's definition, literally and slowly. */
function chunkLengthsByDefinition(bytes: Uint8Array, { min, average, max }: ChunkSize): number[] {
  const gear = Array.from({ length: 256 }, (_, byte) =>
    createHash('sha256').update(`dray gear ${byte}`).digest().readUInt32BE(0),
  );
  const bits = Math.round(Math.log2(average));
  const lengths: number[] = [];
  let start = 0;
  for (let end = 1; end <= bytes.length; end += 1) {
    const length = end - start;
    let hash = 0;
    for (const byte of bytes.subarray(Math.max(0, end - 32), end)) hash = (hash * 2 + gear[byte]!) % 2 ** 32;
    const zeroBits = length <= average ? bits + 2 : bits - 2;
    const isCut = length >= min && Math.floor(hash / 2 ** (32 - zeroBits)) === 0;
    if (!isCut && length < max && end < bytes.length) continue;
    lengths.push(length);
    start = end;
  }
  return lengths;
}

function chunkNames(bytes: Uint8Array): string[] {
  let at = 0;
  return chunkLengths(bytes, SMALL).map((length) => {
    at += length;
    return createHash('sha256')
      .update(bytes.subarray(at - length, at))
      .digest('hex');
  });
}
