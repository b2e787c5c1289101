import { hash as hashOf } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { BlobHash, Entry, FileEntry, PackHash, SegmentHash } from '../../model/entry.ts';
import { countedEntries, entriesArbitrary, fileEntry, hashOfText } from '../entries.fixture.ts';
import { segmentKey } from '../keys.ts';
import { hashOfChunks } from '../packs/chunked-blob.ts';
import { decodeSegment, encodeSegment } from './segment.ts';

/** Stores any text under its correct name, so that only its content can be refused. */
function decodeText(text: string): Entry[] {
  const hash = hashOf('sha256', text, 'hex') as SegmentHash;
  return decodeSegment(hash, zstdCompressSync(text));
}

function decodeEntries(...entries: readonly unknown[]): Entry[] {
  return decodeText(JSON.stringify({ format: 1, packs: [hashOfText('pack')], entries }));
}

function failureOf(work: () => unknown): DrayError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(DrayError);
    return error as DrayError;
  }
  throw new Error('nothing was thrown');
}

const BLOB = hashOfText('content');
const FILE = { path: 'a', size: 5, mtime: '1.000000000', blob: BLOB };

describe('a segment', () => {
  it('decodes to the entries that it was made of', () => {
    fc.assert(
      fc.property(entriesArbitrary({ minLength: 1, maxLength: 40 }), (entries) => {
        const { hash, bytes } = encodeSegment(entries);
        expect(decodeSegment(hash, bytes)).toEqual(entries);
      }),
      { numRuns: 200 },
    );
  });

  it('has one form for the same entries, named by its SHA-256', () => {
    const entries = countedEntries(50);
    const { hash, raw } = encodeSegment(entries);
    expect(hashOf('sha256', raw, 'hex')).toBe(hash);
    expect(encodeSegment(structuredClone(entries)).hash).toBe(hash);
  });

  it('reads line by line as JSON', () => {
    const pack = hashOfText('pack');
    const { raw } = encodeSegment([
      fileEntry('data/a.csv', 'content', { executable: true, sizeBytes: 7 }),
      { kind: 'folder', path: 'empty/' },
      { kind: 'link', path: 'latest', target: 'data/a.csv' },
      fileEntry('z', 'content', { sizeBytes: 7, location: { in: 'pack', pack: pack as never, offset: 5 } }),
    ]);
    expect(Buffer.from(raw).toString()).toBe(
      [
        `{"format":1,"packs":["${pack}"],"entries":[`,
        `{"path":"data/a.csv","size":7,"mtime":"1700000000.123456789","exec":true,"blob":"${BLOB}"},`,
        '{"path":"empty/"},',
        '{"path":"latest","link":"data/a.csv"},',
        `{"path":"z","size":7,"mtime":"1700000000.123456789","blob":"${BLOB}","pack":[0,5]}`,
        ']}',
      ].join('\n'),
    );
  });

  it('reports its totals and its bounds', () => {
    const entries: Entry[] = [
      fileEntry('a', 'x', { sizeBytes: 10 }),
      { kind: 'folder', path: 'b/' },
      { kind: 'link', path: 'c', target: 'a' },
      fileEntry('d', 'y', { sizeBytes: 20 }),
    ];
    const { hash, ref } = encodeSegment(entries);
    expect(ref).toEqual({ hash, first: 'a', last: 'd', files: 2, links: 1, folders: 1, bytes: 30 });
  });

  it('is not made of entries that readers refuse', () => {
    for (const path of ['../a', '/a', 'a//b', '.dray/x', 'a/\ud800', 'a\0', '']) {
      expect(failureOf(() => encodeSegment([fileEntry(path)])).code).toBe('unsafePath');
    }
    for (const target of ['', '\ud800', 'a\0b', 'x'.repeat(40_000)]) {
      expect(failureOf(() => encodeSegment([{ kind: 'link', path: 'a', target }])).code).toBe('unsafePath');
    }
    expect(failureOf(() => encodeSegment([fileEntry('a/')])).code).toBe('unsafePath');
    expect(failureOf(() => encodeSegment([{ kind: 'folder', path: 'a' }])).code).toBe('unsafePath');
    const chunks = [{ hash: BLOB as BlobHash, sizeBytes: 5 }];
    for (const wrong of [
      { sizeBytes: 0 },
      { sizeBytes: 1.5 },
      { location: { in: 'nowhere' } },
      { location: { in: 'pack', pack: BLOB as PackHash, offset: 2 ** 40 } },
      { location: { in: 'chunks', chunks } },
      { location: { in: 'chunks', chunks: [] }, sizeBytes: 5 },
    ] as const) {
      expect(() => encodeSegment([fileEntry('a', 'a', wrong)])).toThrow();
    }
    expect(() => encodeSegment([])).toThrow();
    expect(() => encodeSegment([fileEntry('b'), fileEntry('a')])).toThrow();
    expect(() => encodeSegment([fileEntry('a'), fileEntry('a')])).toThrow();
  });
});

const OTHER = hashOfText('other') as BlobHash;

describe('how content is stored', () => {
  it.each<[string, FileEntry['location'], string]>([
    ['a compressed object', { in: 'object', storedBytes: 3 }, ',"encoding":"zstd","stored":3'],
    ['an object of a later generation', { in: 'object', generation: 4 }, ',"generation":4'],
    ['both', { in: 'object', storedBytes: 3, generation: 4 }, ',"encoding":"zstd","stored":3,"generation":4'],
    [
      'a compressed blob of a pack',
      { in: 'pack', pack: OTHER as string as PackHash, offset: 5, storedBytes: 3 },
      ',"encoding":"zstd","pack":[0,5,3]',
    ],
  ])('%s reads as it was written', (_, location, text) => {
    const entry = fileEntry('a', 'a', { sizeBytes: 7, location });
    const { bytes, hash, raw } = encodeSegment([entry]);
    expect(Buffer.from(raw).toString()).toContain(text);
    expect(decodeSegment(hash, bytes)).toEqual([entry]);
  });

  it('says it for each chunk', () => {
    const chunks = [
      { hash: BLOB as BlobHash, sizeBytes: 9 },
      { hash: OTHER, sizeBytes: 9, storedBytes: 4 },
      { hash: BLOB as BlobHash, sizeBytes: 9, generation: 2 },
      { hash: OTHER, sizeBytes: 9, storedBytes: 4, generation: 2 },
    ];
    const entry = fileEntry('a', 'a', {
      sizeBytes: 36,
      blob: hashOfChunks(chunks),
      location: { in: 'chunks', chunks },
    });
    const { bytes, hash, raw } = encodeSegment([entry]);
    expect(Buffer.from(raw).toString()).toContain(
      `"encoding":"zstd","chunks":[["${BLOB}",9],["${OTHER}",9,4],["${BLOB}",9,9,2],["${OTHER}",9,4,2]]`,
    );
    expect(decodeSegment(hash, bytes)).toEqual([entry]);
  });

  it('asks for the feature where a key of a later generation is named', () => {
    const later = encodeSegment([
      fileEntry('a', 'a', { sizeBytes: 7, location: { in: 'object', generation: 1 } }),
    ]);
    expect(Buffer.from(later.raw).toString()).toMatch(/^{"format":1,"required":\["collection"\],"packs"/);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a stored size above the size', { stored: 99, encoding: 'zstd' }],
    ['a stored size of nothing', { stored: 0, encoding: 'zstd' }],
    ['a generation below zero', { generation: -1 }],
    ['a generation that is no number', { generation: '1' }],
    ['a stored size in the pack above the size', { pack: [0, 0, 99], encoding: 'zstd' }],
    ['more than three numbers of a pack', { pack: [0, 0, 1, 1] }],
    ['a chunk of five fields', { chunks: [[BLOB, 7, 7, 1, 1]] }],
    ['a chunk that is larger on the store', { chunks: [[BLOB, 7, 8]] }],
    ['a stored size without an encoding', { stored: 3 }],
    ['a stored size in a pack without an encoding', { pack: [0, 0, 3] }],
    ['compressed content above 64 MiB', { size: 2 ** 26 + 1, stored: 3, encoding: 'zstd' }],
  ])('is damaged with %s', (_, wrong) => {
    const text = JSON.stringify({ format: 1, packs: [OTHER], entries: [{ ...FILE, size: 7, ...wrong }] });
    expect(failureOf(() => decodeText(text)).code).toBe('damaged');
  });

  it('has another name where a collection has condemned the first', () => {
    const entries = [fileEntry('a')];
    const first = encodeSegment(entries);
    const again = encodeSegment(entries, { round: 3, avoids: (key) => key === segmentKey(first.hash) });
    expect(Buffer.from(again.raw).toString()).toMatch(/^{"format":1,"epoch":3,"packs"/);
    expect(again.hash).not.toBe(first.hash);
    expect(decodeSegment(again.hash, again.bytes)).toEqual(entries);
    expect(encodeSegment(entries, { round: 3, avoids: () => false }).hash).toBe(first.hash);
  });
});

describe('decoding a segment', () => {
  it('ignores unknown fields', () => {
    expect(decodeEntries({ ...FILE, colour: 'red' })).toHaveLength(1);
  });

  it('refuses unknown encodings and required features', () => {
    expect(failureOf(() => decodeText('{"format":2,"entries":[]}')).code).toBe('formatTooNew');
    const required = JSON.stringify({ format: 1, required: ['sparse'], entries: [FILE] });
    const failure = failureOf(() => decodeText(required));
    expect(failure.code).toBe('formatTooNew');
    expect(failure.message).toContain('sparse');
    expect(failureOf(() => decodeEntries({ ...FILE, encoding: 'xz' })).code).toBe('formatTooNew');
  });

  it.each<[string, readonly unknown[]]>([
    ['no entry', []],
    ['an entry that is no object', [5]],
    ['no path', [{ ...FILE, path: undefined }]],
    ['a path that is not text', [{ ...FILE, path: 5 }]],
    ['a path that leaves the workspace', [{ ...FILE, path: '../../etc/passwd' }]],
    ['an absolute path', [{ ...FILE, path: '/etc/passwd' }]],
    ['a path in the workspace folder', [{ ...FILE, path: '.DRAY/index.sqlite' }]],
    ['a path twice', [FILE, FILE]],
    ['paths out of order', [{ ...FILE, path: 'b' }, FILE]],
    [
      'paths in UTF-16 order',
      [
        { ...FILE, path: '\u{1f600}' },
        { ...FILE, path: '\uffee' },
      ],
    ],
    ['a negative size', [{ ...FILE, size: -1 }]],
    ['a broken size', [{ ...FILE, size: 1.5 }]],
    ['a size past 2^53', [{ ...FILE, size: 2 ** 53 }]],
    ['a size as text', [{ ...FILE, size: '5' }]],
    ['no time', [{ ...FILE, mtime: undefined }]],
    ['a number as time', [{ ...FILE, mtime: 1.5 }]],
    ['"exec" that is not a boolean', [{ ...FILE, exec: 1 }]],
    ['a short hash', [{ ...FILE, blob: BLOB.slice(1) }]],
    ['an upper-case hash', [{ ...FILE, blob: BLOB.toUpperCase() }]],
    ['an empty file with the hash of another', [{ ...FILE, size: 0 }]],
    ['a pack that is not listed', [{ ...FILE, pack: [1, 0] }]],
    ['a pack index that is a property name', [{ ...FILE, pack: ['length', 0] }]],
    ['a negative offset', [{ ...FILE, pack: [0, -1] }]],
    ['an offset past any pack', [{ ...FILE, pack: [0, 2 ** 40] }]],
    ['a pack and chunks', [{ ...FILE, pack: [0, 0], chunks: [[BLOB, 5]] }]],
    ['no chunks', [{ ...FILE, chunks: [] }]],
    ['chunks that do not add up', [{ ...FILE, chunks: [[BLOB, 4]] }]],
    [
      'a chunk of no bytes',
      [
        {
          ...FILE,
          chunks: [
            [BLOB, 5],
            [BLOB, 0],
          ],
        },
      ],
    ],
    ['chunks that are not the blob', [{ ...FILE, chunks: [[BLOB, 5]] }]],
    ['a folder with a size', [{ path: 'a/', size: 5 }]],
    ['a link with a size', [{ ...FILE, link: 'b' }]],
    ['a link to nothing', [{ path: 'a', link: '' }]],
    ['a link that is not text', [{ path: 'a', link: 5 }]],
  ])('refuses %s', (_name, entries) => {
    expect(failureOf(() => decodeEntries(...entries)).code).toBe('damaged');
  });

  it.each([
    '',
    'null',
    '[]',
    '"text"',
    '{}',
    '{"format":"1"}',
    '{"format":0,"entries":[]}',
    '{"format":1}',
    '{"format":1,"entries":{}}',
    '{"format":1,"required":"all","entries":[]}',
    '{"format":1,"packs":["x"],"entries":[{"path":"a/"}]}',
    '{"format":1,"packs":{},"entries":[{"path":"a/"}]}',
  ])('refuses the document %s', (text) => {
    expect(failureOf(() => decodeText(text)).code).toBe('damaged');
  });

  it('refuses text that is not UTF-8', () => {
    const raw = Buffer.from('{"format":1,"entries":[{"path":"\xff/"}]}', 'latin1');
    const hash = hashOf('sha256', raw, 'hex') as SegmentHash;
    expect(failureOf(() => decodeSegment(hash, zstdCompressSync(raw))).code).toBe('damaged');
  });

  it('refuses data that exceeds the bound when decompressed, without holding it', () => {
    const bomb = zstdCompressSync(Buffer.alloc(300 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    expect(failureOf(() => decodeSegment(hashOfText('x') as SegmentHash, bomb)).code).toBe('damaged');
  });

  it('reports every truncation as damage that names the segment', () => {
    const { hash, bytes } = encodeSegment(countedEntries(10));
    for (let length = 0; length < bytes.length; length += 1) {
      const failure = failureOf(() => decodeSegment(hash, bytes.subarray(0, length)));
      expect([failure.code, failure.data.key]).toEqual(['damaged', segmentKey(hash)]);
    }
  });

  /** Odd, so that each place in a byte is flipped. */
  const BIT_STRIDE = runBudget({ short: 5, long: 1 });
  it('never decodes a flipped bit as other content', () => {
    const entries = countedEntries(10);
    const { hash, bytes } = encodeSegment(entries);
    let refused = 0;
    for (let bit = 0; bit < bytes.length * 8; bit += BIT_STRIDE) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      try {
        // Some bits of a zstd frame do not affect its content.
        expect(decodeSegment(hash, flipped)).toEqual(entries);
      } catch (error) {
        expect((error as DrayError).code).toBe('damaged');
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan((bytes.length * 7) / BIT_STRIDE);
  });
});
