/** The contract of a tree writer; `tree-writer.ts` opens one. */
import type { ErrorRecord } from '../../api/error.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { Authentic } from '../../sealing/sealed-content.ts';
import type { DiskRefusals } from '../disk/disk-refusals.ts';

export interface TreeWriterOptions {
  /** The workspace's folder. It must exist; it may be reached through a link. */
  readonly root: string;
  /**
   * A folder on the same file system for temporary files, such as `<root>/.dray/tmp`. Created when absent.
   */
  readonly temporaryFolder: string;
  /** The temporary folder is created for the first file, and removed at the end if it is empty. */
  readonly isTemporaryFolderOwn?: boolean;
  /**
   * Others change the tree at the same time: nothing is assumed of a folder from one call to the next, and no
   * link that appears diverts a write. Then `root` must be free of links.
   */
  readonly isWatchful?: boolean;
  /** The permissions of a folder that the writer creates, less the umask. Default: those of a new folder. */
  readonly folderModeOf?: (folder: string) => number | undefined;
  /**
   * Sweep the files of dead runs with the first written file instead of at the start: for users that may not
   * write at all.
   */
  readonly isSweptLate?: boolean;
  /**
   * The note in the mark (`unsynced-mark.ts`) that stays in the temporary folder until the written files are
   * synced. Absent: the writer creates no mark, and syncs only when `sync` is called.
   */
  readonly unsyncedNote?: string;
  /** Counts the modes and times that the disk does not keep. */
  readonly refusals?: DiskRefusals | undefined;
  /** The most worker threads; default: one for each core, at most 8. 0: the caller's thread does all work. */
  readonly threads?: number;
  /** Stops the writer: work in flight rejects with `aborted`, and no temporary file remains. */
  readonly signal: AbortSignal;
}

export interface FileMeta {
  /** As in the manifest: relative, `/` between parts. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Nanoseconds since the epoch. */
  readonly mtimeNs: bigint;
  readonly executable: boolean;
  /** Permission bits, set exactly; absent: those of a new file, executable or not, less the umask. */
  readonly mode?: number;
  /**
   * The expected hash of the content. Absent when the caller verifies the content itself, at the latest
   * before `commit`: then nothing is hashed.
   */
  readonly blob?: BlobHash;
}

/** A file inside a buffer that holds several. */
export interface PackedFile extends FileMeta {
  /** The offset of the file's bytes in the buffer. */
  readonly offset: number;
  /** Its bytes in the buffer if they are one zstd frame of its content, which needs a `blob`. */
  readonly storedBytes?: number;
}

/** What the content of a piece must be. */
export interface ExpectedPiece {
  /** SHA-256. */
  readonly hash: BlobHash;
  /** If the bytes are one zstd frame: the size of its content. */
  readonly contentBytes?: number | undefined;
  /** If the bytes are sealed: what opens them. */
  readonly sealed?: SealedPiece | undefined;
}

export interface SealedPiece {
  readonly object: Authentic;
  /** Of the opened bytes. */
  readonly sizeBytes: number;
}

/** The `lstat` of the file in its place, in the form that the scan reads. */
export interface WrittenStat {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly sizeBytes: number;
}

export type WriteResult =
  | { readonly path: string; readonly stat: WrittenStat }
  | { readonly path: string; readonly error: ErrorRecord };

export interface OpenLargeOptions {
  /**
   * Identifies the file's content, together with its path. Written bytes then survive a failure, an abort and
   * a crash, and the next writer that opens the same content resumes from them. Unwritten ranges are zeros:
   * the caller must know what was written.
   */
  readonly content?: string;
  /** The size is given at `commit`, and the meta's is ignored. Cannot be combined with `content`. */
  readonly isOpenEnded?: boolean;
}

/** One file that arrives in pieces. Nothing of it is visible in the workspace until `commit`. */
export interface LargeFile {
  /**
   * Writes one piece. Pieces come in any order and concurrently; a failed piece can be written again. The
   * writer owns the bytes from here on and moves their buffer to another thread where possible.
   * @param expected Without a match, `damaged`, and the piece does not count as written. Sealed bytes are
   * written frame by frame once authenticated, others once they match.
   */
  write(offset: number, bytes: Uint8Array, expected?: ExpectedPiece): Promise<void>;
  /**
   * Writes bytes that count only after `accept`: those of a range that is verified once it is complete. They
   * are consecutive in the pieces, which the caller still owns and can reuse afterwards.
   */
  place(offset: number, pieces: readonly Uint8Array[]): Promise<void>;
  /**
   * Writes the whole content from one stream in order and hashes it; `commit` then compares it with
   * `meta.blob`. Can be called again after the stream failed. `damaged` when it is longer or shorter than the
   * file.
   */
  writeStream(body: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Puts the file in place, only if every byte has been written. `verifyContent` reads the written file back
   * and compares it with `meta.blob`: for pieces without a hash of their own. Fails with `damaged`,
   * `conflict`, `diskFull`, `io` or `aborted`; the temporary file is removed in each case.
   * @param options `sizeBytes`: for a file opened without a size.
   */
  commit(options?: { readonly verifyContent?: boolean; readonly sizeBytes?: number }): Promise<WrittenStat>;
  /**
   * Reads back written bytes: fills `into` from the offset on. For callers that verify the whole before they
   * commit it.
   */
  read(offset: number, into: Uint8Array): Promise<Uint8Array>;
  /**
   * Counts a range as written: bytes that were placed and verified, or bytes of an earlier run that were read
   * back and verified.
   */
  accept(offset: number, lengthBytes: number): void;
  /**
   * For a file that outlives this run: a path for the caller's notes on what is written. Kept and removed
   * with the file.
   */
  readonly notesPath?: string;
  /**
   * Ends the work on it: a file that outlives this run stays for a later one, any other is discarded.
   * Idempotent; no effect after `commit`.
   */
  leave(): Promise<void>;
  /** Removes the written bytes. Idempotent; no effect after `commit`. */
  discard(): Promise<void>;
}

/**
 * Writes the entries of a commit into a folder.
 *
 * - Each file is verified, written to a temporary file and put in place in one step: a path has its old or
 *   its new content, never a part.
 * - Nothing is written or removed through a symbolic link or outside the root.
 * - Files and links in the way are replaced; a folder in the way only when it is empty, otherwise it is a
 *   `conflict`.
 * - A large file's content is on disk before the file takes its place; a small file's only after `sync` or
 *   `close`. A power failure before that may leave a small file with its size and time but without its
 *   content. A mark in the temporary folder then records it.
 *
 * It protects against the content of a commit and of the folder, and, if it is watchful, against another
 * process that swaps folders for links during the work. In a workspace it need not be: such a process could
 * write there by itself.
 */
export interface TreeWriter {
  /**
   * Writes many files from one buffer, such as a pack or a range of one. The writer owns the buffer from here
   * on. Results come in the order of the items, a failed file as its error: `damaged` (not the bytes of its
   * blob), `unsafePath`, `conflict`, `diskFull` or `io`. Rejects only with `aborted` or `internal`.
   */
  writeMany(bytes: Uint8Array, items: readonly PackedFile[]): Promise<readonly WriteResult[]>;
  /** Opens one large file. Fails with `unsafePath`, `conflict`, `diskFull`, `io` or `aborted`. */
  openLarge(meta: FileMeta, options?: OpenLargeOptions): Promise<LargeFile>;
  /**
   * Creates a symbolic link with this target, which is stored and never followed. Throws the errors of
   * `openLarge`.
   * @param target Bytes if they may not be UTF-8: they are stored unchanged.
   */
  writeLink(path: string, target: string | Uint8Array): WrittenStat;
  /** Creates a folder (`a/b/`, the last slash is optional) and its parents. An existing folder is fine. */
  makeFolder(path: string): void;
  /**
   * Removes a file, a link or an empty folder, then the parents that became empty, except the root and
   * folders with writes in flight. A missing item is fine. A folder that is not empty is a `conflict`.
   */
  remove(path: string): void;
  /**
   * A new file name in the temporary folder, which then exists, for a file that the caller writes and moves
   * or removes itself.
   */
  newTemporary(): string;
  /**
   * Syncs all files that are in place to disk. No record may rely on a file before that, and none at all if
   * this throws `io`. Does nothing when there is no new file.
   */
  sync(): Promise<void>;
  /**
   * For callers that keep a writer for days, to call now and then: removes the files of dead runs, and shows
   * that this one is alive.
   */
  tend(nowMs: number): void;
  /**
   * Leaves or discards open large files, waits for work in flight, syncs and stops the threads. Idempotent.
   * Throws the errors of `sync`.
   */
  close(): Promise<void>;
}
