/** What a tree writer promises; see `tree-writer.ts` for how it is opened. */
import type { ErrorRecord } from '../../api/error.ts';
import type { BlobHash } from '../../model/entry.ts';

export interface TreeWriterOptions {
  /** The workspace's folder. It must be there; it may itself be reached through a link. */
  readonly root: string;
  /** A folder on the same file system for temporary files, such as `<root>/.dray/tmp`. Made when absent. */
  readonly temporaryFolder: string;
  /** The temporary folder is made for the first file, and removed at the end if it is empty. */
  readonly isTemporaryFolderOwn?: boolean;
  /**
   * Others change the tree meanwhile: nothing is known of a folder from one call to the next, and no link that appears leads a write away. Then
   * `root` has to be without links.
   */
  readonly isWatchful?: boolean;
  /** The permissions of a folder that the writer makes, less the umask. Default: those of a new folder. */
  readonly folderModeOf?: (folder: string) => number | undefined;
  /** What dead runs left is swept with the first file that is written, and not before: for who may write nothing at all. */
  readonly isSweptLate?: boolean;
  /**
   * The note in the mark (`unsynced-mark.ts`) that stays in the temporary folder until the written files are
   * synced. Absent: the writer makes no mark, and syncs only when `sync` is called.
   */
  readonly unsyncedNote?: string;
  /** Worker threads at most; default: one for each core, 8 at most. 0: all work is done by the caller's thread. */
  readonly threads?: number;
  /** Stops the writer: what is under way rejects with `aborted`, and no temporary file stays behind. */
  readonly signal: AbortSignal;
}

export interface FileMeta {
  /** As in the manifest: relative, `/` between parts. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Nanoseconds since the epoch. */
  readonly mtimeNs: bigint;
  readonly executable: boolean;
  /** Permission bits, set exactly; absent: those of a new file, executable or not, as the umask leaves them. */
  readonly mode?: number;
  /** What the content must be. Absent where the caller has seen to that, or will before `commit`: then nothing is hashed. */
  readonly blob?: BlobHash;
}

/** A file inside a buffer that holds several. */
export interface PackedFile extends FileMeta {
  /** Where the file's bytes begin in the buffer. */
  readonly offset: number;
}

/** What `lstat` says once the file is in its place, in the form that the scan reads it in. */
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
   * Stands for the file's content, with its path. What is written then outlives a failure, a stop and a crash, and the next writer that opens
   * the same content goes on from it. Zeros where nothing was written yet: who goes on has to know what was.
   */
  readonly content?: string;
  /** The size is told at `commit`, and that of the meta is nothing. Not together with `content`. */
  readonly isOpenEnded?: boolean;
}

/** One file that arrives in pieces. Until `commit` nothing of it is to be seen in the workspace. */
export interface LargeFile {
  /**
   * Writes one piece. Pieces come in any order and several at a time; a piece that failed may be written again.
   * The bytes belong to the writer from here on: where possible their buffer moves to another thread.
   * @param verify SHA-256 of this piece: `damaged`, and nothing written, when it is another.
   */
  write(offset: number, bytes: Uint8Array, verify?: BlobHash): Promise<void>;
  /**
   * Writes bytes that count only once `accept` has said so: those of a range that is verified when all of it has come. They lie one after
   * another in the pieces, which stay the caller's and may be used again afterwards.
   */
  place(offset: number, pieces: readonly Uint8Array[]): Promise<void>;
  /**
   * Writes the whole content from one stream in order, hashing on the way; `commit` then compares it with
   * `meta.blob`. May be called again after the stream failed. `damaged` when it is longer or shorter than the file.
   */
  writeStream(body: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Puts the file in its place, once every byte has been written, and never otherwise.
   * `verifyContent` reads the written file back and compares it with `meta.blob`: for pieces without a hash of their own.
   * Fails with `damaged`, `conflict`, `diskFull`, `io` or `aborted`; the temporary file is gone in each case.
   * @param options `sizeBytes`: of a file that was opened without one.
   */
  commit(options?: { readonly verifyContent?: boolean; readonly sizeBytes?: number }): Promise<WrittenStat>;
  /** Reads back what was written: fills `into` from the offset on. For those who verify the whole before they commit it. */
  read(offset: number, into: Uint8Array): Promise<Uint8Array>;
  /** Counts as written: bytes that were placed and verified, or that an earlier run wrote, and that were read back and found right. */
  accept(offset: number, lengthBytes: number): void;
  /** Of a file that outlives this run: where who writes it may note what is written. Kept and removed with the file. */
  readonly notesPath?: string;
  /** Ends it for now: a file that outlives this run stays for another one, any other is discarded. Idempotent; nothing after `commit`. */
  leave(): Promise<void>;
  /** Removes what was written. Idempotent; nothing happens after `commit`. */
  discard(): Promise<void>;
}

/**
 * Puts the entries of a commit into a folder.
 *
 * - Each file is verified, written to a temporary file and put in place in one step: a path holds its old or
 *   its new content, never a part.
 * - Nothing is written or removed through a symbolic link, and nothing outside of the root.
 * - Files and links in the way are replaced; a folder in the way only when it is empty, else it is a
 *   `conflict`.
 * - A large file's content is on the disk before the file takes its place; a small file's only after `sync`
 *   or `close`. A power cut before that may leave a small file with its size and time but without its
 *   content. A mark in the temporary folder then says so.
 *
 * It protects against what a commit holds and what lies in the folder, and, if it is watchful, against
 * another process that swaps folders for links while it works. In a workspace it need not be: such a process
 * could write there by itself.
 */
export interface TreeWriter {
  /**
   * Writes many files out of one buffer, such as a pack or a range of one. The buffer belongs to the writer from here on.
   * Results come in the order of the items, a failed file as its error: `damaged` (not the bytes of its blob),
   * `unsafePath`, `conflict`, `diskFull` or `io`. Rejects only with `aborted` or `internal`.
   */
  writeMany(bytes: Uint8Array, items: readonly PackedFile[]): Promise<readonly WriteResult[]>;
  /** Begins one large file. Fails with `unsafePath`, `conflict`, `diskFull`, `io` or `aborted`. */
  openLarge(meta: FileMeta, options?: OpenLargeOptions): Promise<LargeFile>;
  /**
   * Makes a symbolic link with this target, which is stored and never followed. Throws as `openLarge` fails.
   * @param target Bytes where they may be no UTF-8: they are kept as they are.
   */
  writeLink(path: string, target: string | Uint8Array): WrittenStat;
  /** Makes a folder (`a/b/`, the last slash may be left out) and those above it. A folder already there is fine. */
  makeFolder(path: string): void;
  /**
   * Removes a file, a link or an empty folder, then the folders above that became empty, never the root and never one
   * that a write is under way in. Absent: fine. A folder that is not empty: `conflict`.
   */
  remove(path: string): void;
  /** A file name in the temporary folder, which is there then, for a file that the caller writes and moves or removes by itself. */
  newTemporary(): string;
  /**
   * Brings all files that are in their places to the disk. No record may vouch for a file before that, and
   * none at all if this throws `io`. Does nothing when no new file is there.
   */
  sync(): Promise<void>;
  /** To be called now and then by who keeps a writer for days: sweeps what dead runs left, and shows that this one lives. */
  tend(nowMs: number): void;
  /** Leaves or discards large files that are open, waits for work under way, syncs and stops the threads. Idempotent. Throws as `sync`. */
  close(): Promise<void>;
}
