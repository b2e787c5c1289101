import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  base64OfCrc32,
  base64OfCrc64,
  crc32OfBase64,
  crc64OfBase64,
  objectChecksumsOf,
  objectPartsOf,
} from './s3-values.ts';

describe('Checksums in S3 spelling', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(2 ** 32 - 1), (crc64, crc32) => {
        expect(crc64OfBase64(base64OfCrc64(crc64))).toBe(crc64);
        expect(crc32OfBase64(base64OfCrc32(crc32))).toBe(crc32);
      }),
    );
    // The check value of the algorithm, as S3 shows it for the content `123456789`.
    expect(base64OfCrc64(0xae8b14860a799888n)).toBe('rosUhgp5mIg=');
  });

  it('cover the whole object, unless the store says or shows that they are of its parts', () => {
    const crc32 = base64OfCrc32(7);
    const crc64nvme = base64OfCrc64(7n);
    expect(objectChecksumsOf({})).toBeUndefined();
    expect(objectChecksumsOf({ crc32: '' })).toBeUndefined();
    expect(objectChecksumsOf({ crc32 })).toEqual({ covers: 'whole', crc32: 7 });
    expect(objectChecksumsOf({ crc64nvme })).toEqual({ covers: 'whole', crc64nvme: 7n });
    expect(objectChecksumsOf({ sha256: 'abc=' })).toEqual({ covers: 'whole', sha256: 'abc=' });
    expect(objectChecksumsOf({ crc32, type: 'FULL_OBJECT' })).toEqual({ covers: 'whole', crc32: 7 });
    expect(objectChecksumsOf({ sha256: 'abc=-3' })).toEqual({ covers: 'ofParts', sha256: 'abc=-3' });
    expect(objectChecksumsOf({ sha256: 'abc=-3', type: 'COMPOSITE' })).toEqual({
      covers: 'ofParts',
      sha256: 'abc=-3',
    });
    // A sum of the parts' CRCs is of no use, and must not pass for one of the content.
    expect(objectChecksumsOf({ crc32: `${crc32}-3` })).toBeUndefined();
    expect(objectChecksumsOf({ crc32, type: 'COMPOSITE' })).toBeUndefined();
    expect(objectChecksumsOf({ crc64nvme: 'no checksum' })).toBeUndefined();
  });
});

describe('Parts of an object', () => {
  const part = { number: 1, etag: '', sizeBytes: 5 };

  it('are none for an object that was written in one piece, though a server lists that piece as a part', () => {
    expect(objectPartsOf('e', [part])).toBeUndefined();
    expect(objectPartsOf('e', [])).toBeUndefined();
    expect(objectPartsOf('e-1', [part])).toEqual({ etag: 'e-1', parts: [{ number: 1, sizeBytes: 5 }] });
  });
});
