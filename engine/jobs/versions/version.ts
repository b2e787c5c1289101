/**
 * A version: one commit of a repository, read without a checkout. It finds and lists paths with as few
 * segments as the answer needs, and reads ranges of files.
 */
import { checkAborted } from '../../base/abort.ts';
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { type CommitHash, comparePaths, type Entry, type FileEntry } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, readCommit } from '../../repository/commit.ts';
import type { SegmentReader } from '../../repository/manifest/read-entries.ts';
import { forgottenCommit, isForgotten, whileKept } from '../retention/forgotten.ts';
import { type Reading, readEntryBytes } from './read-entry.ts';

export interface VersionListing {
  /** Only paths that begin with this. Default: all. */
  readonly prefix?: string;
  /** Fold the paths that have it behind the prefix into one folder each. */
  readonly delimiter?: '/';
  /** Only paths after this one. */
  readonly startAfter?: string;
  /** `next` of the page before. */
  readonly continuesAfter?: string;
  /** At most so many entries and folders together. Default 1,000. */
  readonly limit?: number;
}

export interface VersionPage {
  /** Files, links and empty folders (whose path ends in `/`), in byte order of their paths. */
  readonly entries: readonly Entry[];
  /** Prefixes that end in the delimiter, in byte order. */
  readonly folders: readonly string[];
  /** The last entry or folder of this page. Absent on the last page. */
  readonly next?: string;
}

export interface Version {
  readonly hash: CommitHash;
  readonly commit: Commit;
  /**
   * Reads the segments that hold the entries of the answer, and for each folder at most the one where it
   * begins and the one where it ends, whatever lies between.
   * @throws `damaged`, `forgotten`
   */
  list(listing: VersionListing, options?: CallOptions): Promise<VersionPage>;
  /** Reads at most one segment. @throws `damaged`, `forgotten` */
  find(path: string, options?: CallOptions): Promise<Entry | undefined>;
  /**
   * The bytes of a file of this version, or those of the range. Content that is read whole is checked against
   * its hash before its last bytes come. @throws `damaged`, `forgotten`
   */
  read(entry: FileEntry, range?: FileRange, options?: CallOptions): AsyncGenerator<Uint8Array>;
}

/** Half open, in bytes. The end is capped at the file's size. */
export interface FileRange {
  readonly start?: number;
  readonly end?: number;
}

const LIMIT = 1_000;

export interface VersionOptions extends CallOptions {
  /** Shared by all versions of one process, so that it can keep what they have in common. */
  readonly readSegment: SegmentReader;
  readonly reading?: Partial<Reading>;
}

/** One request. @throws `notFound`, `damaged` */
export async function openVersion(
  store: ObjectStore,
  hash: CommitHash,
  { readSegment, reading, ...options }: VersionOptions,
): Promise<Version> {
  const commit = await readCommit(store, hash, options);
  const entries = new SortedEntries(commit, readSegment);
  return {
    hash,
    commit,
    list: (listing, call = {}) => whileKept(store, hash, () => listPage(entries, listing, call), call),
    find: (path, call = {}) => whileKept(store, hash, () => entries.find(path, call), call),
    async *read(entry, { start = 0, end = entry.sizeBytes } = {}, { signal = NEVER } = {}) {
      try {
        yield* readEntryBytes(store, entry, { start, end, signal, ...(reading && { reading }) });
      } catch (error) {
        if (await isForgotten(store, hash, { signal }).catch(() => false)) throw forgottenCommit(hash);
        throw error;
      }
    },
  };
}

const NEVER = new AbortController().signal;

/** Where a run begins: at `path`, or with `skips` after everything that begins with it. */
interface Position {
  readonly path: string;
  readonly skips?: true;
}

function positionOf({ continuesAfter, prefix = '', startAfter }: VersionListing): Position {
  const last = continuesAfter ?? startAfter;
  if (last === undefined || comparePaths(last, prefix) < 0) return { path: prefix };
  return continuesAfter?.endsWith('/') ? { path: last, skips: true } : { path: `${last}\0` };
}

async function listPage(
  sorted: SortedEntries,
  listing: VersionListing,
  call: CallOptions,
): Promise<VersionPage> {
  const { delimiter, limit = LIMIT, prefix = '' } = listing;
  const entries: Entry[] = [];
  const folders: string[] = [];
  let at = positionOf(listing);
  let last = '';
  for (;;) {
    checkAborted(call.signal);
    const isFull = entries.length + folders.length >= limit;
    const run = await sorted.runFrom(at, prefix, call);
    if (run.length === 0) return { entries, folders };
    if (isFull) return { entries, folders, next: last };
    for (const entry of run) {
      const { path } = entry;
      if (entries.length + folders.length >= limit) break;
      const slash = delimiter ? path.indexOf(delimiter, prefix.length) : -1;
      last = slash < 0 ? path : path.slice(0, slash + 1);
      at = positionOf({ continuesAfter: last });
      if (slash < 0) {
        entries.push(entry);
        continue;
      }
      folders.push(last);
      break;
    }
  }
}

/** The entries of a commit, which may lie in many segments. */
class SortedEntries {
  readonly #commit: Commit;
  readonly #readSegment: SegmentReader;

  constructor(commit: Commit, readSegment: SegmentReader) {
    this.#commit = commit;
    this.#readSegment = readSegment;
  }

  async find(path: string, call: CallOptions): Promise<Entry | undefined> {
    const { entries, from } = await this.#segmentFrom({ path }, path, call);
    const first = entries[from];
    return first?.path === path ? first : undefined;
  }

  /**
   * Entries from the position on, in order: those of one segment. None: there are no more that begin with the
   * prefix.
   */
  async runFrom(at: Position, prefix: string, call: CallOptions): Promise<readonly Entry[]> {
    const { entries, from } = await this.#segmentFrom(at, prefix, call);
    const end = firstIndexWhere(entries, from, ({ path }) => !path.startsWith(prefix));
    return entries.slice(from, end);
  }

  /** Reads no segment whose bounds show that it has nothing for the prefix. */
  async #segmentFrom(at: Position, prefix: string, call: CallOptions): Promise<Run> {
    const { manifest } = this.#commit;
    if (manifest.kind === 'inline') return runIn(manifest.entries, at);
    const { segments } = manifest;
    const segment = segments[firstIndexWhere(segments, 0, ({ last }) => isReached(last, at))];
    if (!segment) return NOTHING;
    const isPast = comparePaths(segment.first, prefix) > 0 && !segment.first.startsWith(prefix);
    return isPast ? NOTHING : runIn(await this.#readSegment(segment, call), at);
  }
}

/** The entries of a segment, and the index of the first one that is meant. */
interface Run {
  readonly entries: readonly Entry[];
  readonly from: number;
}

const NOTHING: Run = { entries: [], from: 0 };

function runIn(entries: readonly Entry[], at: Position): Run {
  return { entries, from: firstIndexWhere(entries, 0, ({ path }) => isReached(path, at)) };
}

function isReached(path: string, { path: from, skips }: Position): boolean {
  return comparePaths(path, from) >= 0 && !(skips && path.startsWith(from));
}
