import { hash as hashOf } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RemoteKey } from '../remotes/object-store.ts';
import { DOCUMENT_VALUES_MAX, decodeDocument, encodeDocument } from './document.ts';

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
  ])('of more %s than a reader should make is damaged, however small it is stored', (_what, value) => {
    const values = value.repeat(DOCUMENT_VALUES_MAX);
    expect(() => decode(`{"format":1,"entries":[${values}0]}`)).toThrow(
      expect.objectContaining({ code: 'damaged', data: { key: KEY } }),
    );
  });

  it('may hold any number of brackets and commas in its strings', () => {
    const document = { format: 1, text: '[{,\\"'.repeat(DOCUMENT_VALUES_MAX / 2) };
    expect(decode(JSON.stringify(document))).toEqual(document);
  });

  it('of more values than a reader takes is not written', () => {
    const values = '0,'.repeat(DOCUMENT_VALUES_MAX);
    expect(() => encodeDocument(`{"format":1,"entries":[${values}0]}`)).toThrow(
      expect.objectContaining({ code: 'unsupported' }),
    );
  });
});
