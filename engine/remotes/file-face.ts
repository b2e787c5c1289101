/** What a store of another machine's files can do beyond objects: many files to a request, with their times and modes. */
import type { ErrorRecord } from '../api/error.ts';
import type { BlockSignature } from '../checksums/block-digest.ts';
import type { DeltaFile, DeltaTarget } from '../model/delta-sides.ts';
import type { SpecialItem } from '../model/tree-item.ts';

/** Under which a file's permission bits, in octal digits, go with it as an object. */
export const MODE_METADATA = 'mode';

/** As the store's own calls have it, which this is a part of. */
export interface FileCall {
  readonly signal?: AbortSignal;
}

export interface FileFace {
  /** Stands for the machine and what it offers: the faces of one and the same have the same. */
  readonly machine: string;
  /** Where a key lies there. */
  pathOf(key: string): string;
  /** Whether the machine refuses every write. One request. */
  isReadOnly(options: FileCall): Promise<boolean>;
  /** Of one call. */
  readonly filesMax: number;
  readonly bytesMax: number;
  /**
   * All of it in order, or what comes after a key: files, links and empty folders, or with `folders` all folders, that of the tree itself
   * first, under ''. One request, answered while the other machine still looks. A machine that knows nothing of `folders` tells of those that
   * are empty, and of no ''.
   */
  entries(options: EntriesOptions): AsyncGenerator<readonly FileEntry[]>;
  /** Each file is written whole or not at all; results stand in their order. One request. */
  write(files: readonly FileToWrite[], options: FileCall): Promise<readonly FileWritten[]>;
  /** Results in the order asked for: at least one, and fewer than asked for when they would be too large together. One request. */
  read(keys: readonly string[], options: FileCall): Promise<readonly FileRead[]>;
  /** Copies a file or a link there, over what lies at `to`; nothing travels. What is not there is no error. One request. */
  keep(file: FileToKeep, options: FileCall): Promise<void>;
  /** Sets what is given of a file, whose content stays. Its etag after that. One request. */
  touch(key: string, to: FileTouch, options: FileCall): Promise<string>;
  /**
   * Resolves once all that `write` wrote so far is on the machine's disk, or if the machine is too old to
   * know this call. One request.
   */
  sync(options: FileCall): Promise<void>;
  readonly folders: FolderFace;
  /** Sides of block deltas at the other machine. The signal is for all of their calls; whoever opened one ends it. */
  readonly deltas: DeltaFace;
}

/** Folders' own modes and times. Keys are '' or end in `/`. At most `filesMax` in one call, which is one request. */
export interface FolderFace {
  /** The tree is all that the other machine offers: that folder's own mode and time are the machine's, and cannot be set. */
  readonly isRootTheirs: boolean;
  /** In their order; undefined for what is no folder. */
  read(keys: readonly string[], options: FileCall): Promise<readonly (FolderState | undefined)[]>;
  /** Sets what is given, in this order; a folder that is not there is made. What kept one from it stands in its place. */
  set(folders: readonly FolderToSet[], options: FileCall): Promise<readonly (ErrorRecord | undefined)[]>;
}

export interface FolderState {
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
}

export interface FolderToSet extends Partial<FolderState> {
  readonly key: string;
}

export interface DeltaFace {
  source(key: string, signature: BlockSignature, options: FileCall): Promise<DeltaFile>;
  target(key: string, target: DeltaTargetWish, options: FileCall): Promise<DeltaTarget>;
}

export interface DeltaTargetWish {
  readonly signature: BlockSignature;
  /** Of the new file. */
  readonly mtimeNs: bigint;
  /** Permission bits. */
  readonly mode: number;
  readonly isDryRun: boolean;
}

export interface FileToKeep {
  /** As `pathOf` of a face of the same machine has it. */
  readonly fromPath: string;
  readonly to: string;
}

export interface EntriesOptions extends FileCall {
  readonly after?: string;
  /** Told at the end of what could not be read, a sentence for each: what lies there is missing. */
  readonly onProblem?: (message: string) => void;
  /** Folders that hold something as well. */
  readonly folders?: boolean;
}

export interface FileTouch {
  readonly mtimeNs?: bigint;
  /** Permission bits. */
  readonly mode?: number;
}

export interface FileEntry {
  /** A folder's ends in `/`; '' is the tree's own. */
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly etag: string;
  readonly mode: number;
  readonly special?: SpecialItem;
}

/** A file, or with `special` what that says. */
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
      /** '' while the file is too young to vouch for. */
      readonly etag: string;
    }
  | { readonly error: ErrorRecord };
