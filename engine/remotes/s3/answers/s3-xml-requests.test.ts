import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementsOf, textOf } from './s3-xml.ts';
import { completionXml, isWritableInXml, removalXml } from './s3-xml-requests.ts';
import { parsePartsPage } from './s3-xml-results.ts';

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('The body of a bulk removal', () => {
  it('names any keys that XML can hold as they are', () => {
    const key = fc.string({ unit: 'binary', minLength: 1 }).filter(isWritableInXml);
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        const xml = decode(removalXml(keys));
        expect([...elementsOf(xml, 'Object')].map((element) => textOf(element, 'Key'))).toEqual(keys);
        // A parser turns line ends in text into one kind, and those in numbers into none.
        expect(xml).not.toMatch(/[\r\n\t]/);
      }),
    );
  });

  it('holds no key with characters that XML has not', () => {
    for (const key of ['a\0', 'a\x01b', '\x1f', 'a\x0b', '\ufffe', '\ud800'])
      expect(isWritableInXml(key)).toBe(false);
    for (const key of ['a\tb', 'a\nb', '\r', '\u{1F600}', '\x7f']) expect(isWritableInXml(key)).toBe(true);
  });
});

describe('The body of a completion', () => {
  const sizeBytes = 5;

  it('lists the parts by number, with the checksums that they all have', () => {
    const parts = [
      { number: 2, etag: 'b', sizeBytes, crc64nvme: 2n },
      { number: 1, etag: 'a"&', sizeBytes, crc64nvme: 1n },
    ];
    expect(parsePartsPage(decode(completionXml(parts))).parts).toEqual([
      { number: 1, etag: 'a"&', sizeBytes: 0, crc64nvme: 1n },
      { number: 2, etag: 'b', sizeBytes: 0, crc64nvme: 2n },
    ]);
  });

  it('tells no checksums when a part has none: the upload was begun without', () => {
    const parts = [
      { number: 1, etag: 'a', sizeBytes },
      { number: 2, etag: 'b', sizeBytes, crc64nvme: 2n, crc32: 3, sha256: 'x' },
    ];
    expect(parsePartsPage(decode(completionXml(parts))).parts).toEqual([
      { number: 1, etag: 'a', sizeBytes: 0 },
      { number: 2, etag: 'b', sizeBytes: 0 },
    ]);
  });
});
