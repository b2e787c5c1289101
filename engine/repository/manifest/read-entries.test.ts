import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths, type Entry } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { countedEntries, entriesArbitrary } from '../entries.fixture.ts';
import { segmentKey } from '../keys.ts';
import type { Manifest } from './manifest.ts';
import { type ReadEntriesOptions, readEntries } from './read-entries.ts';
import { encodeSegment } from './segment.ts';
import { writeSegment } from './stored-segment.ts';

/** A manifest cut every few entries: reading does not depend on the cuts. */
async function storeCut(store: ObjectStore, entries: readonly Entry[], size: number): Promise<Manifest> {
  const segments = [];
  for (let at = 0; at < entries.length; at += size) {
    const segment = encodeSegment(entries.slice(at, at + size));
    await writeSegment(store, segment);
    segments.push(segment.ref);
  }
  return { kind: 'segments', segments };
}

/** Counts reads, and how many are open at once. */
function watch(store: ObjectStore) {
  const seen = { reads: 0, open: 0, openMost: 0, aborted: 0 };
  const watched: ObjectStore = {
    ...store,
    read: async (key, options) => {
      seen.reads += 1;
      seen.open += 1;
      seen.openMost = Math.max(seen.openMost, seen.open);
      options.signal?.addEventListener('abort', () => {
        seen.aborted += 1;
      });
      await new Promise((resolve) => setImmediate(resolve));
      seen.open -= 1;
      return store.read(key, options);
    },
  };
  return { seen, store: watched };
}

async function readAll(
  store: ObjectStore,
  manifest: Manifest,
  options?: ReadEntriesOptions,
): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entries of readEntries(store, { manifest }, options)) {
    expect(entries.length).toBeGreaterThan(0);
    all.push(...entries);
  }
  return all;
}

describe('reading entries', () => {
  it('returns exactly those from a path on and below a prefix, however the manifest is cut', async () => {
    const some = fc.oneof(
      fc.constantFrom('', 'a', 'a/', 'a.b', '\u{1f600}', '\uffee'),
      fc.string({ maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(
        entriesArbitrary({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        some,
        some,
        async (entries, size, from, prefix) => {
          const store = createMemoryStore();
          const expected = entries.filter(
            ({ path }) => comparePaths(path, from) >= 0 && path.startsWith(prefix),
          );
          const cut = await storeCut(store, entries, size);
          expect(await readAll(store, cut, { from, prefix })).toEqual(expected);
          expect(await readAll(store, { kind: 'inline', entries }, { from, prefix })).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('reads no segment that it does not need', async () => {
    const { seen, store } = watch(createMemoryStore());
    const entries = countedEntries(1_000);
    const manifest = await storeCut(store, entries, 10);
    expect(await readAll(store, manifest, { prefix: 'images/000012' })).toHaveLength(10);
    expect(seen.reads).toBe(1);
    expect(await readAll(store, manifest, { from: entries.at(-15)!.path })).toHaveLength(15);
    expect(seen.reads).toBe(3);
    expect(await readAll(store, manifest, { prefix: 'none/' })).toEqual([]);
    expect(seen.reads).toBe(3);
  });

  it('reads a few segments concurrently, and stops when its reader does', async () => {
    const { seen, store } = watch(createMemoryStore());
    const manifest = await storeCut(store, countedEntries(300), 10);
    expect(await readAll(store, manifest, { prefetch: 3 })).toEqual(countedEntries(300));
    expect([seen.reads, seen.openMost]).toEqual([30, 3]);
    for await (const _ of readEntries(store, { manifest }, { prefetch: 3 })) break;
    expect(seen.reads).toBe(33);
    expect(seen.aborted).toBeGreaterThanOrEqual(3);
  });

  it('stops when it is aborted', async () => {
    const store = createMemoryStore();
    const manifest = await storeCut(store, countedEntries(100), 10);
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of readEntries(store, { manifest }, { signal: stop.signal })) stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  });

  it('reports a missing segment and one that contradicts its commit', async () => {
    const store = createMemoryStore();
    const manifest = await storeCut(store, countedEntries(40), 10);
    if (manifest.kind === 'inline') throw new Error('expected segments');
    const [first, second] = manifest.segments as [never, (typeof manifest.segments)[0]];
    for (const wrong of [{ files: 9 }, { bytes: 1 }, { last: 'images/x' }]) {
      const lying: Manifest = { kind: 'segments', segments: [first, { ...second, ...wrong }] };
      await expect(readAll(store, lying)).rejects.toMatchObject({
        code: 'damaged',
        data: { key: segmentKey(second.hash) },
      });
    }
    await store.delete([segmentKey(second.hash)]);
    await expect(readAll(store, manifest)).rejects.toMatchObject({
      code: 'damaged',
      data: { key: segmentKey(second.hash) },
    });
  });
});
