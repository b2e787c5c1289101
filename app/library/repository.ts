/** A repository as the library shows it: refs, versions, and what is in them. */
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { findNamedRemote } from '../../engine/jobs/session/named-remote.ts';
import {
  type OpenedRemote,
  openRepositoryAt,
  parseGivenUrl,
} from '../../engine/jobs/session/opened-remote.ts';
import { createVersions, type Versions } from '../../engine/jobs/versions/open-versions.ts';
import type { Version } from '../../engine/jobs/versions/version.ts';
import { kindOfChange } from '../../engine/model/diff.ts';
import { comparePaths, type Entry } from '../../engine/model/entry.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { readDescriptor } from '../../engine/repository/descriptor.ts';
import { diffCommits } from '../../engine/repository/diff-commits.ts';
import { BranchCommit, type CommitBuilder } from './commit-builder.ts';
import { contextOf, type DrayOptions } from './library-context.ts';

/** A branch or a tag. */
export interface Ref {
  readonly name: string;
  readonly kind: 'branch' | 'tag';
  /** The hash of the commit. */
  readonly commit: string;
}

/** What a commit says of itself. */
export interface CommitInfo {
  readonly hash: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly message: string;
  readonly time: Date;
  readonly files: number;
  /** The sum of all sizes. */
  readonly bytes: number;
}

/** A file, a symbolic link or a folder of a version. */
export interface VersionEntry {
  /** Relative, with `/` between parts; that of a folder ends in one. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  readonly sizeBytes: number;
  /** Of a file. */
  readonly modified?: Date;
  /** Of a file. */
  readonly executable?: boolean;
  /** Of a file: the SHA-256 of its content, or for one in chunks that of their hashes. */
  readonly hash?: string;
  /** Of a link. */
  readonly target?: string;
}

/** A path that differs between two versions. */
export interface FileChange {
  readonly path: string;
  /** `mode`: it became executable, or no longer is. */
  readonly kind: 'added' | 'modified' | 'deleted' | 'mode';
  readonly before?: VersionEntry;
  readonly after?: VersionEntry;
}

/** What of a version to list. */
export interface ListOptions {
  /** Only what is below this folder. */
  readonly folder?: string;
  /** All levels. Default: one, with its folders. */
  readonly recursive?: boolean;
  readonly signal?: AbortSignal;
}

/** Half open, in bytes. */
export interface RangeOptions {
  /** Default 0. */
  readonly start?: number;
  /** Default: the file's end, at which it is capped. */
  readonly end?: number;
  readonly signal?: AbortSignal;
}

/** A repository under one URL. Close it by `close`, or by `await using`. */
export interface Repository extends AsyncDisposable {
  readonly url: string;
  /** All branches and tags, by name. */
  refs(): Promise<readonly Ref[]>;
  /**
   * The hash of the commit that a branch, a tag or the first digits of a hash name now. Use it to read one
   * version in several calls.
   * @throws DrayError `notFound`, `usage`, `forgotten`
   */
  resolve(ref: string): Promise<string>;
  /** @throws DrayError as `resolve` */
  show(ref: string): Promise<CommitInfo>;
  /** In byte order of the paths. Reads as little of the commit's list as the answer needs. */
  list(ref: string, options?: ListOptions): AsyncGenerator<VersionEntry, void, undefined>;
  /** Undefined if there is nothing at the path. */
  stat(ref: string, path: string): Promise<VersionEntry | undefined>;
  /**
   * The bytes of a file, or a range of them. Content that is read whole is checked against its hash before
   * its last bytes come.
   * @throws DrayError `notFound` if there is no such file, `damaged`
   */
  read(ref: string, path: string, options?: RangeOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /** Begins a commit on a branch, of content that a program has. */
  commit(branch: string): CommitBuilder;
  /** In byte order of the paths. Reads only what of the two lists differs. */
  diff(from: string, to: string): AsyncGenerator<FileChange, void, undefined>;
  /** Frees connections. */
  close(): Promise<void>;
}

/**
 * Opens a repository by its URL (`s3://`, `file://`, `dray://`, or a path) or by the name of a remote.
 *
 * @throws DrayError `notFound` if there is none, `noPassword`, `wrongPassword`, and those of the stores
 */
export async function openRepository(url: string, options: DrayOptions = {}): Promise<Repository> {
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

class OpenRepository implements Repository {
  readonly url: string;
  readonly #context: JobContext;
  readonly #remote: OpenedRemote;
  readonly #store: ObjectStore;
  readonly #versions: Versions;
  readonly #signal: AbortSignal;

  constructor(context: JobContext, remote: OpenedRemote) {
    const { store } = remote;
    this.url = store.address;
    this.#context = context;
    this.#remote = remote;
    this.#store = store;
    this.#versions = createVersions(store);
    this.#signal = context.signal;
  }

  commit(branch: string): CommitBuilder {
    return new BranchCommit(this.#context, this.#remote, branch);
  }

  async refs(): Promise<readonly Ref[]> {
    const refs = await this.#versions.refs({ signal: this.#signal });
    return refs.map(({ commit, name }) => ({
      name: name.slice(name.indexOf('/') + 1),
      kind: name.startsWith('heads/') ? 'branch' : 'tag',
      commit,
    }));
  }

  resolve(ref: string): Promise<string> {
    return this.#versions.resolve(ref, { signal: this.#signal });
  }

  async show(ref: string): Promise<CommitInfo> {
    const { commit, hash } = await this.#open(ref);
    const { author, message, parents, time, totals } = commit;
    const { bytes, files } = totals;
    return { hash, parents, author, message, time: new Date(time), files, bytes };
  }

  async *list(ref: string, { folder = '', recursive = false, signal }: ListOptions = {}) {
    const version = await this.#open(ref);
    const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    const delimiter = recursive ? {} : { delimiter: '/' as const };
    for (let next: { continuesAfter?: string } = {}; ; ) {
      const page = await version.list({ prefix, ...delimiter, ...next }, this.#call(signal));
      const entries = page.entries.filter(({ path }) => path !== prefix).map(entryOf);
      const folders = page.folders.map((path) => ({ path, kind: 'folder' as const, sizeBytes: 0 }));
      yield* [...entries, ...folders].sort((left, right) => comparePaths(left.path, right.path));
      if (page.next === undefined) return;
      next = { continuesAfter: page.next };
    }
  }

  async stat(ref: string, path: string): Promise<VersionEntry | undefined> {
    const entry = await (await this.#open(ref)).find(path, this.#call());
    return entry && entryOf(entry);
  }

  async *read(ref: string, path: string, { signal, ...range }: RangeOptions = {}) {
    const version = await this.#open(ref);
    const entry = await version.find(path, this.#call(signal));
    if (entry?.kind !== 'file')
      throw new DrayError('notFound', `The version has no file ${path}.`, { data: { path } });
    yield* version.read(entry, range, this.#call(signal));
  }

  async *diff(from: string, to: string) {
    const [before, after] = await Promise.all([this.#open(from), this.#open(to)]);
    const call = { signal: this.#signal };
    for await (const changes of diffCommits(this.#store, before.commit, after.commit, call))
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

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(ref: string): Promise<Version> {
    return this.#versions.open(await this.#versions.resolve(ref, { signal: this.#signal }));
  }

  #call(signal?: AbortSignal): { readonly signal: AbortSignal } {
    return { signal: signal ? AbortSignal.any([signal, this.#signal]) : this.#signal };
  }
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
      return { path: entry.path, kind: 'folder', sizeBytes: 0 };
  }
}
