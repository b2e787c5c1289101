/**
 * Digests of the blocks of a delta, which lie one after another in memory: XXH3-128 by our WebAssembly loop,
 * which reads them in place, or SHA-256 by node:crypto. hash-wasm takes over where the loop cannot run, and
 * for blocks too short for it.
 */
import { hash as hashOf } from 'node:crypto';
import type { Xxh3Blocks } from './xxh3-blocks.ts';
import { XXH3_DIGEST_BYTES, XXH3_SHORT_BYTES_MAX } from './xxh3-wasm.ts';

export const BLOCK_HASHES = ['xxh3', 'sha256'] as const;
export type BlockHash = (typeof BLOCK_HASHES)[number];

/** Bytes of one digest. */
export const BLOCK_DIGEST_BYTES: Readonly<Record<BlockHash, number>> = {
  xxh3: XXH3_DIGEST_BYTES,
  sha256: 32,
};

/** How both ends of one transfer sign their blocks. */
export interface BlockSignature {
  readonly hash: BlockHash;
  /**
   * 64 bits for XXH3, random for each transfer, so nobody can prepare two blocks with one digest. SHA-256
   * ignores it.
   */
  readonly seed: bigint;
  readonly blockBytes: number;
}

export interface BlockDigester {
  /**
   * The digests of the blocks from address `at` to `end`, one after another. The last block may be shorter.
   */
  digest(at: number, end: number): Uint8Array<ArrayBuffer>;
}

export interface BlockDigesterOptions {
  readonly memory: WebAssembly.Memory;
  /** The address of `BLOCK_DIGEST_OWN_BYTES` for the digester alone. */
  readonly ownAt: number;
}

/** XXH3's secret, then digests on their way out. */
const SECRET_BYTES = 256;
const ROW_DIGESTS = 4_096;
export const BLOCK_DIGEST_OWN_BYTES = SECRET_BYTES + ROW_DIGESTS * XXH3_DIGEST_BYTES;

/** Fills `digests` with the digests of the blocks from `at` to `end`. */
type DigestRow = (at: number, end: number, digests: Uint8Array) => void;

export function digestCount(lengthBytes: number, blockBytes: number): number {
  return Math.ceil(lengthBytes / blockBytes);
}

export async function openBlockDigester(
  signature: BlockSignature,
  options: BlockDigesterOptions,
): Promise<BlockDigester> {
  const { blockBytes, hash } = signature;
  const row = hash === 'xxh3' ? await openXxh3(signature, options) : await openEach(signature, options);
  return {
    digest(at, end) {
      const digests = new Uint8Array(BLOCK_DIGEST_BYTES[hash] * digestCount(end - at, blockBytes));
      row(at, end, digests);
      return digests;
    },
  };
}

/** Block by block. */
async function openEach(signature: BlockSignature, { memory }: BlockDigesterOptions): Promise<DigestRow> {
  const { blockBytes, hash } = signature;
  const sizeBytes = BLOCK_DIGEST_BYTES[hash];
  const digestOf = await openOne(signature);
  const bytes = new Uint8Array(memory.buffer);
  return (at, end, digests) => {
    for (let start = at, to = 0; start < end; start += blockBytes, to += sizeBytes)
      digests.set(digestOf(bytes.subarray(start, Math.min(start + blockBytes, end))), to);
  };
}

async function openOne({ hash, seed }: BlockSignature): Promise<(bytes: Uint8Array) => Uint8Array> {
  if (hash === 'sha256') return (bytes) => hashOf('sha256', bytes, 'buffer');
  const { createXXHash128 } = await import('hash-wasm');
  const [low, high] = [BigInt.asUintN(32, seed), BigInt.asUintN(64, seed) >> 32n];
  const hasher = await createXXHash128(Number(low), Number(high));
  return (bytes) => hasher.init().update(bytes).digest('binary');
}

async function openXxh3(signature: BlockSignature, options: BlockDigesterOptions): Promise<DigestRow> {
  const { blockBytes, seed } = signature;
  const each = await openEach(signature, options);
  if (blockBytes <= XXH3_SHORT_BYTES_MAX) return each;
  const { memory, ownAt } = options;
  const { openXxh3Blocks } = await import('./xxh3-blocks.ts');
  let loops: Xxh3Blocks;
  try {
    loops = openXxh3Blocks({ memory, ownAt });
  } catch {
    // This processor has no vectors.
    return each;
  }
  loops.seed(seed);
  const bytes = new Uint8Array(memory.buffer);
  const rowAt = ownAt + SECRET_BYTES;
  return (at, end, digests) => {
    const tailBytes = (end - at) % blockBytes;
    const longEnd = tailBytes <= XXH3_SHORT_BYTES_MAX ? end - tailBytes : end;
    let to = 0;
    for (let start = at; start < longEnd; ) {
      const stop = Math.min(start + ROW_DIGESTS * blockBytes, longEnd);
      loops.blocks(start, stop, blockBytes, rowAt);
      const rowEnd = rowAt + XXH3_DIGEST_BYTES * digestCount(stop - start, blockBytes);
      digests.set(bytes.subarray(rowAt, rowEnd), to);
      to += rowEnd - rowAt;
      start = stop;
    }
    if (longEnd < end) each(longEnd, end, digests.subarray(to));
  };
}

const zeroDigests = new Map<string, Promise<Uint8Array>>();
const ZERO_DIGESTS_KEPT = 16;

/** The digest of a whole block of zeros. Such blocks need not be sent to a file that has zeros there. */
export function zeroBlockDigest(signature: BlockSignature): Promise<Uint8Array> {
  const { blockBytes, hash, seed } = signature;
  const key = `${hash} ${seed} ${blockBytes}`;
  const known = zeroDigests.get(key);
  if (known) return known;
  if (zeroDigests.size >= ZERO_DIGESTS_KEPT) zeroDigests.clear();
  const digest = openOne(signature).then((digestOf) => digestOf(new Uint8Array(blockBytes)));
  zeroDigests.set(key, digest);
  return digest;
}
