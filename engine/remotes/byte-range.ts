/** Resolves a requested range for an object of a known size. */
import { DrayError } from '../api/error.ts';
import type { ByteRange, RemoteKey } from './object-store.ts';

/**
 * The range cut at the object's end, or the whole object if there is no range. A range that begins past the
 * end fails with `damaged`.
 */
export function resolveRange(key: RemoteKey, sizeBytes: number, range: ByteRange | undefined): ByteRange {
  if (!range) return { start: 0, end: sizeBytes };
  if (range.start >= sizeBytes) {
    throw new DrayError('damaged', `${key} ends before byte ${range.start}.`, { data: { key, sizeBytes } });
  }
  return { start: range.start, end: Math.min(range.end, sizeBytes) };
}

/** Guards memory: an object above the caller's limit fails with `damaged`. */
export function checkReadSize(key: RemoteKey, sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new DrayError('damaged', `${key} is larger than the ${maxBytes} bytes allowed for it.`, {
    data: { key, sizeBytes, maxBytes },
  });
}
