import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths, EMPTY_BLOB, type Entry } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import {
  byPath,
  countedEntries,
  fileEntry,
  hashOfText,
  storeTestCommit,
} from '../../repository/entries.fixture.ts';
import { type Manifest, type SegmentRef, totalsOfEntries } from '../../repository/manifest/manifest.ts';
import { encodeSegment } from '../../repository/manifest/segment.ts';
import { readSegment, writeSegment } from '../../repository/manifest/stored-segment.ts';
import { createSegmentCache } from './segment-cache.ts';
import { openVersion, type Version, type VersionListing } from './version.ts';

/** A commit of these entries in segments of so many, and the number of segments that were read so far. */
async function versionOf(entries: readonly Entry[], perSegment: number) {
  const store = createMemoryStore();
  const segments: SegmentRef[] = [];
  for (let at = 0; at < entries.length; at += perSegment) {
    const part = entries.slice(at, at + perSegment);
    const segment = encodeSegment(part);
    await writeSegment(store, segment);
    segments.push({
      hash: segment.hash,
      first: part[0]!.path,
      last: part.at(-1)!.path,
      ...totalsOfEntries(part),
    });
  }
  const manifest: Manifest =
    segments.length > 1 ? { kind: 'segments', segments } : { kind: 'inline', entries };
  const commit = await storeTestCommit(store, manifest);
  let reads = 0;
  const cached = createSegmentCache((segment) => {
    reads += 1;
    return readSegment(store, segment, {});
  });
  return { version: await openVersion(store, commit, { readSegment: cached }), reads: () => reads };
}

/** All pages, as one list of paths. */
async function listed(version: Version, listing: VersionListing): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let next: { continuesAfter?: string } = {}; ; ) {
    const page = await version.list({ ...listing, ...next });
    const found = [...page.entries.map(({ path }) => path), ...page.folders];
    expect(found.length).toBeLessThanOrEqual(listing.limit ?? 1_000);
    paths.push(...found);
    if (!page.next) return paths;
    expect(found.length, 'a page that is not the last one is full').toBe(listing.limit ?? 1_000);
    next = { continuesAfter: page.next };
  }
}

function expectedOf(
  entries: readonly Entry[],
  { delimiter, prefix = '', startAfter = '' }: VersionListing,
): Set<string> {
  const found = new Set<string>();
  for (const { path } of entries) {
    if (!path.startsWith(prefix)) continue;
    if (comparePaths(path, startAfter) <= 0) continue;
    const end = delimiter ? path.indexOf(delimiter, prefix.length) : -1;
    found.add(end < 0 ? path : path.slice(0, end + 1));
  }
  return found;
}

const empty = (path: string) =>
  fileEntry(path, '', { sizeBytes: 0, blob: EMPTY_BLOB, location: { in: 'nowhere' } });
const part = fc.constantFrom('a', 'b', 'a.b', 'a0', 'é', '\u{1f600}', '\uffee');
const paths = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

describe('a version', () => {
  it('lists as a store of the same keys would, page by page', async () => {
    const request = fc.record({
      prefix: fc.oneof(
        fc.constant(''),
        paths,
        paths.map((path) => `${path}/`),
      ),
      more: fc.constantFrom({}, { delimiter: '/' as const }),
      after: fc.oneof(
        fc.constant({}),
        paths.map((startAfter) => ({ startAfter })),
      ),
      limit: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(paths, { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(request, { minLength: 1, maxLength: 5 }),
        async (names, perSegment, requests) => {
          const entries = byPath(names.map(empty));
          const { version } = await versionOf(entries, perSegment);
          for (const { after, more, ...rest } of requests) {
            const listing = { ...rest, ...after, ...more };
            const found = await listed(version, listing);
            expect(new Set(found)).toEqual(expectedOf(entries, listing));
            expect(found.length, 'nothing twice').toBe(new Set(found).size);
          }
          for (const name of ['a', 'b/a', ...names])
            expect((await version.find(name))?.path).toBe(names.includes(name) ? name : undefined);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads only the segments of the answer, however many lie between', async () => {
    const entries = byPath([
      ...countedEntries(3_000, 'a/'),
      ...countedEntries(3_000, 'b/c/'),
      fileEntry('b/d'),
      fileEntry('z'),
    ]);
    const { reads, version } = await versionOf(entries, 100);
    const page = await version.list({ delimiter: '/' });
    expect(page.folders).toEqual(['a/', 'b/']);
    expect(page.entries.map(({ path }) => path)).toEqual(['z']);
    expect(reads()).toBe(3);
    expect((await version.list({ prefix: 'b/', delimiter: '/' })).folders).toEqual(['b/c/']);
    expect(reads()).toBe(3);
    expect((await version.list({ prefix: 'b/c/0001', limit: 10 })).entries).toHaveLength(10);
    expect(reads()).toBe(4);
    expect(await version.find('b/c/0001005.jpg')).toBeDefined();
    expect((await version.list({ prefix: 'bb/' })).entries).toEqual([]);
    expect(reads()).toBe(4);
  });
});

describe('a version of 10,000,000 entries', () => {
  const folders = 1_000;
  const filesOfFolder = 10_000;
  const perSegment = 2_000;
  const name = (at: number, digits: number) => String(at).padStart(digits, '0');
  const pathOf = (at: number) => `d${name(Math.floor(at / filesOfFolder), 4)}/${name(at % filesOfFolder, 5)}`;

  /** Its segments are made when they are read. */
  async function open() {
    const starts = new Map<string, number>();
    const segments: SegmentRef[] = [];
    for (let start = 0; start < folders * filesOfFolder; start += perSegment) {
      const hash = hashOfText(`segment ${start}`) as SegmentRef['hash'];
      starts.set(hash, start);
      const totals = { files: perSegment, links: 0, folders: 0, bytes: perSegment };
      segments.push({ hash, first: pathOf(start), last: pathOf(start + perSegment - 1), ...totals });
    }
    const store = createMemoryStore();
    const commit = await storeTestCommit(store, { kind: 'segments', segments });
    let reads = 0;
    const readSegment = createSegmentCache(async ({ hash }) => {
      reads += 1;
      return Array.from({ length: perSegment }, (_, at) => empty(pathOf(starts.get(hash)! + at)));
    });
    const version = await openVersion(store, commit, { readSegment });
    return { version, reads: () => reads };
  }

  it('reads the segments of one folder to list it, and one to find a file or nothing', async () => {
    const { reads, version } = await open();
    const first = await version.list({ prefix: 'd0500/', delimiter: '/' });
    expect(first.entries).toHaveLength(1_000);
    expect(reads()).toBe(1);
    const all = await listed(version, { prefix: 'd0500/', delimiter: '/' });
    expect([all.length, all[0], all.at(-1)]).toEqual([filesOfFolder, 'd0500/00000', 'd0500/09999']);
    expect(reads()).toBe(filesOfFolder / perSegment);
    expect((await version.find('d0999/09999'))?.path).toBe('d0999/09999');
    expect(await version.find('d0250/x')).toBeUndefined();
    expect((await version.list({ prefix: 'e' })).entries).toEqual([]);
    expect(reads()).toBeLessThanOrEqual(filesOfFolder / perSegment + 2);
  });

  it('reads at most two segments for each folder to list the folders alone', async () => {
    const { reads, version } = await open();
    const page = await version.list({ delimiter: '/', startAfter: 'd0899/09999', limit: 20 });
    expect([page.folders.length, page.folders[0], page.next]).toEqual([20, 'd0900/', 'd0919/']);
    expect(reads()).toBeLessThanOrEqual(2 * 20);
  });
});

describe('the cache of segments', () => {
  const segment = (name: string) => ({ hash: name }) as SegmentRef;

  it('forgets the least recently used, and reads one segment once for many', async () => {
    const seen: string[] = [];
    const read = createSegmentCache(async ({ hash }) => {
      seen.push(hash);
      return countedEntries(10, hash);
    }, 25);
    await Promise.all([read(segment('a'), {}), read(segment('a'), {}), read(segment('b'), {})]);
    expect(seen).toEqual(['a', 'b']);
    await read(segment('a'), {});
    await read(segment('c'), {});
    await read(segment('a'), {});
    expect(seen).toEqual(['a', 'b', 'c']);
    await read(segment('b'), {});
    expect(seen).toEqual(['a', 'b', 'c', 'b']);
  });

  it('asks again after a failure', async () => {
    let fails = true;
    const read = createSegmentCache(async () => {
      if (fails) throw new Error('cut');
      return [];
    });
    await expect(read(segment('a'), {})).rejects.toThrow('cut');
    fails = false;
    expect(await read(segment('a'), {})).toEqual([]);
  });
});
