import fc from 'fast-check';
import { createXXHash128 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { openXxh3Blocks } from './xxh3-blocks.ts';
import { XXH3_DIGEST_BYTES, XXH3_SHORT_BYTES_MAX } from './xxh3-wasm.ts';

const MEMORY = new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });
const BYTES = new Uint8Array(MEMORY.buffer);
const DATA_AT = 1024;
const DATA_BYTES = 128 * 1024;
const OUT_AT = DATA_AT + DATA_BYTES;

describe('openXxh3Blocks', () => {
  it('gives the digests that hash-wasm gives, for any seed, length and block', async () => {
    const xxh3 = openXxh3Blocks({ memory: MEMORY, ownAt: 0 });
    const lengths = fc.integer({ min: XXH3_SHORT_BYTES_MAX + 1, max: 9_000 });
    const blocks = fc.oneof(lengths, fc.constantFrom(241, 256, 1024, 1025, 1088, 2048, 4096, 65_536));
    const property = fc.asyncProperty(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      blocks,
      fc.integer({ min: 0, max: 5 }),
      fc.integer(),
      async (seed, blockBytes, count, noise) => {
        const start = DATA_AT + (noise & 7);
        const rest = Math.min(blockBytes, XXH3_SHORT_BYTES_MAX + 1 + (Math.abs(noise) % 4000));
        const length = Math.min(DATA_BYTES - 8, count * blockBytes + rest);
        const whole = length % blockBytes > XXH3_SHORT_BYTES_MAX ? length : blockBytes;
        fill(start, start + whole, noise);
        xxh3.seed(seed);
        xxh3.blocks(start, start + whole, blockBytes, OUT_AT);
        const reference = await createXXHash128(Number(seed & 0xffffffffn), Number(seed >> 32n));
        for (let at = 0, index = 0; at < whole; at += blockBytes, index += 1) {
          reference.init();
          reference.update(BYTES.slice(start + at, start + Math.min(at + blockBytes, whole)));
          const digest = OUT_AT + XXH3_DIGEST_BYTES * index;
          expect(Buffer.from(BYTES.slice(digest, digest + XXH3_DIGEST_BYTES)).toString('hex')).toBe(
            reference.digest(),
          );
        }
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});

function fill(start: number, end: number, seed: number): void {
  let state = seed | 1;
  for (let at = start; at < end; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    BYTES[at] = state >>> 24;
  }
}
