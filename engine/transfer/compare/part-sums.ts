/** Checksums of the parts of an object, and their combination to that of the whole. */
import { crc32 } from 'node:zlib';
import { combineCrc32, combineCrc64 } from '../../checksums/crc-combine.ts';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';

/** Kinds that can be joined: the checksum of two adjacent pieces follows from those of each. */
export type JoinedChecksumKind = 'crc32' | 'crc64nvme';

export type PartSum = { readonly crc32: number } | { readonly crc64nvme: bigint };

/** `crc64nvme` only after `loadCrc64`. */
export function sumPart(kind: JoinedChecksumKind, bytes: Uint8Array): PartSum {
  return kind === 'crc32' ? { crc32: crc32(bytes) } : { crc64nvme: crc64Nvme(bytes) };
}

export interface SummedPart {
  readonly sum: PartSum;
  readonly sizeBytes: number;
}

/** @param parts In the order of their bytes, at least one, all of one kind. */
export function joinSums(parts: readonly SummedPart[]): PartSum {
  return parts.reduce(joinTwo).sum;
}

function joinTwo(first: SummedPart, second: SummedPart): SummedPart {
  const sizeBytes = first.sizeBytes + second.sizeBytes;
  if ('crc32' in first.sum && 'crc32' in second.sum) {
    return { sum: { crc32: combineCrc32(first.sum.crc32, second.sum.crc32, second.sizeBytes) }, sizeBytes };
  }
  if ('crc64nvme' in first.sum && 'crc64nvme' in second.sum) {
    const crc64nvme = combineCrc64(first.sum.crc64nvme, second.sum.crc64nvme, second.sizeBytes);
    return { sum: { crc64nvme }, sizeBytes };
  }
  throw new TypeError('Sums of different kinds cannot be joined.');
}
