/**
 * Lists what commits may need: objects, packs and their relocations, segments, commits. Long prefixes are
 * listed in ranges at once.
 *
 * The first page of a prefix shows how densely names lie; being hashes, they lie as densely everywhere. A
 * range costs at most one page more than it has, so each is made long enough for that to be little.
 */
import { checkAborted } from '../../base/abort.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { BlobHash } from '../../model/entry.ts';
import { afterOf, positionOf, SPACE } from '../../query/existence/hash-space.ts';
import type { ListedObject, ListPage, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import {
  COMMITS_PREFIX,
  MANIFESTS_PREFIX,
  OBJECTS_PREFIX,
  PACKS_PREFIX,
  RELOCATIONS_PREFIX,
} from '../../repository/keys.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

const PREFIXES = [COMMITS_PREFIX, MANIFESTS_PREFIX, OBJECTS_PREFIX, PACKS_PREFIX, RELOCATIONS_PREFIX];
const RANGES_MAX = 16;
/** At most one page in eight is then one more than needed. */
const RANGE_PAGES_MIN = 8;

export interface ContentListing {
  readonly store: ObjectStore;
  readonly limit: AdaptiveLimit;
  readonly signal: AbortSignal;
  /**
   * Pages of different ranges come in any order, and at the same time. The next page of the range waits for
   * it.
   */
  readonly onPage: (objects: readonly ListedObject[]) => Promise<void> | void;
}

/** Calls `onPage` with each key once, foreign ones included. */
export async function listContent(listing: ContentListing): Promise<void> {
  const tasks = new TaskSet(listing.signal);
  for (const prefix of PREFIXES) tasks.spawn(() => listPrefix({ ...listing, signal: tasks.signal }, prefix));
  await tasks.settle();
  tasks.end();
}

async function listPrefix(listing: ContentListing, prefix: string): Promise<void> {
  const { limit, onPage, signal, store } = listing;
  const page = await limit.run(() => store.list({ prefix }, { signal }), { bytes: 0, signal });
  await onPage(page.objects);
  if (page.continuation === undefined) return;
  const last = lastStoredKey(store, page);
  const reached = last === undefined ? undefined : positionOfKey(prefix, last);
  // Foreign keys say nothing about the others.
  if (last === undefined || reached === undefined) {
    await listRange(listing, { prefix, continuation: page.continuation });
    return;
  }
  const pagesLeft = (SPACE - reached) / Math.max(1, reached);
  const count = Math.max(1, Math.min(RANGES_MAX, Math.floor(pagesLeft / RANGE_PAGES_MIN)));
  const bounds = Array.from({ length: count - 1 }, (_, at) =>
    keyAt(prefix, reached + Math.floor(((SPACE - reached) * (at + 1)) / count)),
  );
  const tasks = new TaskSet(signal);
  for (let at = 0; at < count; at += 1) {
    const range = { prefix, startAfter: at === 0 ? last : bounds[at - 1], end: bounds[at] };
    tasks.spawn(() => listRange({ ...listing, signal: tasks.signal }, range));
  }
  await tasks.settle();
  tasks.end();
}

interface KeyRange {
  readonly prefix: string;
  readonly startAfter?: RemoteKey | undefined;
  readonly continuation?: string;
  /** Not a key itself. Absent: all that is left. */
  readonly end?: string | undefined;
}

async function listRange(
  { limit, onPage, signal, store }: ContentListing,
  { continuation: from, end, prefix, startAfter }: KeyRange,
): Promise<void> {
  for (let continuation = from, isFirst = true; isFirst || continuation !== undefined; isFirst = false) {
    checkAborted(signal);
    const start =
      continuation !== undefined ? { continuation } : startAfter === undefined ? {} : { startAfter };
    const page = await limit.run(() => store.list({ prefix, ...start }, { signal }), { bytes: 0, signal });
    const last = lastStoredKey(store, page);
    const isWhole = end !== undefined && last !== undefined && last > end;
    await onPage(isWhole ? page.objects.filter(({ key }) => storedKeyOf(store, key) < end) : page.objects);
    if (isWhole) return;
    continuation = page.continuation;
  }
}

/** A listing is in the order of the keys on the store. */
function storedKeyOf({ sealing }: ObjectStore, key: RemoteKey): RemoteKey {
  return sealing ? sealing.storedKey(key) : key;
}

function lastStoredKey(store: ObjectStore, { objects }: ListPage): RemoteKey | undefined {
  const last = objects.at(-1)?.key;
  return last === undefined ? undefined : storedKeyOf(store, last);
}

/** Undefined for a key without a name of 64 digits. */
function positionOfKey(prefix: string, key: RemoteKey): number | undefined {
  const digits = key.slice(prefix.length).replace('/', '');
  return /^[0-9a-f]{64}/.test(digits) ? positionOf(digits as BlobHash) : undefined;
}

/** Sorts before each key whose name begins at the position, and after all others. */
function keyAt(prefix: string, position: number): string {
  const digits = afterOf(position) ?? '';
  return `${prefix}${digits.slice(0, 2)}/${digits.slice(2)}`;
}
