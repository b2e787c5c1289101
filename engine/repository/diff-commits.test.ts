import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../model/diff.ts';
import { comparePaths, type Entry, type PackHash } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { diffCommits } from './diff-commits.ts';
import { byPath, countedEntries, entriesArbitrary, fileEntry, hashOfText } from './entries.fixture.ts';
import { buildManifest } from './manifest/build-manifest.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { SegmentReader } from './manifest/read-entries.ts';
import { encodeSegment } from './manifest/segment.ts';
import { readSegment, writeSegment } from './manifest/stored-segment.ts';

async function collect(store: ObjectStore, before: Manifest | undefined, after: Manifest): Promise<Change[]> {
  return await collectFrom(store, before && { manifest: before }, after);
}

async function collectFrom(
  store: ObjectStore,
  before: Parameters<typeof diffCommits>[1],
  after: Manifest,
): Promise<Change[]> {
  const all: Change[] = [];
  for await (const changes of diffCommits(store, before, { manifest: after })) {
    expect(changes.length).toBeGreaterThan(0);
    all.push(...changes);
  }
  return all;
}

/** Reads a segment as these entries have it. */
function segmentFrom(entries: readonly Entry[]): SegmentReader {
  return async ({ first, last }) =>
    entries.filter(({ path }) => comparePaths(first, path) <= 0 && comparePaths(path, last) <= 0);
}

/** The expected diff, by a slow comparison. */
function compared(before: readonly Entry[], after: readonly Entry[]): Change[] {
  const text = (entry: Entry | undefined) =>
    JSON.stringify(entry, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  const old = new Map(before.map((entry) => [entry.path, entry]));
  const now = new Map(after.map((entry) => [entry.path, entry]));
  return byPath([...before, ...after]).flatMap(({ path }) => {
    const [was, is] = [old.get(path), now.get(path)];
    return text(was) === text(is) ? [] : [{ path, ...(was && { before: was }), ...(is && { after: is }) }];
  });
}

/**
 * Cuts after every entry whose path the rule picks, so that two manifests share segments but not boundaries.
 */
async function storeCut(store: ObjectStore, entries: readonly Entry[], modulo: number): Promise<Manifest> {
  const segments = [];
  let run: Entry[] = [];
  for (const [at, entry] of entries.entries()) {
    run.push(entry);
    const isEnd = Number.parseInt(hashOfText(entry.path).slice(0, 6), 16) % modulo === 0;
    if (!isEnd && at < entries.length - 1) continue;
    const segment = encodeSegment(run);
    await writeSegment(store, segment);
    segments.push(segment.ref);
    run = [];
  }
  return segments.length === 0 ? { kind: 'inline', entries: [] } : { kind: 'segments', segments };
}

describe('the difference of two commits', () => {
  it('is exact however either manifest is cut', async () => {
    const cut = fc.constantFrom(0, 1, 2, 3, 5);
    const some = entriesArbitrary({ minLength: 0, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(some, some, some, cut, cut, async (shared, ours, theirs, cutBefore, cutAfter) => {
        const before = byPath([...shared, ...ours]);
        const after = byPath([...shared, ...theirs]);
        const store = createMemoryStore();
        const manifest = (entries: Entry[], modulo: number): Manifest | Promise<Manifest> =>
          modulo === 0 ? { kind: 'inline', entries } : storeCut(store, entries, modulo);
        const [old, now] = [await manifest(before, cutBefore), await manifest(after, cutAfter)];
        expect(await collect(store, old, now)).toEqual(compared(before, after));
        expect(await collect(store, undefined, now)).toEqual(compared([], after));
      }),
      { numRuns: 150 },
    );
  });

  it('reads only the one segment that changed on either side', async () => {
    const store = createMemoryStore();
    const build = (base: Manifest | undefined, entries: readonly Entry[]) =>
      buildManifest({
        base,
        changes: [entries.map((entry) => ({ path: entry.path, entry }))],
        loadBaseEntries: (segment) => readSegment(store, segment),
        onSegment: (segment) => writeSegment(store, segment),
      });
    const before = (await build(undefined, countedEntries(20_000))).manifest;
    const after = (await build(before, [fileEntry('images/0010000.jpg', 'changed')])).manifest;
    let reads = 0;
    const counting: ObjectStore = {
      ...store,
      read: (...call) => {
        reads += 1;
        return store.read(...call);
      },
    };
    expect(await collect(counting, before, after)).toMatchObject([{ path: 'images/0010000.jpg' }]);
    expect(reads).toBe(2);
    expect(await collect(counting, after, after)).toEqual([]);
    expect(reads).toBe(2);
  });

  it('reads the segments of one side from elsewhere, without the places of files', async () => {
    const store = createMemoryStore();
    const entries = countedEntries(20);
    const before = await storeCut(store, entries, 3);
    const after = await storeCut(createMemoryStore(), entries, 1);
    const changed = await storeCut(store, [...entries.slice(1), fileEntry('zz', 'new')], 1);
    const unplaced = entries.map((entry) =>
      entry.kind === 'file' ? { ...entry, location: { in: 'nowhere' as const } } : entry,
    );
    const lost: ObjectStore = { ...store, read: () => Promise.resolve(undefined) };
    const read = (from: ObjectStore, target: Manifest) =>
      collectFrom(from, { manifest: before, readSegment: segmentFrom(unplaced) }, target);
    await storeCut(store, entries, 1);
    expect(await read(store, after)).toEqual([]);
    expect((await read(store, changed)).map(({ path }) => path)).toEqual([entries[0]!.path, 'zz']);
    await expect(read(lost, after)).rejects.toMatchObject({ code: 'damaged' });
  });

  it('reports every difference in the stored form', async () => {
    const base = fileEntry('a');
    const [pack, other] = ['p', 'q'].map((name) => hashOfText(name) as PackHash) as [PackHash, PackHash];
    const packed = fileEntry('a', 'a', { location: { in: 'pack', pack, offset: 0 } });
    const variants: readonly Entry[] = [
      base,
      packed,
      { ...packed, location: { in: 'pack', pack, offset: 1 } },
      { ...packed, location: { in: 'pack', pack: other, offset: 0 } },
      { ...base, mtimeNs: 0n },
      { ...base, executable: true },
      { ...base, sizeBytes: 1 },
      { kind: 'link', path: 'a', target: 'b' },
      { kind: 'link', path: 'a', target: 'c' },
    ];
    const store = createMemoryStore();
    for (const [left, before] of variants.entries()) {
      for (const [right, after] of variants.entries()) {
        const manifests = [before, after].map((entry): Manifest => ({ kind: 'inline', entries: [entry] }));
        const changes = await collect(store, manifests[0], manifests[1]!);
        expect(changes).toEqual(left === right ? [] : [{ path: 'a', before, after }]);
      }
    }
  });
});
