/** The versions of one repository. What their manifests share is in memory once. */

import { LRUCache } from 'lru-cache';
import { DrayError } from '../../api/error.ts';
import { orAborted } from '../../base/abort.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { readCommit } from '../../repository/commit.ts';
import { adviseOnDamaged, readLinks } from '../../repository/history-end.ts';
import { commitKey } from '../../repository/keys.ts';
import { readSegment } from '../../repository/manifest/stored-segment.ts';
import { listRefs, type StoredRef } from '../../repository/refs.ts';
import { resolveKeptRef } from '../retention/forgotten.ts';
import type { Reading } from './read-entry.ts';
import { createSegmentCache } from './segment-cache.ts';
import { openVersion, type Version } from './version.ts';

export interface Versions {
  /** All branches and tags, by name. At least two requests. */
  refs(options?: CallOptions): Promise<readonly StoredRef[]>;
  /**
   * The commit that a branch, a tag or a hash names now. As many requests as `resolveRef`, and one more for a
   * hash or `REF~N`, which may be a forgotten commit. The steps of `~N` cost one the first time.
   * @throws `notFound`, `usage`, `forgotten`
   */
  resolve(text: string, options?: CallOptions): Promise<CommitHash>;
  /** One request, or none if it was opened lately. @throws `notFound`, `damaged` */
  open(hash: CommitHash, options?: CallOptions): Promise<Version>;
}

/** Commits whose lists of segments are in memory. */
const OPEN_MAX = 16;
/** Commits whose parents are in memory: a gateway walks back from a branch at each look. */
const PARENTS_MAX = 20_000;

/**
 * @param store That of an opened repository. The caller closes it.
 * @param reading Default: for one reader at a time.
 */
export function createVersions(store: ObjectStore, reading?: Partial<Reading>): Versions {
  const readCached = createSegmentCache((segment) => readSegment(store, segment));
  const opened = new Map<CommitHash, Promise<Version>>();
  /** Commits that a branch or tag named when it was asked. */
  const named = new LRUCache<CommitHash, true>({ max: PARENTS_MAX });
  const parents = new LRUCache<CommitHash, readonly CommitHash[]>({ max: PARENTS_MAX });
  const readParents = async (hash: CommitHash, options?: CallOptions) => {
    const read = () => readCommit(store, hash, options);
    const known = parents.get(hash) ?? (await readLinks(store, hash, read, options)).parents;
    parents.set(hash, known);
    return { parents: known };
  };
  return {
    async refs(options) {
      const kinds = await Promise.all([listRefs(store, 'heads', options), listRefs(store, 'tags', options)]);
      return kinds.flat();
    },
    async resolve(text, options) {
      const read = (hash: CommitHash) => readParents(hash, options);
      const { commit, ref } = await resolveKeptRef(store, text, { ...options, read });
      if (ref) named.set(commit, true);
      return commit;
    },
    open(hash, { signal } = {}) {
      const version =
        opened.get(hash) ??
        openVersion(store, hash, { readSegment: readCached, ...(reading && { reading }) }).catch(
          (error: unknown) => adviseOnRecord(error, { hash, isNamed: named.has(hash) }),
        );
      opened.delete(hash);
      opened.set(hash, version);
      version.catch(() => opened.delete(hash));
      for (const oldest of opened.keys()) if (opened.size > OPEN_MAX) opened.delete(oldest);
      return orAborted(version, signal);
    },
  };
}

/** A record that is absent is damage where a branch or tag names the commit. */
function adviseOnRecord(
  error: unknown,
  { hash, isNamed }: { readonly hash: CommitHash; readonly isNamed: boolean },
): never {
  if (!(error instanceof DrayError) || error.data.key !== commitKey(hash)) throw error;
  const { code, data, message } = error;
  const isLost = isNamed && code === 'notFound';
  adviseOnDamaged(isLost ? new DrayError('damaged', message, { data, cause: error }) : error, hash);
}
