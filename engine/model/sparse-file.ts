/** Whether a file has holes that are worth keeping: zeros that take no room on the disk. */

/** Of `st_blocks`. */
const SECTOR_BYTES = 512;
const HOLES_BYTES_MIN = 1024 * 1024;
const HOLES_SHARE_MIN = 1 / 8;

/** @param blocks As `stat` tells them; a system that tells none has no sparse files. */
export function isSparse({
  blocks,
  sizeBytes,
}: {
  readonly sizeBytes: number;
  readonly blocks: number | undefined;
}): boolean {
  if (blocks === undefined || !Number.isFinite(blocks)) return false;
  const holesBytes = sizeBytes - blocks * SECTOR_BYTES;
  return holesBytes >= HOLES_BYTES_MIN && holesBytes >= sizeBytes * HOLES_SHARE_MIN;
}
