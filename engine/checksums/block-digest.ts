/**
 * Digests of blocks that lie one after another in memory. XXH3-128 by an own WebAssembly loop that reads them in place (hash-wasm, which
 * copies each block into its own buffer, does a third of that on blocks of 4 KiB), BLAKE3 by hash-wasm, the others by node:crypto.
 * None is opened before it is asked for.
 */
import { hash as hashOf } from 'node:crypto';
import type { Xxh3Blocks } from './xxh3-blocks.ts';
import { XXH3_DIGEST_BYTES, XXH3_SHORT_BYTES_MAX } from './xxh3-wasm.ts';

export const BLOCK_HASHES = ['xxh3', 'blake3', 'sha256', 'sha1', 'md5'] as const;
export type BlockHash = (typeof BLOCK_HASHES)[number];

/** Bytes of one digest. */
export const BLOCK_DIGEST_BYTES: Readonly<Record<BlockHash, number>> = {
  xxh3: XXH3_DIGEST_BYTES,
  blake3: 32,
  sha256: 32,
  sha1: 20,
  md5: 16,
};

/** How the blocks of one transfer are signed, the same at both ends. */
export interface BlockSignature {
  readonly hash: BlockHash;
  /** Of XXH3, 64 bits, drawn anew for each transfer: nobody can prepare blocks that differ and look alike. The others ignore it. */
  readonly seed: bigint;
  readonly blockBytes: number;
}

export interface BlockDigester {
  /** Digests of the blocks from address `at` to `end` of the memory, one after another; the last block may be shorter. */
  digest(at: number, end: number): Uint8Array<ArrayBuffer>;
}

export interface BlockDigesterOptions {
  readonly memory: WebAssembly.Memory;
  /** An address with `BLOCK_DIGEST_OWN_BYTES` that nobody else writes to. */
  readonly ownAt: number;
}

/** XXH3's secret, then digests on their way out. */
const SECRET_BYTES = 256;
const ROW_DIGESTS = 4_096;
export const BLOCK_DIGEST_OWN_BYTES = SECRET_BYTES + ROW_DIGESTS * XXH3_DIGEST_BYTES;

/** Fills `digests` with those of the blocks between two addresses. */
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
  if (hash !== 'xxh3' && hash !== 'blake3') return (bytes) => hashOf(hash, bytes, 'buffer');
  const { createBLAKE3, createXXHash128 } = await import('hash-wasm');
  const hasher =
    hash === 'blake3'
      ? await createBLAKE3()
      : await createXXHash128(Number(BigInt.asUintN(32, seed)), Number(BigInt.asUintN(64, seed) >> 32n));
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
    // No vectors here.
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

/** Of a whole block of zeros: such blocks need not be sent to where zeros are. */
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
