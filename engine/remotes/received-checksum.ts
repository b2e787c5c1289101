/** The store's side of a checksum: computed over what arrived, compared with what the writer claimed. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DrayError } from '../api/error.ts';
import type { PartInfo, PutOptions, RemoteKey } from './object-store.ts';

export interface ReceivedChecksum {
  update(bytes: Uint8Array): void;
  /** Throws `checksumRefused` (retryable: the bytes may arrive whole the next time). Call it once, at the end. */
  verify(key: RemoteKey): void;
}

const UNCHECKED: ReceivedChecksum = { update: () => {}, verify: () => {} };

export function receiveChecksum(claimed: PutOptions['checksum']): ReceivedChecksum {
  if (claimed === undefined) return UNCHECKED;
  if ('sha256' in claimed) {
    const hash = createHash('sha256');
    return {
      update: (bytes) => hash.update(bytes),
      verify: (key) => refuseUnless(hash.digest('hex') === claimed.sha256, key, 'SHA-256'),
    };
  }
  let sum = 0;
  return {
    update: (bytes) => {
      sum = crc32(bytes, sum);
    },
    verify: (key) => refuseUnless(sum === claimed.crc32, key, 'CRC-32'),
  };
}

/** How a part's record tells the checksum that it came with. */
export function partChecksum(claimed: PutOptions['checksum']): Pick<PartInfo, 'sha256' | 'crc32'> {
  if (claimed === undefined) return {};
  if ('crc32' in claimed) return { crc32: claimed.crc32 };
  return { sha256: Buffer.from(claimed.sha256, 'hex').toString('base64') };
}

function refuseUnless(matches: boolean, key: RemoteKey, kind: string): void {
  if (matches) return;
  throw new DrayError(
    'checksumRefused',
    `The ${kind} of the bytes that arrived for ${key} is not the one announced.`,
    {
      retry: 'retry',
      data: { key },
    },
  );
}
