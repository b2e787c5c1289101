import type { ChecksumKind, PutOptions } from '../object-store.ts';
import { startSum } from '../received-checksum.ts';

/** The checksum of bytes in memory, as a claim. */
export async function computeChecksum(
  kind: ChecksumKind,
  bytes: Uint8Array,
): Promise<NonNullable<PutOptions['checksum']>> {
  const sum = await startSum(kind);
  sum.update(bytes);
  return sum.value();
}
