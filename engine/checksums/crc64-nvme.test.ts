import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { combineCrc64 } from './crc-combine.ts';
import { type Crc64Sum, openCrc64Sum } from './crc64-fold.ts';
import { crc64Nvme, loadCrc64 } from './crc64-nvme.ts';
import { openReferenceCrc64 } from './crc64-reference.ts';
import { FOLD_BYTES, FOLD_DISTANCES, FOLD_STEP_BYTES } from './crc64-wasm.ts';

const text = (ascii: string) => Buffer.from(ascii, 'latin1');

let reference: Crc64Sum;
beforeAll(async () => {
  await loadCrc64();
  reference = await openReferenceCrc64();
});

/** Bytes that look random and come out the same each time. */
function noise(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

describe('CRC-64/NVME', () => {
  it('gives the check values of the catalogues', () => {
    expect(crc64Nvme(text('123456789'))).toBe(0xae8b14860a799888n);
    expect(crc64Nvme(new Uint8Array())).toBe(0n);
    // Test cases of the NVM Command Set Specification 1.0, section 5.2.1.3.5: 4 KiB of zeros, and of ones.
    expect(crc64Nvme(new Uint8Array(4096))).toBe(0x6482d367eb22b64en);
    expect(crc64Nvme(new Uint8Array(4096).fill(0xff))).toBe(0xc0ddba7302eca3acn);
  });

  it('agrees with the library at every length around the borders of its ways', () => {
    const bytes = noise(200_000);
    const borders = [
      0,
      16,
      FOLD_BYTES,
      2 * FOLD_BYTES,
      2 * FOLD_BYTES + FOLD_STEP_BYTES,
      32_768,
      65_536,
      131_072,
    ];
    for (const border of borders) {
      for (let length = Math.max(0, border - 20); length < border + 90; length += 1) {
        const piece = bytes.subarray(0, length);
        expect(crc64Nvme(piece), `${length} bytes`).toBe(reference(0n, piece));
      }
    }
  });

  it('agrees with the library wherever the bytes lie, shared or not, and continues from a sum (property)', () => {
    const bytes = noise(400_000, 7);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const place = {
      at: fc.nat({ max: 9000 }),
      length: fc.nat({ max: 390_000 }),
      first: fc.nat({ max: 9000 }),
    };
    fc.assert(
      fc.property(fc.record(place), fc.boolean(), ({ at, length, first }, isShared) => {
        const piece = (isShared ? shared : bytes).subarray(at, at + length);
        const whole = reference(0n, piece);
        expect(crc64Nvme(piece)).toBe(whole);
        expect(crc64Nvme(piece.subarray(first), crc64Nvme(piece.subarray(0, first)))).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps nothing from one buffer to the next', () => {
    const sum = openCrc64Sum();
    const [long, short] = [noise(150_000, 3), noise(7000, 5)];
    const alone = sum(0n, short);
    sum(0n, long);
    expect(sum(0n, short)).toBe(alone);
  });

  it('stays right after the loops were compiled a second time, for speed', () => {
    const bytes = noise(70_000, 9);
    const expected = reference(0n, bytes);
    for (let round = 0; round < 2000; round += 1) expect(crc64Nvme(bytes)).toBe(expected);
  });
});

describe('the library, for machines without vectors', () => {
  it('continues from a sum too', () => {
    expect(reference(reference(0n, text('1234')), text('56789'))).toBe(0xae8b14860a799888n);
  });
});

describe('the distances of folding', () => {
  it('are multiples of the polynomial: what they add up to leaves no remainder', () => {
    // The sums of a byte alone and of the same byte further from the end, less what the zeros themselves sum
    // to.
    const moved = (bytes: number) => combineCrc64(1n, 0n, bytes);
    const farthest = Math.max(...FOLD_DISTANCES);
    const rest = [0, ...FOLD_DISTANCES].reduce((sum, distance) => sum ^ moved(farthest - distance), 0n);
    expect(rest).toBe(0n);
  });

  it('reach no further back than the history, and never into the vectors of the same step', () => {
    for (const distance of FOLD_DISTANCES) {
      expect(distance).toBeLessThanOrEqual(FOLD_BYTES);
      expect(distance).toBeGreaterThanOrEqual(FOLD_STEP_BYTES);
    }
    expect(FOLD_BYTES % FOLD_STEP_BYTES).toBe(0);
  });
});
