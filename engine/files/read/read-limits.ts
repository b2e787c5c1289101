/** How a file is read, by its size, and the bounds of memory. */
import type { Layout } from '../../model/layout.ts';

const MIB = 1024 * 1024;

/** Larger files that are not cut are returned without their bytes. */
export const WHOLE_READ_BYTES_MAX = 64 * MIB;

/**
 * A batch ends at either bound: large enough that its message costs nothing beside its read, small enough
 * that threads finish together.
 */
export const BATCH_REQUESTS_MAX = 1000;
export const BATCH_BYTES_MAX = 8 * MIB;

/** Jobs within both bounds are read on the calling thread: starting threads takes longer than such a job. */
export const INLINE_REQUESTS_MAX = 2000;
export const INLINE_BYTES_MAX = 16 * MIB;

/** Read, hashed and cut at once: fits a core's second-level cache. */
export const PIECE_BYTES = MIB;

/** The smallest block in which chunks are returned. */
const BLOCK_BYTES_MIN = 16 * MIB;

/** Settings for both sides of a thread's border; plain data. */
export interface ReaderSettings {
  /** Ends in `/`. */
  readonly root: string;
  readonly layout: Layout;
  readonly wantBytes: boolean;
}

/**
 * `batch`: read whole, together with others. `stream`: hashed in pieces, bytes are not returned. `cut`: cut
 * into chunks.
 */
export type FileClass = 'batch' | 'stream' | 'cut';

export function classOf(sizeBytes: number, settings: ReaderSettings): FileClass {
  const { chunkAbove } = settings.layout;
  if (chunkAbove > 0 && sizeBytes > chunkAbove) return 'cut';
  return sizeBytes <= (settings.wantBytes ? WHOLE_READ_BYTES_MAX : BATCH_BYTES_MAX) ? 'batch' : 'stream';
}

/** The size of the buffer for chunks: any chunk fits. */
export function blockBytesOf({ layout }: ReaderSettings): number {
  return Math.max(BLOCK_BYTES_MIN, layout.chunkSize.max);
}
