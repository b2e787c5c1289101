/** Whether a file has holes worth keeping: zeros that take no disk space. */

/** The unit of `st_blocks`. */
const SECTOR_BYTES = 512;
const HOLES_BYTES_MIN = 1024 * 1024;
const HOLES_SHARE_MIN = 1 / 8;

/** @param blocks From `stat`; where the system reports none, no file counts as sparse. */
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
