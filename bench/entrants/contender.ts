/** What takes part: a tool, and how it is told to do the work of a scenario. */
import type { Command } from '../machines/measure.ts';
import type { PeerName } from '../machines/peers.ts';

/** One tool may take part in more than one way: `dray` moves datasets of a repository, `dray copy` plain trees. */
export type ContenderName = 'dray' | 'dray copy' | 'rclone (defaults)' | PeerName;

/** A prefix of a bucket, empty at first. */
export interface Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  /** Of the server itself: the same, unless latency lies between. */
  readonly serverEndpoint: string;
  readonly region: string;
  /** `AWS_*` and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a tool remembers of this place lies here: as new as the place. */
  readonly cacheFolder: string;
  /** Where the server keeps what is stored here. */
  readonly storeFolder: string;
  /** True when each object is a plain file of its own path in `storeFolder`. */
  readonly storesPlainFiles: boolean;
}

export interface Contender {
  readonly name: ContenderName;
  readonly version: string;
  /** True when each file becomes an object of its own path, which every plain tool can then fetch. */
  readonly isPlain: boolean;
  /** What comes once before the first upload: a repository to upload to. */
  prepareUpload?(source: string, place: Place): Command;
  upload(source: string, place: Place): Command;
  /** When everything is there already. */
  uploadAgain(source: string, place: Place): Command;
  /** Into a folder that does not exist yet. */
  download(place: Place, folder: string): Command;
  /** One object from one server to another, or without a name all of them; the same keys open both. */
  copyAcross?(from: Place, to: Place, name?: string): Command;
  /** Brings what was uploaded since into a folder that `download` made. */
  update?(place: Place, folder: string): Command;
  /** Where a user of the tool edits what `upload` sends; absent: the source itself. */
  workspaceOf?(source: string, place: Place): string;
  readonly dryRun?: DryRun;
  readonly query?: RepositoryQuery;
}

/** Says what an upload would do, and does nothing. */
export interface DryRun {
  /** @param by Compared by this alone; absent: as the tool does. */
  command(source: string, place: Place, by?: 'size'): Command;
  /** As `sync`, which deletes as well, compared by size alone: listings tell everything that it takes. */
  syncBySize(source: string, place: Place): Command;
  /** The files that it said it would send, set the time of or remove, below the tree's root, in its order. */
  pathsNamed(output: string, place: Place): readonly string[];
}

/** What is in a folder: the hash of each file, in hex, by its path below the folder. */
export interface HashedFolder {
  readonly folder: string;
  readonly hashes: ReadonlyMap<string, string>;
}

export type RunUnmeasured = (command: Command) => Promise<unknown>;

/** How a tool that keeps one object for each content is asked what its repository lacks of a folder. */
export interface RepositoryQuery {
  /** By which objects are named. */
  readonly hash: 'sha256' | 'md5';
  /** Below the repository's prefix: each object at `ab/<the rest of its hash>`. */
  readonly objectsFolder: string;
  /** False: what is empty needs no object. */
  readonly storesEmpty: boolean;
  /** Where objects are written that nobody pushed: makes of the place a repository that was pushed to. */
  found?(place: Place, folder: string, run: RunUnmeasured): Promise<void>;
  /** Lets the tool know of the folder; makes the repository where there is none. */
  setUp(local: HashedFolder, place: Place, run: RunUnmeasured): Promise<void>;
  /** What a run has learned of the repository. */
  forget(local: HashedFolder, place: Place): Promise<void>;
  command(local: HashedFolder, place: Place): Command;
  /** How many contents it said that the repository lacks. */
  countLacking(output: string): number;
}

/** A tool of other people's that prepares and checks what all are measured by. */
export interface Courier {
  upload(source: string, place: Place): Command;
  download(place: Place, folder: string): Command;
  /** Prints a line for each object with its path and when the store says that it was written; nothing where none is. */
  list(place: Place): Command;
}

export function isDray(name: ContenderName): boolean {
  return name === 'dray' || name === 'dray copy';
}

/** Of each line that the pattern matches, what its first group holds. */
export function matchLines(output: string, pattern: RegExp): readonly string[] {
  return output.split('\n').flatMap((line) => pattern.exec(line)?.[1] ?? []);
}
