import { describe, expect, it } from 'vitest';
import { elementsOf, textOf } from './s3-xml.ts';
import { completionXml, isWritableInXml } from './s3-xml-requests.ts';

it('XML cannot hold most control characters, half surrogates, and two more', () => {
  for (const key of ['a\0', 'a\x01b', '\x1f', 'a\x0b', '\ufffe', '\ud800'])
    expect(isWritableInXml(key)).toBe(false);
  for (const key of ['a\tb', 'a\nb', '\r', '\u{1F600}', '\x7f']) expect(isWritableInXml(key)).toBe(true);
});

function partsIn(body: Uint8Array) {
  const parts = [...elementsOf(new TextDecoder().decode(body), 'Part')];
  return parts.map((part) => ['PartNumber', 'ETag', 'ChecksumCRC64NVME'].map((name) => textOf(part, name)));
}

describe('The body of a completion', () => {
  const sizeBytes = 5;

  it('lists the parts by number, with the checksums that they all have', () => {
    const parts = [
      { number: 2, etag: 'b', sizeBytes, crc64nvme: 2n },
      { number: 1, etag: 'a"&', sizeBytes, crc64nvme: 1n },
    ];
    expect(partsIn(completionXml(parts))).toEqual([
      ['1', '"a"&"', 'AAAAAAAAAAE='],
      ['2', '"b"', 'AAAAAAAAAAI='],
    ]);
  });

  it('lists no checksums when a part has none, as the upload was begun without', () => {
    const parts = [
      { number: 1, etag: 'a', sizeBytes },
      { number: 2, etag: 'b', sizeBytes, crc64nvme: 2n, crc32: 3, sha256: 'x' },
    ];
    expect(partsIn(completionXml(parts))).toEqual([
      ['1', '"a"', undefined],
      ['2', '"b"', undefined],
    ]);
  });
});
