import { hash as hashOf } from 'node:crypto';
import { createZstdCompress, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RemoteKey } from '../remotes/object-store.ts';
import {
  DOCUMENT_DEPTH_MAX,
  DOCUMENT_MAX_BYTES,
  DOCUMENT_TEXT_MAX_BYTES,
  DOCUMENT_VALUES_MAX,
  declaredSizeOf,
  decodeDocument,
  documentBounds,
  encodeDocument,
} from './document.ts';

const KEY = 'commits/aa/bb' as RemoteKey;

function decode(text: string) {
  const raw = Buffer.from(text);
  return decodeDocument(KEY, hashOf('sha256', raw, 'hex'), zstdCompressSync(raw));
}

describe('a document', () => {
  it.each([
    ['objects', '{},'],
    ['lists', '[],'],
    ['numbers', '0,'],
  ])('with more %s than a reader allows is damaged, however small its stored form', (_what, value) => {
    const values = value.repeat(DOCUMENT_VALUES_MAX);
    expect(() => decode(`{"format":1,"entries":[${values}0]}`)).toThrow(
      expect.objectContaining({ code: 'damaged', data: { key: KEY } }),
    );
  });

  it('may contain any number of brackets and commas in its strings', () => {
    const text = '[{,\\"'.repeat(DOCUMENT_TEXT_MAX_BYTES / 8);
    const document = { format: 1, texts: Array.from({ length: 60 }, () => text) };
    expect(decode(JSON.stringify(document))).toEqual(document);
  });

  const million = 1024 * 1024;
  const padding = `"padding":[${Array.from({ length: 8 }, () => `"${'x'.repeat(400_000)}"`).join()}]`;
  it.each([
    [
      'with a text that no field can have',
      `{"format":1,${padding},"a":"${'x'.repeat(DOCUMENT_TEXT_MAX_BYTES + 2)}"}`,
    ],
    ['that is one text', `{"format":1,"a":"${'x'.repeat(20 * million)}`],
    ['whose lists lie in lists', `{"format":1,"a":${'['.repeat(2 * million)}${']'.repeat(2 * million)}}`],
    ['whose objects lie in objects', `{"format":1,"a":${'{"a":'.repeat(million)}1${'}'.repeat(million)}}`],
    [
      'a little deeper than allowed',
      `{"format":1,${padding},"a":${'['.repeat(DOCUMENT_DEPTH_MAX)}${']'.repeat(DOCUMENT_DEPTH_MAX)}}`,
    ],
    ['of brackets alone', '['.repeat(million)],
    ['of spaces alone', `{"format":1}${' '.repeat(60 * million)}`],
    ['with a number of a million digits', `{"format":${'9'.repeat(million)}}`],
  ])('%s is damaged', (_what, text) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ code: 'damaged', data: { key: KEY } }));
  });

  it('is bounded by its stored size: 8.6 KB expand to a million values and 33 MiB at most', () => {
    const { rawBytes, values } = documentBounds(8_600);
    expect(rawBytes).toBeLessThan(33 * million);
    expect(values).toBeLessThan(1_003_000);
    expect(documentBounds(64 * million)).toEqual({
      rawBytes: DOCUMENT_MAX_BYTES,
      values: DOCUMENT_VALUES_MAX,
    });
  });

  it('allows the largest possible segment, however well its paths compress', () => {
    const path = (at: number) => `${'a/'.repeat(2_040)}${String(at).padStart(6, '0')}`;
    const lines = Array.from({ length: 8192 }, (_, at) =>
      JSON.stringify({
        path: path(at),
        size: 0,
        mtime: '1700000000.000000000',
        exec: true,
        blob: 'e3'.repeat(32),
      }),
    );
    const text = `{"format":1,"packs":[],"entries":[\n${lines.join(',\n')}\n]}`;
    const { hash, bytes } = encodeDocument(text);
    expect(decodeDocument(KEY, hash, bytes)).toMatchObject({ format: 1 });
  });

  it('that declares too large a size is refused before decompression', async () => {
    const frame = zstdCompressSync(Buffer.alloc(40 * million));
    expect(declaredSizeOf(frame)).toBe(40 * million);
    // Only the head of the frame: nothing to decompress.
    expect(() => decodeDocument(KEY, '', frame.subarray(0, 18))).toThrow(/larger than a document may be/);
    for (const size of [0, 1, 255, 256, 65_791, 65_792, million])
      expect([size, undefined]).toContain(declaredSizeOf(zstdCompressSync(Buffer.alloc(size, 'a'))));
    const streamed = createZstdCompress();
    streamed.end(Buffer.alloc(40 * million));
    const undeclared = Buffer.concat(await streamed.toArray());
    expect(declaredSizeOf(undeclared)).toBeUndefined();
    expect(() => decodeDocument(KEY, '', undeclared)).toThrow(/does not decompress/);
  });

  it('with more values than a reader allows is not written', () => {
    const values = '0,'.repeat(DOCUMENT_VALUES_MAX);
    expect(() => encodeDocument(`{"format":1,"entries":[${values}0]}`)).toThrow(
      expect.objectContaining({ code: 'unsupported' }),
    );
  });
});
