/**
 * A repository as a bucket: its keys are `REF/PATH`, where REF is a branch, a tag or a commit. Branches are
 * followed as they move; a commit is what it is.
 */
import { LRUCache } from 'lru-cache';
import { DrayError } from '../api/error.ts';
import type { Versions } from '../jobs/versions/open-versions.ts';
import type { Version } from '../jobs/versions/version.ts';
import { type CommitHash, comparePaths, type Entry } from '../model/entry.ts';
import { S3Error } from './s3-error.ts';

/** How long a name stands for the commit that it was last seen at. The look-up takes the rest of a second. */
const REF_MS = 900;
/** A name in use is looked up again when so much of that time is left, so that no request waits for it. */
const REFRESH_MS = 450;
const NAMES_MAX = 10_000;
/** `REF~N`, without the name. */
const STEPS_BACK = /^(?:~\d*)*\//;
/** A commit that was asked for by its hash is looked for once, and so is what is no name at all. */
const HASH = /^[0-9a-f]{64}$/;

export interface Located {
  readonly version: Version;
  /** The name of the version in the key. */
  readonly ref: string;
  /** The rest of the key. */
  readonly path: string;
}

export interface BucketKey {
  readonly key: string;
  /** Absent: a folder of keys, which ends in `/`. */
  readonly entry?: Exclude<Entry, { readonly kind: 'link' }>;
}

export interface KeyListing {
  readonly prefix: string;
  readonly isFolded: boolean;
  readonly startAfter?: string;
  readonly continuesAfter?: string;
  readonly limit: number;
  /** Where the page before ended. */
  readonly pinned?: PinnedRef;
}

export interface KeyPage {
  /** In byte order. */
  readonly keys: readonly BucketKey[];
  /** The last one. Absent on the last page. */
  readonly next?: string;
  /** The version in which the page ended, if it was in one. */
  readonly pinned?: PinnedRef;
}

/** A listing goes on in the commit in which it began, also if the ref has moved or is gone. */
export interface PinnedRef {
  readonly ref: string;
  readonly commit: string;
}

export class Bucket {
  readonly name: string;
  readonly #versions: Versions;
  /** False: no such ref. */
  readonly #commits: LRUCache<string, { readonly hash: CommitHash | undefined }>;
  readonly #refreshing = new Set<string>();
  readonly #nowMs: () => number;
  #refs: { readonly names: Promise<readonly string[]>; readonly atMs: number } | undefined;

  constructor(name: string, versions: Versions, nowMs: () => number) {
    this.name = name;
    this.#versions = versions;
    this.#nowMs = nowMs;
    this.#commits = new LRUCache({
      max: NAMES_MAX,
      ttl: REF_MS,
      ttlResolution: 0,
      perf: { now: nowMs },
      fetchMethod: async (ref) => ({ hash: await this.#resolve(ref) }),
      ignoreFetchAbort: true,
    });
  }

  /** Undefined if no ref is the beginning of the key. Of two refs `a` and `a/b` the shorter wins. */
  async locate(key: string): Promise<Located | undefined> {
    for await (const ref of this.#candidates(key)) {
      const found = this.#known(ref) ?? (await this.#commits.fetch(ref));
      if (found?.hash)
        return { version: await this.#versions.open(found.hash), ref, path: key.slice(ref.length + 1) };
    }
    return undefined;
  }

  #known(ref: string): { readonly hash: CommitHash | undefined } | undefined {
    const found = this.#commits.get(ref);
    if (found && !this.#refreshing.has(ref) && this.#commits.getRemainingTTL(ref) < REFRESH_MS) {
      this.#refreshing.add(ref);
      // If it fails, the next request looks for itself.
      void this.#commits
        .fetch(ref, { forceRefresh: true })
        .catch(() => {})
        .finally(() => this.#refreshing.delete(ref));
    }
    return found;
  }

  /** A name with a slash is asked for only if there is such a ref, so no key costs many requests. */
  async *#candidates(key: string): AsyncGenerator<string> {
    let slash = key.indexOf('/');
    if (slash <= 0) return;
    yield key.slice(0, slash);
    slash = key.indexOf('/', slash + 1);
    if (slash < 0) return;
    const names = await this.refNames();
    for (const name of names) {
      if (!name.includes('/') || !key.startsWith(name)) continue;
      const [steps] = STEPS_BACK.exec(key.slice(name.length)) ?? [];
      if (steps !== undefined) yield name + steps.slice(0, -1);
    }
  }

  async list(listing: KeyListing): Promise<KeyPage> {
    const { pinned, prefix } = listing;
    const isPinned = pinned !== undefined && prefix.startsWith(`${pinned.ref}/`);
    const inside = isPinned ? await this.#openPinned(pinned, prefix) : await this.locate(prefix);
    return inside ? this.#listVersion(inside, listing) : this.#listRefs(listing);
  }

  async #openPinned({ commit, ref }: PinnedRef, key: string): Promise<Located> {
    return { version: await this.#versions.open(commitOf(commit)), ref, path: key.slice(ref.length + 1) };
  }

  async #listVersion({ path, ref, version }: Located, listing: KeyListing): Promise<KeyPage> {
    const { continuesAfter, isFolded, limit, startAfter } = listing;
    const base = `${ref}/`;
    const after = continuesAfter ?? startAfter ?? '';
    if (comparePaths(after, base) > 0 && !after.startsWith(base)) return { keys: [] };
    const page = await version.list({
      prefix: path,
      limit,
      ...(isFolded && { delimiter: '/' }),
      ...afterBelow(base, { startAfter, continuesAfter }),
    });
    const files = page.entries.flatMap((entry) =>
      entry.kind === 'link' ? [] : [{ key: base + entry.path, entry }],
    );
    const folders = page.folders.map((folder) => ({ key: base + folder }));
    return {
      keys: inOrder([...files, ...folders]),
      ...(page.next !== undefined && {
        next: base + page.next,
        pinned: { ref, commit: version.hash },
      }),
    };
  }

  /** Names of refs, or with no delimiter the files of all of them. */
  async #listRefs(listing: KeyListing): Promise<KeyPage> {
    const { continuesAfter, isFolded, limit, pinned, prefix, startAfter = '' } = listing;
    const keys: BucketKey[] = [];
    const after = continuesAfter ?? startAfter;
    for (const name of await this.#namesWith(pinned)) {
      const base = `${name}/`;
      if (!base.startsWith(prefix)) continue;
      if (keys.length >= limit) return { keys, next: keys.at(-1)!.key };
      if (isFolded) {
        const folder = base.slice(0, base.indexOf('/', prefix.length) + 1);
        const isPast = comparePaths(folder, after) > 0 || (!continuesAfter && after.startsWith(folder));
        if (isPast && keys.at(-1)?.key !== folder) keys.push({ key: folder });
        continue;
      }
      if (comparePaths(base, after) < 0 && !after.startsWith(base)) continue;
      const isPinned = pinned?.ref === name;
      const located = isPinned ? await this.#openPinned(pinned, base) : await this.locate(base);
      if (!located) continue;
      const rest = { prefix: base, isFolded, limit: limit - keys.length };
      const page = await this.#listVersion(located, { ...rest, startAfter: after });
      keys.push(...page.keys);
      if (page.next !== undefined) return { ...page, keys };
    }
    return { keys };
  }

  /** Also the ref in which the page before ended, which may be gone. */
  async #namesWith(pinned: PinnedRef | undefined): Promise<readonly string[]> {
    const names = await this.refNames();
    return pinned && !names.includes(pinned.ref) ? inKeyOrder([...names, pinned.ref]) : names;
  }

  /** Branches and tags in the order of their keys, without those that a shorter name hides. */
  refNames(): Promise<readonly string[]> {
    const nowMs = this.#nowMs();
    if (this.#refs && nowMs - this.#refs.atMs < REF_MS) return this.#refs.names;
    const names = this.#readRefNames();
    this.#refs = { names, atMs: nowMs };
    names.catch(() => {
      this.#refs = undefined;
    });
    return names;
  }

  async #readRefNames(): Promise<readonly string[]> {
    const refs = await this.#versions.refs();
    const names = new Set(refs.map(({ name }) => name.slice(name.indexOf('/') + 1)));
    return inKeyOrder([...names]).filter((name) => {
      for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1))
        if (names.has(name.slice(0, slash))) return false;
      return true;
    });
  }

  async #resolve(ref: string): Promise<CommitHash | undefined> {
    try {
      return await this.#versions.resolve(ref);
    } catch (error) {
      // Digits that begin several commits name none of them.
      if (error instanceof DrayError && (error.code === 'notFound' || error.code === 'usage'))
        return undefined;
      throw error;
    }
  }
}

/** Of a token, which anybody may write. @throws S3Error */
function commitOf(text: string): CommitHash {
  if (HASH.test(text)) return text as CommitHash;
  throw new S3Error('InvalidArgument', 'The continuation token is not one of this gateway.');
}

/** Where a listing below `base` begins. */
function afterBelow(
  base: string,
  {
    continuesAfter,
    startAfter,
  }: { readonly continuesAfter?: string | undefined; readonly startAfter?: string | undefined },
): { readonly continuesAfter?: string; readonly startAfter?: string } {
  if (continuesAfter?.startsWith(base)) return { continuesAfter: continuesAfter.slice(base.length) };
  if (startAfter?.startsWith(base)) return { startAfter: startAfter.slice(base.length) };
  return {};
}

function inKeyOrder(names: readonly string[]): readonly string[] {
  return names.toSorted((left, right) => comparePaths(`${left}/`, `${right}/`));
}

function inOrder(keys: readonly BucketKey[]): readonly BucketKey[] {
  return keys.toSorted((left, right) => comparePaths(left.key, right.key));
}
