/** A repository as the library shows it: refs, versions, and what is in them. */
import { DrayError, quotedExcerpt } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { checkAborted } from '../../engine/base/abort.ts';
import { Budget } from '../../engine/base/budget.ts';
import { findNamedRemote } from '../../engine/jobs/session/named-remote.ts';
import {
  type OpenedRemote,
  openRepositoryAt,
  parseGivenUrl,
} from '../../engine/jobs/session/opened-remote.ts';
import { createVersions, type Versions } from '../../engine/jobs/versions/open-versions.ts';
import type { Version } from '../../engine/jobs/versions/version.ts';
import { kindOfChange } from '../../engine/model/diff.ts';
import { type CommitHash, comparePaths, type Entry } from '../../engine/model/entry.ts';
import { readDescriptor } from '../../engine/repository/descriptor.ts';
import { diffCommits } from '../../engine/repository/diff-commits.ts';
import { BranchCommit, type CommitBuilder } from './commit-builder.ts';
import { checkText, contextOf, type DrayOptions, type StopOptions } from './library-context.ts';

/** A branch or a tag. */
export interface Ref {
  /** Such as `main` or `v1`. */
  readonly name: string;
  /** Of a branch and a tag with one name, a ref given as text means the branch. */
  readonly kind: 'branch' | 'tag';
  /** The hash of the commit that it names. */
  readonly commit: string;
}

/** What a commit says of itself. */
export interface CommitInfo {
  /** SHA-256 of its record, as 64 hexadecimal digits. */
  readonly hash: string;
  /** The hashes of the commits before it: none, one, or two of a merge. */
  readonly parents: readonly string[];
  /** Such as `user@machine`. */
  readonly author: string;
  /** Empty if none was given. */
  readonly message: string;
  /** When it was made, by the clock of the machine that made it. */
  readonly time: Date;
  /** How many files the version has. */
  readonly files: number;
  /** The sum of their sizes, in bytes. */
  readonly bytes: number;
}

/** A file, a symbolic link or a folder of a version. */
export interface VersionEntry {
  /** Relative, with `/` between parts; that of a folder ends in one. */
  readonly path: string;
  /** `link`: a symbolic link. */
  readonly kind: 'file' | 'link' | 'folder';
  /** Of a file; 0 of a link and a folder. */
  readonly sizeBytes: number;
  /** Of a file: when its content was last changed. */
  readonly modified?: Date;
  /** Of a file: whether its owner may execute it. */
  readonly executable?: boolean;
  /**
   * Of a file: 64 hexadecimal digits that are those of another file in this repository only if the contents
   * are equal. The SHA-256 of the content, or for one in chunks that of their hashes.
   */
  readonly hash?: string;
  /** Of a link: the path that it names. */
  readonly target?: string;
}

/** A path that differs between two versions. */
export interface FileChange {
  /** That of a folder, which is empty before or after, ends in `/`. */
  readonly path: string;
  /** `mode`: it became executable, or no longer is. A renamed file is a deleted one and an added one. */
  readonly kind: 'added' | 'modified' | 'deleted' | 'mode';
  /** What the first version has. Absent: nothing. */
  readonly before?: VersionEntry;
  /** What the second version has. Absent: nothing. */
  readonly after?: VersionEntry;
}

/** What of a version to list. */
export interface ListOptions extends StopOptions {
  /** Only what is below this folder. Default: everything. */
  readonly folder?: string;
  /** Files, links and empty folders of all levels. Default: those of one level, and its folders. */
  readonly recursive?: boolean;
}

/** Which bytes of a file to read. */
export interface RangeOptions extends StopOptions {
  /** The offset of the first byte. Default 0. */
  readonly start?: number;
  /** The offset after the last byte. Default, and at most: the file's size. */
  readonly end?: number;
}

/**
 * A repository under one URL. Close it by `close`, or by `await using`.
 *
 * A `ref` is a branch, a tag, or a hash of a commit or its first digits. A branch or a tag is looked up at
 * each call, by two requests. A hash that `resolve` gave needs none: give it to many calls, or to those that
 * must see one version. Besides what is named at a call, all fail with `usage` if an argument is not what its
 * type says or after `close`, with `aborted` by a signal, and with the codes of stores: `unreachable`,
 * `accessDenied`, `noCredentials`, `remoteFailed` and the like.
 */
export interface Repository extends AsyncDisposable {
  /** Without secrets. */
  readonly url: string;
  /** All branches and tags, by name. */
  refs(options?: StopOptions): Promise<readonly Ref[]>;
  /**
   * The hash of the commit that a ref names now.
   * @throws DrayError `notFound`, `forgotten` if a retention policy has removed it, `usage` if the digits
   * are those of several commits
   */
  resolve(ref: string, options?: StopOptions): Promise<string>;
  /** The record of a commit. @throws DrayError as `resolve` */
  show(ref: string, options?: StopOptions): Promise<CommitInfo>;
  /**
   * In byte order of the paths; nothing if there is no such folder. Reads as little of the commit's list as
   * the answer needs.
   * @throws DrayError as `resolve`, `damaged`
   */
  list(ref: string, options?: ListOptions): AsyncGenerator<VersionEntry, void, undefined>;
  /** Undefined if there is nothing at the path. @throws DrayError as `resolve`, `damaged` */
  stat(ref: string, path: string, options?: StopOptions): Promise<VersionEntry | undefined>;
  /**
   * The bytes of a file, or a range of them, in pieces of at most 4 MiB. Reads at most four pieces ahead, all
   * reads of this repository together at most eight, and stops when the loop is left. Content that is read
   * whole is checked against its hash before its last bytes come.
   * @throws DrayError as `resolve`, `notFound` if there is no such file, `damaged`
   */
  read(ref: string, path: string, options?: RangeOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /** Begins a commit on a branch, of content that a program has. */
  commit(branch: string): CommitBuilder;
  /**
   * What differs between two versions, in byte order of the paths. Reads only what of their lists differs.
   * @throws DrayError as `resolve`, `damaged`
   */
  diff(from: string, to: string, options?: StopOptions): AsyncGenerator<FileChange, void, undefined>;
  /** Frees connections. Calls that still run fail. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens a repository by its URL (`s3://`, `file://`, `dray://`, or a path) or by the name of a remote.
 *
 * @throws DrayError `notFound` if there is none, `noPassword`, `wrongPassword`, and those of the stores
 */
export async function openRepository(url: string, options: DrayOptions = {}): Promise<Repository> {
  checkText(url, 'A URL');
  const context = contextOf(options);
  const { directory, signal } = context;
  const named = /^[A-Za-z0-9][A-Za-z0-9._-]+$/.test(url) ? findNamedRemote(context, url) : undefined;
  const remote = await openRepositoryAt(context, named?.url ?? parseGivenUrl(context, url, directory));
  const { store } = remote;
  try {
    if (!(await readDescriptor(store, { signal })))
      throw new DrayError('notFound', `There is no repository at ${store.address}.`, {
        data: { remote: store.address },
      });
    return new OpenRepository(context, remote);
  } catch (error) {
    await store.close();
    throw error;
  }
}

const RESOLVED_MAX = 1_000;
/** The average size of a chunk, which takes one request then. */
const WINDOW_BYTES = 4 * 1024 * 1024;
const WINDOWS_AHEAD = 8;
const READS_AT_ONCE = 8;

interface Call {
  readonly signal: AbortSignal;
}

class OpenRepository implements Repository {
  readonly url: string;
  readonly #context: JobContext;
  readonly #remote: OpenedRemote;
  readonly #versions: Versions;
  readonly #closing = new AbortController();
  /** Hashes that `resolve` has given: a program that reads one version asks for it at each call. */
  readonly #resolved = new Set<string>();

  constructor(context: JobContext, remote: OpenedRemote) {
    this.url = remote.store.address;
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    this.#context = { ...context, signal };
    this.#remote = remote;
    // Files that are read at once take turns, so that many of them need little memory.
    const ahead = new Budget(WINDOWS_AHEAD);
    const reads = new Budget(READS_AT_ONCE);
    this.#versions = createVersions(remote.store, { windowBytes: WINDOW_BYTES, ahead, reads });
  }

  commit(branch: string): CommitBuilder {
    const openRemote = () => {
      this.#call();
      return this.#remote;
    };
    return new BranchCommit(this.#context, openRemote, branch);
  }

  async refs({ signal }: StopOptions = {}): Promise<readonly Ref[]> {
    const refs = await this.#versions.refs(this.#call(signal));
    return refs.map(({ commit, name }) => ({
      name: name.slice(name.indexOf('/') + 1),
      kind: name.startsWith('heads/') ? 'branch' : 'tag',
      commit,
    }));
  }

  async resolve(ref: string, { signal }: StopOptions = {}): Promise<string> {
    return this.#resolve(ref, this.#call(signal));
  }

  async show(ref: string, { signal }: StopOptions = {}): Promise<CommitInfo> {
    const { commit, hash } = await this.#open(ref, this.#call(signal));
    const { author, message, parents, time, totals } = commit;
    const { bytes, files } = totals;
    return { hash, parents, author, message, time: new Date(time), files, bytes };
  }

  async *list(ref: string, { folder = '', recursive = false, signal }: ListOptions = {}) {
    checkText(folder, 'A folder');
    const call = this.#call(signal);
    const version = await this.#open(ref, call);
    const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    const delimiter = recursive ? {} : { delimiter: '/' as const };
    for (let next: { continuesAfter?: string } = {}; ; ) {
      const page = await version.list({ prefix, ...delimiter, ...next }, call);
      const entries = page.entries.filter(({ path }) => path !== prefix).map(entryOf);
      const folders = page.folders.map(folderAt);
      yield* [...entries, ...folders].sort((left, right) => comparePaths(left.path, right.path));
      if (page.next === undefined) return;
      next = { continuesAfter: page.next };
    }
  }

  async stat(ref: string, path: string, { signal }: StopOptions = {}): Promise<VersionEntry | undefined> {
    checkText(path, 'A path');
    const call = this.#call(signal);
    const version = await this.#open(ref, call);
    const entry = await version.find(path, call);
    if (entry) return entryOf(entry);
    if (path === '') return undefined;
    // A folder with content has no entry of its own.
    const prefix = path.endsWith('/') ? path : `${path}/`;
    const { entries } = await version.list({ prefix, limit: 1 }, call);
    return entries.length > 0 ? folderAt(prefix) : undefined;
  }

  async *read(ref: string, path: string, { signal, ...range }: RangeOptions = {}) {
    checkText(path, 'A path');
    checkOffset(range.start, 'start');
    checkOffset(range.end, 'end');
    const call = this.#call(signal);
    const version = await this.#open(ref, call);
    const entry = await version.find(path, call);
    if (entry?.kind !== 'file')
      throw new DrayError('notFound', `The version has no file ${path}.`, { data: { path } });
    yield* version.read(entry, range, call);
  }

  async *diff(from: string, to: string, { signal }: StopOptions = {}) {
    const call = this.#call(signal);
    const [before, after] = await Promise.all([this.#open(from, call), this.#open(to, call)]);
    for await (const changes of diffCommits(this.#remote.store, before.commit, after.commit, call))
      for (const change of changes) {
        const kind = kindOfChange(change);
        if (!kind) continue;
        yield {
          path: change.path,
          kind,
          ...(change.before && { before: entryOf(change.before) }),
          ...(change.after && { after: entryOf(change.after) }),
        };
      }
  }

  async close(): Promise<void> {
    this.#closing.abort(new DrayError('aborted', `The repository ${this.url} was closed.`));
    await this.#remote.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(ref: string, call: Call): Promise<Version> {
    // One that is forgotten since fails where its content is gone.
    const hash = this.#resolved.has(ref) ? (ref as CommitHash) : await this.#resolve(ref, call);
    return this.#versions.open(hash, call);
  }

  async #resolve(ref: string, call: Call): Promise<CommitHash> {
    checkText(ref, 'A ref');
    const hash = await this.#versions.resolve(ref, call);
    if (this.#resolved.size >= RESOLVED_MAX) this.#resolved.clear();
    this.#resolved.add(hash);
    return hash;
  }

  #call(signal?: AbortSignal): Call {
    if (this.#closing.signal.aborted)
      throw new DrayError('usage', `The repository ${this.url} was closed by this program.`);
    const own = this.#context.signal;
    const call = { signal: signal ? AbortSignal.any([signal, own]) : own };
    checkAborted(call.signal);
    return call;
  }
}

/** @throws DrayError `usage` */
function checkOffset(offset: number | undefined, name: string): void {
  if (offset === undefined || (Number.isSafeInteger(offset) && offset >= 0)) return;
  throw new DrayError('usage', `The ${name} of a range is a number of bytes, not ${quotedExcerpt(offset)}.`);
}

function folderAt(path: string): VersionEntry {
  return { path, kind: 'folder', sizeBytes: 0 };
}

function entryOf(entry: Entry): VersionEntry {
  switch (entry.kind) {
    case 'file': {
      const { blob: hash, executable, mtimeNs, path, sizeBytes } = entry;
      return {
        path,
        kind: 'file',
        sizeBytes,
        modified: new Date(Number(mtimeNs / 1_000_000n)),
        executable,
        hash,
      };
    }
    case 'link':
      return { path: entry.path, kind: 'link', sizeBytes: 0, target: entry.target };
    case 'folder':
      return folderAt(entry.path);
  }
}
