/**
 * Further calls of a store that is another machine's folder: many files in one request, with their times and
 * modes.
 */
import type { ErrorRecord } from '../api/error.ts';
import type { BlockSignature } from '../checksums/block-digest.ts';
import type { DeltaFile, DeltaTarget } from '../model/delta-sides.ts';
import type { HeldPart } from '../model/held-part.ts';
import type { SpecialItem } from '../model/tree-item.ts';

/** The metadata key of a file's permission bits, in octal digits. */
export const MODE_METADATA = 'mode';

/** Relative to the prefix of the store that this is a part of. */
export interface FileCall {
  readonly signal?: AbortSignal;
}

export interface FileCalls {
  /** Identifies the machine and its served folder: equal for all stores of the same one. */
  readonly machine: string;
  /** The path of a key there. */
  pathOf(key: string): string;
  /** Whether the machine refuses every write. One request. */
  isReadOnly(options: FileCall): Promise<boolean>;
  /** The limit of one call. */
  readonly filesMax: number;
  readonly bytesMax: number;
  /**
   * All of it in order, or from after a key: files, links and empty folders, or with `folders` all folders,
   * the root first, under ''. One request, answered while the other machine still walks. A machine that does
   * not know `folders` lists empty ones, and no ''.
   */
  entries(options: EntriesOptions): AsyncGenerator<readonly ServedEntry[]>;
  /** A link or an empty folder by its key. Absent where only `entries` knows them. */
  findSpecial?(key: string, options: FileCall): Promise<ServedEntry | undefined>;
  /** Each file is written in full or not at all; results are in the order of the items. One request. */
  write(files: readonly FileToWrite[], options: FileCall): Promise<readonly FileWritten[]>;
  /**
   * Results in the requested order: at least one, and fewer than requested if they would be too large
   * together. One request.
   */
  read(keys: readonly string[], options: FileCall): Promise<readonly FileRead[]>;
  /**
   * Copies a file or a link there, over anything at `to`; nothing travels. A missing source is not an error.
   * One request.
   */
  keep(file: FileToKeep, options: FileCall): Promise<void>;
  /** Sets the given fields of a file, whose content stays. Returns its new etag. One request. */
  touch(key: string, to: FileTouch, options: FileCall): Promise<string>;
  /**
   * Resolves once everything that `write` wrote so far is on the machine's disk, or if the machine is too old
   * for this call. One request.
   */
  sync(options: FileCall): Promise<void>;
  readonly folders: FolderCalls;
  /**
   * Sides of block deltas at the other machine. The signal applies to all of their calls; the opener ends
   * them.
   */
  readonly deltas: DeltaCalls;
}

/**
 * Modes and times of folders. Keys are '' or end in `/`. At most `filesMax` in one call, which is one
 * request.
 */
export interface FolderCalls {
  /** The tree is the whole served folder: its own mode and time belong to the machine, and cannot be set. */
  readonly isRootTheirs: boolean;
  /** In their order; undefined if it is not a folder. */
  read(keys: readonly string[], options: FileCall): Promise<readonly (FolderStat | undefined)[]>;
  /** Sets the given fields, in this order; a missing folder is created. An error is returned in its place. */
  set(folders: readonly FolderToSet[], options: FileCall): Promise<readonly (ErrorRecord | undefined)[]>;
}

export interface FolderStat {
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
}

export interface FolderToSet extends Partial<FolderStat> {
  readonly key: string;
}

export interface DeltaCalls {
  source(key: string, signature: BlockSignature, options: FileCall): Promise<DeltaFile>;
  target(key: string, target: DeltaTargetWish, options: FileCall): Promise<DeltaTarget>;
}

export interface DeltaTargetWish {
  readonly signature: BlockSignature;
  /** The time of the new file. */
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
  readonly isDryRun: boolean;
}

export interface FileToKeep {
  /** In the form of `pathOf` of a store of the same machine. */
  readonly fromPath: string;
  readonly to: string;
}

export interface EntriesOptions extends FileCall {
  readonly after?: string;
  /** Called at the end with a sentence for each entry that could not be read, and is missing. */
  readonly onProblem?: (message: string) => void;
  /** Asks which parts of datasets lie there. Called at the end; an older machine never tells. */
  readonly onPart?: (part: HeldPart) => void;
  /** Include folders with contents. */
  readonly folders?: boolean;
}

export interface FileTouch {
  readonly mtimeNs?: bigint;
  /** Permission bits. */
  readonly mode?: number;
}

export interface ServedEntry {
  /** A folder's ends in `/`; '' is the root. */
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly etag: string;
  readonly mode: number;
  readonly special?: SpecialItem;
}

/** A file, or what `special` says. */
export interface FileToWrite {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode?: number;
  readonly special?: SpecialItem;
}

export type FileWritten = { readonly etag: string } | { readonly error: ErrorRecord };

export type FileRead =
  | {
      readonly bytes: Uint8Array;
      readonly mtimeNs: bigint;
      readonly mode: number;
      /** '' while the file is too recent to vouch for its content. */
      readonly etag: string;
    }
  | { readonly error: ErrorRecord };
