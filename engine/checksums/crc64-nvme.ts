/**
 * CRC-64/NVME, which S3 keeps for whole objects. The sum of "123456789" is ae8b14860a799888.
 * Source: NVM Express, NVM Command Set Specification 1.0, section 5.2.1.3.4.
 */
import { type Crc64Sum, openCrc64Sum } from './crc64-fold.ts';
import { openReferenceCrc64 } from './crc64-reference.ts';

let sum: Crc64Sum | undefined;

/** Each thread must await it once before `crc64Nvme`. Takes a few milliseconds. Idempotent. */
export async function loadCrc64(): Promise<void> {
  sum ??= openOwn() ?? (await openReferenceCrc64());
}

function openOwn(): Crc64Sum | undefined {
  try {
    return openCrc64Sum();
  } catch {
    // This machine's WebAssembly has no vectors.
    return undefined;
  }
}

/**
 * Returns an unsigned sum. `previous` is the sum of the bytes before these. A KiB takes half a microsecond.
 */
export function crc64Nvme(bytes: Uint8Array, previous = 0n): bigint {
  if (!sum) throw new TypeError('loadCrc64 has to end first.');
  return sum(previous, bytes);
}

/** 16 hex digits, as peers and journals write a sum. */
export function formatCrc64(sum: bigint): string {
  return sum.toString(16).padStart(16, '0');
}
