/** A contender: a tool, and the commands by which it does the work of a scenario. */
import type { Command } from '../machines/measure.ts';
import type { PeerName } from '../machines/peers.ts';

/** One tool may take part in several ways: `dray` moves datasets of a repository, `dray copy` plain trees. */
export type ContenderName = 'dray' | 'dray copy' | 'rclone (defaults)' | PeerName;

/** A prefix of a bucket, empty at first. */
export interface Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  /** The endpoint of the server itself: equal to `endpoint` without a latency. */
  readonly serverEndpoint: string;
  readonly region: string;
  /** `AWS_*` and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of a tool's cache of this place, as new as the place. */
  readonly cacheFolder: string;
  /** The server's folder of what is stored here. */
  readonly storeFolder: string;
  /** True when each object is a plain file at its own path in `storeFolder`. */
  readonly storesPlainFiles: boolean;
}

export interface Contender {
  readonly name: ContenderName;
  readonly version: string;
  /** True when each file becomes an object at its own path, which every plain tool can download. */
  readonly isPlain: boolean;
  /** The command that runs once before the first upload, such as making a repository. */
  prepareUpload?(source: string, place: Place): Command;
  upload(source: string, place: Place): Command;
  /** An upload when the place has everything already. */
  uploadAgain(source: string, place: Place): Command;
  /** Into a folder that does not exist yet. */
  download(place: Place, folder: string): Command;
  /** Copies one object from one server to another, or all objects without a name. The same keys open both. */
  copyAcross?(from: Place, to: Place, name?: string): Command;
  /** Updates a folder of `download` with later uploads. */
  update?(place: Place, folder: string): Command;
  /** Where a user of the tool edits the files that `upload` sends. Absent: in the source itself. */
  workspaceOf?(source: string, place: Place): string;
  readonly dryRun?: DryRun;
  readonly query?: RepositoryQuery;
}

/** A dry run of an upload. */
export interface DryRun {
  /** @param by The only property to compare. Absent: the tool's default. */
  command(source: string, place: Place, by?: 'size'): Command;
  /** A sync, which deletes as well, compared by size alone: listings suffice for it. */
  syncBySize(source: string, place: Place): Command;
  /** The files that it would send, touch or remove, relative to the tree's root, in its order. */
  pathsNamed(output: string, place: Place): readonly string[];
}

/** A folder and the hash of each file in hex, by relative path. */
export interface HashedFolder {
  readonly folder: string;
  readonly hashes: ReadonlyMap<string, string>;
}

export type RunUnmeasured = (command: Command) => Promise<unknown>;

/** A query to a tool with one object per content: which contents of a folder its repository lacks. */
export interface RepositoryQuery {
  /** The hash in the objects' names. */
  readonly hash: 'sha256' | 'md5';
  /** The folder below the repository's prefix with each object at `ab/<the rest of its hash>`. */
  readonly objectsFolder: string;
  /** False: empty files need no object. */
  readonly storesEmpty: boolean;
  /** Makes the place a repository with a push when its objects were written by hand. */
  found?(place: Place, folder: string, run: RunUnmeasured): Promise<void>;
  /** Makes the folder known to the tool, and creates the repository if there is none. */
  setUp(local: HashedFolder, place: Place, run: RunUnmeasured): Promise<void>;
  /** Removes what a run has learned about the repository. */
  forget(local: HashedFolder, place: Place): Promise<void>;
  command(local: HashedFolder, place: Place): Command;
  /** The number of contents that it reports as missing. */
  countLacking(output: string): number;
}

/** A tool that is not Dray and that prepares and checks what all contenders are measured by. */
export interface Courier {
  upload(source: string, place: Place): Command;
  download(place: Place, folder: string): Command;
  /**
   * Prints a line for each object with its path and the store's time of the write; nothing for an empty
   * place.
   */
  list(place: Place): Command;
}

export function isDray(name: ContenderName): boolean {
  return name === 'dray' || name === 'dray copy';
}

/** The first group of each line that matches. */
export function matchLines(output: string, pattern: RegExp): readonly string[] {
  return output.split('\n').flatMap((line) => pattern.exec(line)?.[1] ?? []);
}
