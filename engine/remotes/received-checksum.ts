/** The store's side of a checksum: computed over the received bytes, compared with the writer's claim. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DrayError } from '../api/error.ts';
import { crc64Nvme, loadCrc64 } from '../checksums/crc64-nvme.ts';
import type { ChecksumKind, ObjectChecksums, PartInfo, PutOptions, RemoteKey } from './object-store.ts';

export interface ReceivedChecksum {
  update(bytes: Uint8Array): void;
  /**
   * Throws `checksumRefused` (retryable: the bytes may arrive intact the next time). Call it once, at the
   * end. @returns The computed checksum, in the form that a store returns; undefined if nothing was claimed.
   */
  verify(key: RemoteKey): ObjectChecksums | undefined;
}

type Claimed = NonNullable<PutOptions['checksum']>;

const UNCHECKED: ReceivedChecksum = { update: () => {}, verify: () => undefined };

export async function receiveChecksum(claimed: Claimed | undefined): Promise<ReceivedChecksum> {
  if (claimed === undefined) return UNCHECKED;
  const sum = await startSum(checksumKindOf(claimed));
  return {
    update: sum.update,
    verify: (key) => {
      const found = sum.value();
      if (sameSum(found, claimed)) return checksumsOf(found);
      throw new DrayError(
        'checksumRefused',
        `The ${NAMES[checksumKindOf(claimed)]} of the received bytes of ${key} does not match the announced one.`,
        { retry: 'retry', data: { key } },
      );
    },
  };
}

export function checksumKindOf(checksum: Claimed): ChecksumKind {
  if ('sha256' in checksum) return 'sha256';
  return 'crc32' in checksum ? 'crc32' : 'crc64nvme';
}

/** The checksum of a part, in the form of its record. */
export function partChecksum(
  claimed: PutOptions['checksum'],
): Pick<PartInfo, 'sha256' | 'crc32' | 'crc64nvme'> {
  if (claimed === undefined || !('sha256' in claimed)) return claimed ?? {};
  return { sha256: Buffer.from(claimed.sha256, 'hex').toString('base64') };
}

export function checksumsOf(sum: Claimed): ObjectChecksums {
  return { covers: 'whole', ...partChecksum(sum) };
}

interface RunningSum {
  update(bytes: Uint8Array): void;
  value(): Claimed;
}

export async function startSum(kind: ChecksumKind): Promise<RunningSum> {
  if (kind === 'sha256') {
    const hash = createHash('sha256');
    return { update: (bytes) => hash.update(bytes), value: () => ({ sha256: hash.digest('hex') }) };
  }
  if (kind === 'crc32') {
    let sum = 0;
    return {
      update: (bytes) => {
        sum = crc32(bytes, sum);
      },
      value: () => ({ crc32: sum }),
    };
  }
  await loadCrc64();
  let sum = 0n;
  return {
    update: (bytes) => {
      sum = crc64Nvme(bytes, sum);
    },
    value: () => ({ crc64nvme: sum }),
  };
}

const NAMES: Readonly<Record<ChecksumKind, string>> = {
  sha256: 'SHA-256',
  crc32: 'CRC-32',
  crc64nvme: 'CRC-64/NVME',
};

function sameSum(found: Claimed, claimed: Claimed): boolean {
  if ('sha256' in found) return 'sha256' in claimed && found.sha256 === claimed.sha256;
  if ('crc32' in found) return 'crc32' in claimed && found.crc32 === claimed.crc32;
  return 'crc64nvme' in claimed && found.crc64nvme === claimed.crc64nvme;
}
