/** Which way a file is read, by its size; and the bounds of what is held at once. */
import type { Layout } from '../../model/layout.ts';

const MIB = 1024 * 1024;

/** Larger files that are not cut come without their bytes. */
export const WHOLE_BYTES_MAX = 64 * MIB;

/** A batch is closed at either: enough that its message costs nothing beside its reading, few enough that threads end together. */
export const BATCH_REQUESTS_MAX = 1000;
export const BATCH_BYTES_MAX = 8 * MIB;

/** Jobs up to both are read on the calling thread: threads take longer to start than such a job takes. */
export const INLINE_REQUESTS_MAX = 2000;
export const INLINE_BYTES_MAX = 16 * MIB;

/** What is read, hashed and cut in one go: fits a core's second-level cache. */
export const PIECE_BYTES = MIB;

/** Chunks are handed over in blocks of this size at least. */
const BLOCK_BYTES_MIN = 16 * MIB;

/** What both sides of a thread's border need to know; plain data. */
export interface ReaderSettings {
  /** Ends in `/`. */
  readonly root: string;
  readonly layout: Layout;
  readonly wantBytes: boolean;
}

/**
 * `batch`: read whole, together with others. `stream`: hashed in pieces, its bytes are not handed over.
 * `cut`: cut into chunks.
 */
export type FileClass = 'batch' | 'stream' | 'cut';

export function classOf(sizeBytes: number, settings: ReaderSettings): FileClass {
  const { chunkAbove } = settings.layout;
  if (chunkAbove > 0 && sizeBytes > chunkAbove) return 'cut';
  return sizeBytes <= (settings.wantBytes ? WHOLE_BYTES_MAX : BATCH_BYTES_MAX) ? 'batch' : 'stream';
}

/** Bytes of the buffer that chunks are read into: any chunk fits. */
export function blockBytesOf({ layout }: ReaderSettings): number {
  return Math.max(BLOCK_BYTES_MIN, layout.chunkSize.max);
}
