import type { CommitHash, Entry, PackHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { Commit } from '../commit.ts';
import { commitKey, packKey, relocationKey, segmentKey } from '../keys.ts';
import { keysOfEntry } from '../manifest/entry-keys.ts';
import { readEntries } from '../manifest/read-entries.ts';
import type { KeysToAvoid } from '../manifest/segment.ts';
import { createRelocations, currentPlace, type KnownRelocations } from '../packs/current-place.ts';

/**
 * The first key of a commit that was a candidate of a collection, and so may be gone: of the commit itself,
 * of its segments, or of its content. Undefined if there is none. One request for each segment, and one for
 * each pack that was written anew: a blob that has moved rests on its relocation and on the new pack.
 * @param except Segments that this commit shares are not read: a ref keeps them.
 * @throws `damaged` if a segment is missing
 */
export async function findAvoided(
  store: ObjectStore,
  { commit, hash }: { readonly commit: Commit; readonly hash: CommitHash },
  keys: KeysToAvoid,
  { except, ...call }: CallOptions & { readonly except?: Commit | undefined } = {},
): Promise<RemoteKey | undefined> {
  if (keys.round === 0) return undefined;
  if (keys.avoids(commitKey(hash))) return commitKey(hash);
  const { manifest } = commit;
  const kept = new Set(
    except?.manifest.kind === 'segments' ? except.manifest.segments.map((s) => s.hash) : [],
  );
  const own =
    manifest.kind === 'inline'
      ? manifest
      : { ...manifest, segments: manifest.segments.filter((segment) => !kept.has(segment.hash)) };
  for (const segment of own.kind === 'segments' ? own.segments : [])
    if (keys.avoids(segmentKey(segment.hash))) return segmentKey(segment.hash);
  const relocations = createRelocations(store);
  for await (const entries of readEntries(store, { manifest: own }, call))
    for (const entry of entries)
      for (const key of keysOfEntry(entry))
        if (keys.avoids(key) && !(await hasMoved(entry, keys, { relocations, ...call }))) return key;
  return undefined;
}

/** Whether the blob of a pack that a collection wrote anew rests on keys that were never candidates. */
async function hasMoved(
  entry: Entry,
  keys: KeysToAvoid,
  options: CallOptions & { readonly relocations: KnownRelocations },
): Promise<boolean> {
  if (entry.kind !== 'file' || entry.location.in !== 'pack') return false;
  const isThere = (pack: PackHash) => !keys.avoids(packKey(pack));
  const isFollowed = (pack: PackHash) => !keys.avoids(relocationKey(pack));
  return (await currentPlace(entry.location, { isThere, isFollowed, ...options })) !== undefined;
}

/**
 * The key of the first commit in a history, from its newest on, that was a candidate of a collection. One
 * read for each commit.
 */
export async function findAvoidedCommit(
  newest: CommitHash,
  keys: KeysToAvoid,
  read: (hash: CommitHash) => Promise<Pick<Commit, 'parents'>>,
): Promise<RemoteKey | undefined> {
  // The loop also visits what it adds.
  const history = new Set([newest]);
  for (const hash of history) {
    if (keys.avoids(commitKey(hash))) return commitKey(hash);
    for (const parent of (await read(hash)).parents) history.add(parent);
  }
  return undefined;
}
