import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../base/long-it.fixture.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { comparePaths, type Entry, type SegmentHash } from '../../model/entry.ts';
import { byPath, countedEntries, entriesArbitrary, fileEntry } from '../entries.fixture.ts';
import { hashOfChunks } from '../packs/chunked-blob.ts';
import { buildManifest } from './build-manifest.ts';
import { type EntryChange, type Manifest, totalsOfEntries } from './manifest.ts';
import { decodeSegment, type EncodedSegment, type KeysToAvoid } from './segment.ts';
import { SEGMENT_MAX_CHUNKS } from './segment-cutter.ts';

/** Stored segments in memory, with counts of loads and stores. */
function createSegments() {
  const stored = new Map<SegmentHash, Uint8Array>();
  const counts = { loads: 0, stores: 0 };
  const load = async (hash: SegmentHash) => decodeSegment(hash, stored.get(hash) as Uint8Array);
  const build = (
    base: Manifest | undefined,
    changes: readonly EntryChange[],
    batch = 1_000,
    avoid?: KeysToAvoid,
  ) =>
    buildManifest({
      base,
      avoid,
      changes: inBatches(changes, batch),
      loadBaseEntries: (segment) => {
        counts.loads += 1;
        return load(segment.hash);
      },
      onSegment: async (segment: EncodedSegment) => {
        counts.stores += 1;
        stored.set(segment.hash, segment.bytes);
      },
    });
  const entriesOf = async (manifest: Manifest): Promise<Entry[]> => {
    if (manifest.kind === 'inline') return [...manifest.entries];
    return (await Promise.all(manifest.segments.map((segment) => load(segment.hash)))).flat();
  };
  return { counts, build, entriesOf };
}

async function* inBatches(changes: readonly EntryChange[], size: number) {
  for (let at = 0; at < changes.length; at += size) yield changes.slice(at, at + size);
}

function additions(entries: readonly Entry[]): EntryChange[] {
  return entries.map((entry) => ({ path: entry.path, entry }));
}

/** The expected result of `buildManifest`, computed slowly. */
function applied(entries: readonly Entry[], changes: readonly EntryChange[]): Entry[] {
  const map = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path, entry } of changes) {
    if (entry) map.set(path, entry);
    else map.delete(path);
  }
  return byPath(map.values());
}

type Segments = ReturnType<typeof createSegments>;

async function expectSameAsFromScratch(
  segments: Segments,
  { base, entries }: { readonly base: Manifest; readonly entries: readonly Entry[] },
  changes: readonly EntryChange[],
  batch: number,
) {
  const { manifest, totals } = await segments.build(base, changes, batch);
  const expected = applied(entries, changes);
  // Vitest's own comparison takes longer than the rest of the test.
  expect(isDeepStrictEqual(await segments.entriesOf(manifest), expected)).toBe(true);
  expect(totals).toEqual(totalsOfEntries(expected));
  const fromScratch = await segments.build(undefined, additions(expected));
  expect(isDeepStrictEqual(manifest, fromScratch.manifest)).toBe(true);
}

const COUNT = runBudget({ short: 4_000, long: 12_000 });
const ENTRIES = countedEntries(COUNT);
/** Enough for several segments. */
const MANY = countedEntries(12_000);

/**
 * Edits of a dataset of `ENTRIES`: changes and deletions of single files and of runs, and new files between
 * them.
 */
const editsArbitrary = fc
  .array(
    fc.record({
      kind: fc.constantFrom('change' as const, 'remove' as const, 'insert' as const),
      start: fc.oneof(fc.nat(COUNT - 1), fc.constantFrom(0, COUNT - 1)),
      length: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.nat(3_000), fc.constant(COUNT)),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((edits) => {
    const changes = new Map<string, EntryChange>();
    for (const { kind, start, length } of edits) {
      for (const { path } of ENTRIES.slice(start, start + length)) {
        const target = kind === 'insert' ? `${path}+` : path;
        const change = { path: target, entry: fileEntry(target, `${kind} ${start}`) };
        changes.set(target, kind === 'remove' ? { path } : change);
      }
    }
    return [...changes.values()].sort((left, right) => comparePaths(left.path, right.path));
  });

describe('building a manifest', () => {
  it('equals a manifest cut from scratch, after any edit', async () => {
    const segments = createSegments();
    const base = (await segments.build(undefined, additions(ENTRIES))).manifest;
    await fc.assert(
      fc.asyncProperty(editsArbitrary, fc.constantFrom(1, 7, 1_000, 100_000), async (changes, batch) => {
        await expectSameAsFromScratch(segments, { base, entries: ENTRIES }, changes, batch);
      }),
      { numRuns: runBudget({ short: 4, long: 20 }) },
    );
  });

  it('equals one cut from scratch after files are appended', async () => {
    const segments = createSegments();
    const whole = (await segments.build(undefined, additions(ENTRIES))).manifest;
    if (whole.kind === 'inline') throw new Error('expected segments');
    const ends = whole.segments.map(({ last }) => ENTRIES.findIndex(({ path }) => path === last) + 1);
    for (const count of [0, ends[0]!, ends[0]! + 1, ends[1]!, ends[1]! - 1, ends[1]! + 1, COUNT - 1]) {
      const entries = ENTRIES.slice(0, count);
      const base = (await segments.build(undefined, additions(entries))).manifest;
      for (const added of [1, 3_000, COUNT]) {
        const changes = additions(ENTRIES.slice(count, count + added));
        await expectSameAsFromScratch(segments, { base, entries }, changes, 500);
      }
    }
  });

  it('reads nothing when files are appended after a last segment that ends in a real cut', async () => {
    const segments = createSegments();
    const whole = (await segments.build(undefined, additions(MANY))).manifest;
    if (whole.kind === 'inline') throw new Error('expected segments');
    const end = MANY.findIndex(({ path }) => path === whole.segments[2]!.last) + 1;
    const base = (await segments.build(undefined, additions(MANY.slice(0, end)))).manifest;
    const before = segments.counts.loads;
    expect((await segments.build(base, additions(MANY.slice(end)))).manifest).toEqual(whole);
    expect(segments.counts.loads).toBe(before);
  });

  longIt('equals one cut from scratch for segments that end because of their many chunks', async () => {
    const chunks = Array(SEGMENT_MAX_CHUNKS).fill({ hash: fileEntry('chunk').blob, sizeBytes: 1 });
    const giant = {
      sizeBytes: SEGMENT_MAX_CHUNKS,
      blob: hashOfChunks(chunks),
      location: { in: 'chunks' as const, chunks },
    };
    const entries = ['a', 'b', 'c'].map((path) => fileEntry(path, path, giant));
    const segments = createSegments();
    const base = (await segments.build(undefined, additions(entries.slice(0, 2)))).manifest;
    expect(base).toMatchObject({ kind: 'segments', segments: [{ last: 'a' }, { last: 'b' }] });
    for (const change of [{ path: 'a' }, { path: 'b' }, ...additions(entries.slice(2))]) {
      await expectSameAsFromScratch(segments, { base, entries: entries.slice(0, 2) }, [change], 1);
    }
  });

  it('equals one cut from scratch for small datasets of all kinds of entries', async () => {
    const small = entriesArbitrary({ minLength: 0, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(small, small, fc.array(fc.nat(29)), async (before, added, removed) => {
        const removals = removed.flatMap((index) => (before[index] ? [{ path: before[index].path }] : []));
        const changes = new Map<string, EntryChange>();
        for (const change of [...removals, ...additions(added)]) changes.set(change.path, change);
        const sorted = [...changes.values()].sort((left, right) => comparePaths(left.path, right.path));
        const segments = createSegments();
        const base = (await segments.build(undefined, additions(before))).manifest;
        await expectSameAsFromScratch(segments, { base, entries: before }, sorted, 5);
        expect(segments.counts).toEqual({ loads: 0, stores: 0 });
      }),
      { numRuns: runBudget({ short: 12, long: 100 }) },
    );
  });

  it('keeps a dataset of 1,000 files inside its commit and stores nothing', async () => {
    const { build, counts } = createSegments();
    const { manifest } = await build(undefined, additions(countedEntries(1_000)));
    expect(manifest).toEqual({ kind: 'inline', entries: countedEntries(1_000) });
    expect(counts).toEqual({ loads: 0, stores: 0 });
  });

  it('stores a single segment after a first collection, unless it is small', async () => {
    const avoid = { round: 1, avoids: () => false };
    const segments = createSegments();
    const entries = countedEntries(65);
    const { manifest } = await segments.build(undefined, additions(entries), 10, avoid);
    expect(manifest).toMatchObject({ kind: 'segments', segments: [{ files: 65 }] });
    expect(await segments.entriesOf(manifest)).toEqual(entries);
    expect(segments.counts).toEqual({ loads: 0, stores: 1 });
    expect((await segments.build(manifest, [], 10, avoid)).manifest).toEqual(manifest);
    const [first] = entries;
    const small = await segments.build(manifest, [{ path: first!.path }], 10, avoid);
    expect(small.manifest).toEqual({ kind: 'inline', entries: entries.slice(1) });
    expect(segments.counts.stores).toBe(1);
    const large = await segments.build(small.manifest, additions(entries.slice(0, 1)), 10, avoid);
    expect(large.manifest).toEqual(manifest);
  });

  it('reads and writes one segment, rarely a second, for one changed file', async () => {
    const segments = createSegments();
    const { manifest } = await segments.build(undefined, additions(MANY));
    let loads = 0;
    for (let index = 50; index < MANY.length; index += 997) {
      const { path } = MANY[index]!;
      const before = { ...segments.counts };
      await segments.build(manifest, [{ path, entry: fileEntry(path, 'changed') }]);
      expect(segments.counts.loads - before.loads).toBe(1);
      expect(segments.counts.stores - before.stores).toBe(1);
      loads += 1;
    }
    expect(loads).toBeGreaterThan(10);
  });

  it('meets the old cuts again soon after an added or removed file', async () => {
    const segments = createSegments();
    const { manifest } = await segments.build(undefined, additions(MANY));
    const before = { ...segments.counts };
    let edits = 0;
    for (let index = 0; index < MANY.length; index += 499, edits += 2) {
      const { path } = MANY[index]!;
      await segments.build(manifest, [{ path }]);
      await segments.build(manifest, [{ path: `${path}+`, entry: fileEntry(`${path}+`) }]);
    }
    expect((segments.counts.stores - before.stores) / edits).toBeLessThan(1.5);
    expect((segments.counts.loads - before.loads) / edits).toBeLessThan(1.5);
  });

  it('reads and writes nothing when the changes have no effect', async () => {
    const segments = createSegments();
    const { manifest, totals } = await segments.build(undefined, additions(ENTRIES));
    const before = { ...segments.counts };
    expect(await segments.build(manifest, [])).toEqual({ manifest, totals });
    expect(segments.counts).toEqual(before);
    const noop = [{ path: 'images/0000500.jpg', entry: ENTRIES[500]! }, { path: 'images/none' }];
    expect((await segments.build(manifest, noop)).manifest).toEqual(manifest);
    expect(segments.counts.stores).toBe(before.stores);
  });

  it('returns to an inline manifest when one segment is left, changed or not', async () => {
    const segments = createSegments();
    const { manifest } = await segments.build(undefined, additions(ENTRIES));
    if (manifest.kind === 'inline') throw new Error('expected segments');
    for (const kept of [manifest.segments[0]!, manifest.segments.at(-1)!]) {
      const isKept = ({ path }: Entry) =>
        comparePaths(path, kept.first) >= 0 && comparePaths(path, kept.last) <= 0;
      const removals = ENTRIES.filter((entry) => !isKept(entry)).map(({ path }) => ({ path }));
      const result = await segments.build(manifest, removals);
      expect(result.manifest).toEqual({ kind: 'inline', entries: ENTRIES.filter(isKept) });
    }
  });

  it('ends empty when everything is removed', async () => {
    const segments = createSegments();
    const { manifest } = await segments.build(undefined, additions(ENTRIES));
    const removals = ENTRIES.map(({ path }) => ({ path }));
    expect(await segments.build(manifest, removals)).toEqual({
      manifest: { kind: 'inline', entries: [] },
      totals: { files: 0, links: 0, folders: 0, bytes: 0 },
    });
  });

  it('loads changed segments ahead of time, a few at once', async () => {
    const segments = createSegments();
    const { manifest } = await segments.build(undefined, additions(MANY));
    if (manifest.kind === 'inline') throw new Error('expected segments');
    let inFlight = 0;
    let most = 0;
    await buildManifest({
      base: manifest,
      changes: [manifest.segments.map(({ first }) => ({ path: first, entry: fileEntry(first, 'changed') }))],
      loadBaseEntries: async (segment) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
        return MANY.filter(
          ({ path }) => comparePaths(path, segment.first) >= 0 && comparePaths(path, segment.last) <= 0,
        );
      },
      onSegment: async () => {},
    });
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThanOrEqual(5);
  });

  it('fails when a store or a load fails, and closes the changes', async () => {
    const { build } = createSegments();
    const { manifest } = await build(undefined, additions(ENTRIES));
    let isClosed = false;
    async function* changes() {
      try {
        for (const entry of ENTRIES) yield [{ path: entry.path, entry: fileEntry(entry.path, 'new') }];
      } finally {
        isClosed = true;
      }
    }
    const refuse = async () => {
      throw new Error('refused');
    };
    const store = buildManifest({ changes: changes(), loadBaseEntries: () => [], onSegment: refuse });
    await expect(store).rejects.toThrow('refused');
    const load = buildManifest({
      base: manifest,
      changes: changes(),
      loadBaseEntries: refuse,
      onSegment: async () => {},
    });
    await expect(load).rejects.toThrow('refused');
    expect(isClosed).toBe(true);
  });

  it('stops when it is aborted', async () => {
    const { build } = createSegments();
    const { manifest } = await build(undefined, additions(ENTRIES));
    const signal = AbortSignal.abort();
    const stopped = buildManifest({
      base: manifest,
      changes: [],
      loadBaseEntries: () => [],
      onSegment: async () => {},
      signal,
    });
    await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
  });

  it('refuses changes out of order', async () => {
    const { build } = createSegments();
    await expect(build(undefined, additions([fileEntry('b'), fileEntry('a')]), 1)).rejects.toThrow(
      'out of order',
    );
  });
});
