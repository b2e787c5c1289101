import { hash as hashOf } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import type { CommitHash } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import { type Commit, decodeCommit, encodeCommit, readCommit, storeCommit } from './commit.ts';
import { countedEntries, entriesArbitrary, fileEntry, hashOfText } from './entries.fixture.ts';
import { commitKey } from './keys.ts';
import { EMPTY_MANIFEST, type Manifest, totalsOfManifest } from './manifest/manifest.ts';
import { encodeSegment } from './manifest/segment.ts';

function commitOf(manifest: Manifest, more: Partial<Commit> = {}): Commit {
  return {
    repository: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
    parents: [hashOfText('parent') as CommitHash],
    author: 'Ada <ada@example.org>',
    message: 'first\n\nwith "quotes" and \u{1f600}',
    time: '2026-01-31T12:00:00.000Z',
    totals: totalsOfManifest(manifest),
    manifest,
    ...more,
  };
}

function segmentsOf(count: number): Manifest {
  const entries = countedEntries(count * 10);
  const segments = Array.from(
    { length: count },
    (_, at) => encodeSegment(entries.slice(at * 10, at * 10 + 10)).ref,
  );
  return { kind: 'segments', segments };
}

/** Decodes a document under its correct name. */
function decodeJson(value: unknown): Commit {
  const text = JSON.stringify(value);
  return decodeCommit(hashOf('sha256', text, 'hex') as CommitHash, zstdCompressSync(text));
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(DrayError);
    return (error as DrayError).code;
  }
  return 'nothing was thrown';
}

const document = (manifest: Manifest) =>
  JSON.parse(Buffer.from(encodeCommit(commitOf(manifest)).raw).toString());

describe('a commit', () => {
  it('survives a round trip with inline entries', () => {
    fc.assert(
      fc.property(
        entriesArbitrary({ minLength: 0, maxLength: 20 }),
        fc.string({ unit: 'grapheme' }),
        fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true }),
        (entries, message, date) => {
          const time = date.toISOString();
          const manifest: Manifest = { kind: 'inline', entries };
          // No dataset has totals above 2^53.
          fc.pre(Number.isSafeInteger(totalsOfManifest(manifest).bytes));
          const commit = commitOf(manifest, { message, time });
          const { hash, bytes } = encodeCommit(commit);
          expect(decodeCommit(hash, bytes)).toEqual(commit);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('survives a round trip with a list of segments', () => {
    const commit = commitOf(segmentsOf(50), { parents: [] });
    const { hash, bytes } = encodeCommit(commit);
    expect(decodeCommit(hash, bytes)).toEqual(commit);
  });

  it('is named by its JSON, which contains the manifest of a small dataset', () => {
    const commit = commitOf({ kind: 'inline', entries: [fileEntry('a.csv')] });
    const { hash, raw } = encodeCommit(commit);
    expect(hashOf('sha256', raw, 'hex')).toBe(hash);
    const json = JSON.parse(Buffer.from(raw).toString());
    expect(Object.keys(json)).toEqual([
      'format',
      'repository',
      'parents',
      'author',
      'message',
      'time',
      'totals',
      'manifest',
    ]);
    expect(json.manifest.entries[0].path).toBe('a.csv');
    expect(document(EMPTY_MANIFEST).segments).toEqual([]);
  });

  it('is one object that is written once and read by one request', async () => {
    const store = createMemoryStore();
    const commit = commitOf({ kind: 'inline', entries: countedEntries(1_000) });
    const encoded = encodeCommit(commit);
    const { hash } = encoded;
    for (const _ of [1, 2]) await storeCommit(store, encoded);
    expect((await store.list({ prefix: '' })).objects.map(({ key }) => key)).toEqual([commitKey(hash)]);
    expect(await readCommit(store, hash)).toEqual(commit);
  });

  it('that is missing is reported by its hash', async () => {
    const hash = hashOfText('none') as CommitHash;
    const reading = readCommit(createMemoryStore(), hash);
    await expect(reading).rejects.toMatchObject({ code: 'notFound', data: { commit: hash } });
  });

  it('is not written when a reader would refuse it', () => {
    expect(() => encodeCommit(commitOf(EMPTY_MANIFEST, { time: 'now' }))).toThrow();
    expect(() => encodeCommit(commitOf(EMPTY_MANIFEST, { repository: 'mine' }))).toThrow();
    expect(() =>
      encodeCommit(commitOf(EMPTY_MANIFEST, { totals: { files: 1, links: 0, folders: 0, bytes: 0 } })),
    ).toThrow();
    expect(codeOf(() => encodeCommit(commitOf(EMPTY_MANIFEST, { message: 'x'.repeat(70_000) })))).toBe(
      'usage',
    );
    expect(codeOf(() => encodeCommit(commitOf(EMPTY_MANIFEST, { author: 'x'.repeat(2_000) })))).toBe('usage');
  });
});

describe('decoding a commit', () => {
  const inline = document({ kind: 'inline', entries: [fileEntry('a'), fileEntry('b')] });
  const listed = document(segmentsOf(3));

  it('ignores unknown fields and refuses unknown formats and features', () => {
    expect(decodeJson({ ...inline, signature: 'x' }).message).toContain('first');
    expect(codeOf(() => decodeJson({ ...inline, format: 2 }))).toBe('formatTooNew');
    expect(codeOf(() => decodeJson({ ...inline, required: ['shallow'] }))).toBe('formatTooNew');
    expect(codeOf(() => decodeJson({ ...inline, manifest: { ...inline.manifest, format: 2 } }))).toBe(
      'formatTooNew',
    );
  });

  it.each<[string, unknown]>([
    ['no repository', { ...inline, repository: undefined }],
    ['a repository that is no UUID', { ...inline, repository: 'mine' }],
    ['a parent that is no hash', { ...inline, parents: ['main'] }],
    ['too many parents', { ...inline, parents: Array(17).fill(hashOfText('p')) }],
    ['a time in another form', { ...inline, time: '2026-01-31' }],
    ['an impossible time', { ...inline, time: '2026-02-31T12:00:00.000Z' }],
    ['a message that is no text', { ...inline, message: 5 }],
    ['totals that are not those of the entries', { ...inline, totals: { ...inline.totals, files: 3 } }],
    ['negative totals', { ...inline, totals: { ...inline.totals, bytes: -1 } }],
    ['no manifest', { ...inline, manifest: undefined }],
    ['two manifests', { ...inline, segments: [] }],
    ['a manifest that is no segment', { ...inline, manifest: [] }],
    ['segments that are no list', { ...listed, segments: {} }],
    ['a segment without a hash', { ...listed, segments: [{ ...listed.segments[0], hash: 'x' }] }],
    ['a segment without entries', { ...listed, segments: [{ ...listed.segments[0], files: 0 }] }],
    ['a segment that ends before it begins', { ...listed, segments: [{ ...listed.segments[0], last: 'a' }] }],
    ['segments out of order', { ...listed, segments: listed.segments.toReversed() }],
    ['a segment twice', { ...listed, segments: [listed.segments[0], ...listed.segments] }],
    ['a segment left out', { ...listed, segments: listed.segments.slice(1) }],
  ])('refuses %s', (_name, value) => {
    expect(codeOf(() => decodeJson(value))).toBe('damaged');
  });

  it('reports truncations and flipped bits as damage that names the commit', () => {
    const commit = commitOf({ kind: 'inline', entries: countedEntries(5) });
    const { hash, bytes } = encodeCommit(commit);
    for (let at = 0; at < bytes.length; at += 1) {
      expect(codeOf(() => decodeCommit(hash, bytes.subarray(0, at)))).toBe('damaged');
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1 << (at % 8);
      try {
        expect(decodeCommit(hash, flipped)).toEqual(commit);
      } catch (error) {
        expect(error).toMatchObject({ code: 'damaged', data: { key: commitKey(hash) } });
      }
    }
  });
});
