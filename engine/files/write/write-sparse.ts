/** Writes bytes and makes holes of their zeros, so that a sparse file that comes back is sparse again. */
import { writeFully } from '../../base/write-fully.ts';
import type { PunchHole } from '../disk/punch-hole.ts';

/** Shorter runs of zeros are written: holes of this size are aligned to the blocks of any disk. */
const BLOCK_BYTES = 64 * 1024;
/** Made when a block may be zeros. */
let zeros: Buffer | undefined;

/** Blocking, as `writeFully`. A hole's last byte is written, so that the file has its size. */
export function writeSparse(
  { fd, punch }: { readonly fd: number; readonly punch: PunchHole | undefined },
  bytes: Uint8Array,
  position: number,
): void {
  let written = 0;
  for (const [start, end] of punch ? zeroRuns(bytes, position) : []) {
    if (!punch!(fd, position + start, end - start)) break;
    if (written < start) writeFully(fd, bytes.subarray(written, start), position + written);
    written = end - 1;
  }
  writeFully(fd, bytes.subarray(written), position + written);
}

/** Runs of whole zero blocks, whose borders are multiples of the block in the file. */
export function* zeroRuns(bytes: Uint8Array, position: number): Generator<readonly [number, number]> {
  const first = (BLOCK_BYTES - (position % BLOCK_BYTES)) % BLOCK_BYTES;
  let runStart: number | undefined;
  let at = first;
  for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) {
    const isZero = isZeroBlock(bytes, at);
    if (isZero) runStart ??= at;
    else if (runStart !== undefined) {
      yield [runStart, at];
      runStart = undefined;
    }
  }
  if (runStart !== undefined) yield [runStart, at];
}

function isZeroBlock(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== 0 || bytes[at + BLOCK_BYTES - 1] !== 0) return false;
  zeros ??= Buffer.alloc(BLOCK_BYTES);
  return zeros.equals(bytes.subarray(at, at + BLOCK_BYTES));
}
