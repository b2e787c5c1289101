import { hash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MD5_LANES, type Md5Piece, openMd5Lanes } from './md5-lanes.ts';

const lanes = openMd5Lanes();

/** Pseudorandom bytes, in shared memory if wanted, that begin at any offset. */
function noise(length: number, seed: number, { isShared = false, offset = 0 } = {}): Uint8Array {
  const buffer = isShared ? new SharedArrayBuffer(length + offset) : new ArrayBuffer(length + offset);
  const bytes = new Uint8Array(buffer, offset);
  for (let at = 0; at < length; at += 1) bytes[at] = Math.imul(at + seed, 2_654_435_761) >>> 24;
  return bytes;
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('hex');
}

describe('MD5 in lanes', () => {
  it('is that of RFC 1321', () => {
    const vectors = {
      '': 'd41d8cd98f00b204e9800998ecf8427e',
      a: '0cc175b9c0f1b6a831c399e269772661',
      'message digest': 'f96b697d7cb7938d525a2f31aaf161d0',
      '12345678901234567890123456789012345678901234567890123456789012345678901234567890':
        '57edf4a22be3c955ac49da2e2107b67a',
    };
    for (const [text, digest] of Object.entries(vectors)) {
      const md5 = lanes.start();
      const piece = { md5, bytes: Buffer.from(text), takenBytes: 0 };
      while (piece.takenBytes < piece.bytes.length) lanes.take([piece]);
      expect(hexOf(lanes.end(md5))).toBe(digest);
    }
  });

  it('is that of each message, however many share the lanes and however they are cut', () => {
    const message = fc.record({
      length: fc.oneof(fc.nat(300), fc.nat(100_000)),
      piece: fc.integer({ min: 1, max: 70_000 }),
      seed: fc.nat(1_000),
      isShared: fc.boolean(),
      offset: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 7 }), (messages) => {
        const all = messages.map((one) => ({
          ...one,
          bytes: noise(one.length, one.seed, one),
          md5: lanes.start(),
          at: 0,
          piece: Math.max(one.piece, Math.ceil(one.length / 20)),
        }));
        // Each message with bytes left takes part, at most as many as there are lanes.
        const pieces = new Map<(typeof all)[number], Md5Piece>();
        for (;;) {
          for (const one of all) {
            const present = pieces.get(one);
            if (present && present.takenBytes < present.bytes.length) continue;
            pieces.delete(one);
            if (one.at >= one.length) continue;
            const bytes = one.bytes.subarray(one.at, one.at + one.piece);
            one.at += bytes.length;
            pieces.set(one, { md5: one.md5, bytes, takenBytes: 0 });
          }
          if (pieces.size === 0) break;
          const before = [...pieces.values()].slice(0, MD5_LANES);
          const takenBytes = () => before.reduce((sum, piece) => sum + piece.takenBytes, 0);
          const takenBefore = takenBytes();
          lanes.take(before);
          expect(takenBytes()).toBeGreaterThan(takenBefore);
        }
        for (const { bytes, md5 } of all) expect(hexOf(lanes.end(md5))).toBe(hash('md5', bytes));
      }),
      { numRuns: 60 },
    );
  });
});
