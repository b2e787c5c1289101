import { randomBytes } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COMPRESSED_CONTENT_BYTES_MAX,
  compressBlob,
  compressInBackground,
  decompressBlob,
  isCompressible,
} from './zstd-blob.ts';

const text = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes / 8 }, (_, at) => `${at * 7919}`.padStart(8, ',')).join(''));

describe('compression', () => {
  it.each(['auto', 'max'] as const)('gives any content back: %s', async (compression) => {
    const words = fc.array(fc.constantFrom('alpha', 'beta', '\0\0\0', '7,'), {
      minLength: 300,
      maxLength: 3_000,
    });
    await fc.assert(
      fc.asyncProperty(words, fc.uint8Array({ maxLength: 300 }), async (some, tail) => {
        const content = Buffer.concat([Buffer.from(some.join('')), tail]);
        const frame = compressBlob(content, compression);
        expect(frame!.length).toBeLessThan(content.length);
        expect(content.equals(decompressBlob(frame!, content.length)!)).toBe(true);
        const another = await compressInBackground(content, compression);
        expect(content.equals(decompressBlob(another, content.length)!)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves content alone that gets hardly smaller', async () => {
    const content = randomBytes(100_000);
    expect(compressBlob(content, 'auto')).toBeUndefined();
    expect(await compressInBackground(content, 'auto')).toBe(content);
    expect(await compressInBackground(text(100_000), undefined)).toEqual(text(100_000));
  });

  it('uses a window that any reader has, at each level', () => {
    const content = text(40_000_000);
    for (const compression of ['auto', 'max'] as const) {
      const frame = compressBlob(content, compression)!;
      expect(content.equals(decompressBlob(frame, content.length)!)).toBe(true);
    }
  });
});

describe('a sample', () => {
  it('tells random bytes from text and tables of any size', () => {
    for (const bytes of [256, 500, 600, 4_096, 100_000, 3_000_000]) {
      for (let again = 0; again < 50; again += 1) expect(isCompressible(randomBytes(bytes))).toBe(false);
      expect(isCompressible(text(bytes))).toBe(true);
      const samples = Float32Array.from({ length: bytes / 4 }, (_, at) => Math.sin(at / 100));
      expect(isCompressible(new Uint8Array(samples.buffer))).toBe(true);
    }
  });

  it('is not misled by a header', () => {
    const picture = randomBytes(300_000).fill('header ', 0, 3_000);
    expect(isCompressible(picture)).toBe(false);
  });

  it('refuses what is too small to gain, and too large for a reader', () => {
    expect(isCompressible(text(248))).toBe(false);
    expect(isCompressible(new Uint8Array(COMPRESSED_CONTENT_BYTES_MAX))).toBe(true);
    expect(isCompressible(new Uint8Array(COMPRESSED_CONTENT_BYTES_MAX + 1))).toBe(false);
  });
});

describe('decompression', () => {
  const content = text(80_000);
  const frame = compressBlob(content, 'auto')!;

  it('takes exactly one frame of exactly the expected size', () => {
    expect(decompressBlob(frame, content.length)).toBeDefined();
    for (const sizeBytes of [0, 1, content.length - 1, content.length + 1, 2 * content.length])
      expect(decompressBlob(frame, sizeBytes)).toBeUndefined();
    expect(decompressBlob(Buffer.concat([frame, frame]), 2 * content.length)).toBeUndefined();
    expect(decompressBlob(Buffer.concat([frame, Buffer.alloc(1)]), content.length)).toBeUndefined();
  });

  it('refuses every truncation', () => {
    for (let length = 0; length < frame.length; length += 97)
      expect(decompressBlob(frame.subarray(0, length), content.length)).toBeUndefined();
    expect(decompressBlob(frame.subarray(0, -1), content.length)).toBeUndefined();
  });

  it('never gives more than the expected size, whatever bytes it gets', () => {
    fc.assert(
      fc.property(fc.nat(frame.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const spoilt = Buffer.from(frame);
        spoilt[at]! ^= flip;
        expect(decompressBlob(spoilt, content.length)?.length ?? content.length).toBe(content.length);
      }),
    );
  });

  it('takes no memory that a frame claims to need', () => {
    const huge = zstdCompressSync(new Uint8Array(COMPRESSED_CONTENT_BYTES_MAX + 1));
    expect(huge.length).toBeLessThan(10_000);
    expect(decompressBlob(huge, 1_000)).toBeUndefined();
    expect(decompressBlob(huge, COMPRESSED_CONTENT_BYTES_MAX + 1)).toBeUndefined();
    const wide = zstdCompressSync(text(20_000_000), {
      params: { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_contentSizeFlag]: 0 },
    });
    expect(decompressBlob(wide, 1_000_000)).toBeUndefined();
  });
});
