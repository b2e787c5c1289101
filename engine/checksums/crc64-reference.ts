/**
 * CRC-64/NVME by a library, for machines whose WebAssembly has no vectors. Tests compare our own loops with
 * it.
 */

import { combineCrc64, POLYNOMIAL_64 } from './crc-combine.ts';
import type { Crc64Sum } from './crc64-fold.ts';

export async function openReferenceCrc64(): Promise<Crc64Sum> {
  const { createCRC64 } = await import('hash-wasm');
  const hasher = await createCRC64(POLYNOMIAL_64.toString(16));
  return (before, bytes) => {
    const sum = BigInt(`0x${hasher.init().update(bytes).digest('hex')}`);
    return combineCrc64(before, sum, bytes.byteLength);
  };
}
