/** The parts of an upload as its completion lists them. */
import type { ChecksumKind, PartInfo } from '../../object-store.ts';

const KINDS: readonly ChecksumKind[] = ['sha256', 'crc32', 'crc64nvme'];

/**
 * By number, with the checksums that all of them have. In an upload that began with a checksum, the store has
 * one for every part, copied ones included. If one is missing, the upload has none, and some servers refuse a
 * completion that lists any.
 */
export function completedParts(parts: readonly PartInfo[]): readonly PartInfo[] {
  const missing = KINDS.filter((kind) => parts.some((part) => part[kind] === undefined));
  const ordered = parts.toSorted((left, right) => left.number - right.number);
  return missing.length === KINDS.length ? ordered.map(withoutSums) : ordered;
}

function withoutSums({ number, etag, sizeBytes }: PartInfo): PartInfo {
  return { number, etag, sizeBytes };
}
