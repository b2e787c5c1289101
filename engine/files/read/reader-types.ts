/** The types of `file-reader.ts`, in a file that threads can import without it. */
import type { ErrorRecord } from '../../api/error.ts';
import type { Budget } from '../../base/budget.ts';
import type { BlobHash, Chunk } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';

export interface ReadRequest {
  /** The caller's id for the file, returned in its results. */
  readonly id: number;
  /** Relative to the root, `/` between parts. */
  readonly path: string;
  /** The scanned size, an estimate. The file is read at its current size. */
  readonly sizeBytes: number;
}

/** The stat of the file as it was read. The doubles equal those of Node's `Stats`. */
export interface ReadStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly mtimeNs: bigint;
  /** The owner's executable bit. */
  readonly executable: boolean;
  /**
   * The mtime is so young that a later change might not move it: this stat proves nothing at the next scan.
   */
  readonly isRacy: boolean;
}

export type ReadResult =
  /**
   * One blob: SHA-256 of the content. `bytes` if requested, for files up to `WHOLE_READ_BYTES_MAX`.
   */
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
   * The file could not be read completely; some of its chunks may have come before. Code `io`, with
   * `data.path` and `data.reason`: `vanished`, `unreadable`, `notAFile`, `changedWhileRead` or `failed` (then
   * `data.errno` as well).
   */
  | { readonly kind: 'failed'; readonly id: number; readonly error: ErrorRecord };

export interface ReadBatch {
  readonly results: readonly ReadResult[];
  /**
   * Returns the batch's bytes to the memory budget for reuse. Nobody may read its `bytes` afterwards. Must be
   * called.
   */
  release(): void;
}

export interface FileReaderOptions {
  /** An absolute path. */
  readonly root: string;
  readonly layout: Layout;
  /** False: only hashes are needed (status, dry run). */
  readonly wantBytes: boolean;
  /** Worker threads; by default one for each core, at most 8. 0 reads on the calling thread. */
  readonly threads?: number;
  /** Bounds the bytes in memory. Taken before they are read, if bytes are requested. */
  readonly memory: Budget;
  readonly signal: AbortSignal;
}
