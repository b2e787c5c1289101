/** What `file-reader.ts` takes and gives. Apart from it so that the threads' side can name it without importing it. */
import type { ErrorRecord } from '../../api/error.ts';
import type { Budget } from '../../base/budget.ts';
import type { BlobHash, Chunk } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';

export interface ReadRequest {
  /** The caller's own number for the file; comes back in its results. */
  readonly id: number;
  /** Relative to the root, `/` between parts. */
  readonly path: string;
  /** As scanned: a forecast. The file is read at the size that it has by then. */
  readonly sizeBytes: number;
}

/** Of the file as it was read. The doubles are exactly those of Node's `Stats`. */
export interface ReadStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly mtimeNs: bigint;
  /** The owner's executable bit. */
  readonly executable: boolean;
  /** The mtime is so young that a later change might not move it: this stat proves nothing at the next scan. */
  readonly isRacy: boolean;
}

export type ReadResult =
  /** One blob: SHA-256 of the content. `bytes` if wanted and the file is no larger than `WHOLE_BYTES_MAX`. */
  | {
      readonly kind: 'whole';
      readonly id: number;
      readonly stat: ReadStat;
      readonly hash: BlobHash;
      readonly bytes?: Uint8Array;
    }
  /** The next chunk of a large file, in order. */
  | {
      readonly kind: 'chunk';
      readonly id: number;
      readonly hash: BlobHash;
      readonly sizeBytes: number;
      readonly bytes?: Uint8Array;
    }
  /** After a large file's last chunk. The hash is that of its chunks' digests (32 bytes each) in order. */
  | {
      readonly kind: 'chunked';
      readonly id: number;
      readonly stat: ReadStat;
      readonly hash: BlobHash;
      readonly chunks: readonly Chunk[];
    }
  /**
   * The file could not be had whole; chunks of it may have come before. Code `io`, with `data.path` and `data.reason`:
   * `vanished`, `unreadable`, `notAFile`, `changedWhileRead` or `failed` (then `data.errno` as well).
   */
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorRecord };

export interface ReadBatch {
  readonly results: readonly ReadResult[];
  /** Gives the batch's bytes back: to the memory budget, and to be filled anew. Nobody may look at its `bytes` afterwards. Must be called. */
  release(): void;
}

export interface FileReaderOptions {
  /** An absolute path. */
  readonly root: string;
  readonly layout: Layout;
  /** False: only hashes are wanted (status, dry run). */
  readonly wantBytes: boolean;
  /** Worker threads; by default one for each core, 8 at most. 0 reads on the calling thread. */
  readonly threads?: number;
  /** Bytes that may be out. Taken before they are read, if bytes are wanted. */
  readonly memory: Budget;
  readonly signal: AbortSignal;
}
