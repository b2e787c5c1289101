/** Entries for tests: readable hand-made ones and arbitrary ones. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import {
  type BlobHash,
  type CommitHash,
  comparePaths,
  EMPTY_BLOB,
  type Entry,
  type FileEntry,
  type PackHash,
} from '../model/entry.ts';
import { checkEntryPath } from '../model/safe-path.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { encodeCommit, storeCommit } from './commit.ts';
import { type Manifest, totalsOfManifest } from './manifest/manifest.ts';
import { hashOfChunks } from './packs/chunked-blob.ts';

export const TEST_REPOSITORY = '11111111-2222-4333-8444-555555555555';

export function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A file in an object of its own, whose hash is derived from `content`. */
export function fileEntry(path: string, content = path, more: Partial<FileEntry> = {}): FileEntry {
  return {
    kind: 'file',
    path,
    sizeBytes: 100 + content.length,
    mtimeNs: 1_700_000_000_123_456_789n,
    executable: false,
    blob: hashOfText(content) as BlobHash,
    location: { in: 'object' },
    ...more,
  };
}

/** Files with counted names, as datasets have them; every third one is in a pack. */
export function countedEntries(count: number, prefix = 'images/'): FileEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const path = `${prefix}${String(index).padStart(7, '0')}.jpg`;
    const pack = hashOfText(`pack ${index >> 9}`) as PackHash;
    return index % 3 === 0
      ? fileEntry(path, path, { location: { in: 'pack', pack, offset: index * 128 } })
      : fileEntry(path);
  });
}

export function byPath(entries: Iterable<Entry>): Entry[] {
  const unique = new Map([...entries].map((entry) => [entry.path, entry]));
  return [...unique.values()].sort((left, right) => comparePaths(left.path, right.path));
}

const hashArbitrary = fc.integer({ min: 0, max: 5_000 }).map((seed) => hashOfText(`${seed}`));

/** Includes quotes, control characters, and characters that UTF-8 and UTF-16 sort differently. */
const pathArbitrary = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
      fc.constantFrom('a', 'b', 'a.b', '"', '\\', '\n', '\u{1f600}', '\uffee', ' '),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join('/'))
  .filter((path) => !path.endsWith('/') && checkEntryPath(path, { platform: 'linux' }) === undefined);

const contentArbitrary = fc.oneof(
  fc.constant({ sizeBytes: 0, blob: EMPTY_BLOB, location: { in: 'nowhere' as const } }),
  fc.record({
    sizeBytes: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    blob: hashArbitrary.map((hash) => hash as BlobHash),
    location: fc.constant({ in: 'object' as const }),
  }),
  fc.record({
    sizeBytes: fc.integer({ min: 1, max: 1 << 20 }),
    blob: hashArbitrary.map((hash) => hash as BlobHash),
    location: fc.record({
      in: fc.constant('pack' as const),
      pack: fc.constantFrom('p', 'q', 'r').map((name) => hashOfText(name) as PackHash),
      offset: fc.nat(1 << 25),
    }),
  }),
  fc
    .array(
      fc.record({
        hash: hashArbitrary.map((hash) => hash as BlobHash),
        sizeBytes: fc.integer({ min: 1, max: 1 << 24 }),
      }),
      {
        minLength: 1,
        maxLength: 5,
      },
    )
    .map((chunks) => ({
      sizeBytes: chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0),
      blob: hashOfChunks(chunks),
      location: { in: 'chunks' as const, chunks },
    })),
);

const entryArbitrary: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 6, arbitrary: fileArbitrary() },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      path: pathArbitrary,
      target: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
        .filter((text) => !text.includes('\0')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('folder' as const),
      path: pathArbitrary.map((path) => `${path}/`),
    }),
  },
);

/** In order, each path once. */
export function entriesArbitrary(bounds: { readonly minLength: number; readonly maxLength: number }) {
  return fc.uniqueArray(entryArbitrary, { ...bounds, selector: (entry) => entry.path }).map(byPath);
}

function fileArbitrary(): fc.Arbitrary<FileEntry> {
  return fc
    .tuple(
      pathArbitrary,
      contentArbitrary,
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.boolean(),
    )
    .map(([path, content, mtimeNs, executable]) => ({ kind: 'file', path, mtimeNs, executable, ...content }));
}

/** Stores a first commit, without its content. */
export async function storeTestCommit(store: ObjectStore, manifest: Manifest): Promise<CommitHash> {
  const encoded = encodeCommit({
    repository: TEST_REPOSITORY,
    parents: [],
    author: 'someone',
    message: '',
    time: '2026-01-01T00:00:00.000Z',
    totals: totalsOfManifest(manifest),
    manifest,
  });
  await storeCommit(store, encoded);
  return encoded.hash;
}
