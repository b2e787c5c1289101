/**
 * Where history ends by a decision. The record of an old commit may be lost for good, and with it the names
 * of the commits before it. A user may then end history there (`dray repair --end-history`):
 * `retention.json` lists the commit, and whoever walks over history takes it for a beginning.
 *
 * The list is asked only about a commit that cannot be read, so it costs nothing otherwise, and an entry has
 * no effect while the commit can be read. Content is never read this way: a commit that is lost has none.
 */
import { DrayError } from '../api/error.ts';
import { isDamage } from '../base/read-checked.ts';
import type { CommitHash } from '../model/entry.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import { createCollectionView } from './collection/collection-view.ts';
import type { CommitLinks } from './count-sole.ts';
import { commitKey } from './keys.ts';
import { readRetention } from './retention.ts';

/** Older than every commit. */
const END: CommitLinks = { parents: [], time: '1970-01-01T00:00:00.000Z' };

interface EndOptions extends CallOptions {
  /** For those who remove, and those who report: what is not on the list is damage. */
  readonly isListedOnly?: true;
}

/** @returns Undefined if the commit cannot be read, and history ends there. */
export async function readOrEnd<T>(
  store: ObjectStore,
  hash: CommitHash,
  read: () => Promise<T>,
  options: EndOptions = {},
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof DrayError && (error.code === 'damaged' || error.code === 'notFound');
    if (!isGone || !(await isHistoryEnd(store, hash, options))) throw error;
    return undefined;
  }
}

/** What a walk over history needs of a commit: none before it if history ends there. */
export async function readLinks(
  store: ObjectStore,
  hash: CommitHash,
  read: () => Promise<CommitLinks>,
  options: CallOptions = {},
): Promise<CommitLinks> {
  return (await readOrEnd(store, hash, read, options)) ?? END;
}

/**
 * The commit itself, or one before it that a collection has removed since: somebody may still have the
 * record of the lost commit, or have put it back too late. Where the list itself cannot be read, the fault
 * of the commit is the one to report.
 */
async function isHistoryEnd(
  store: ObjectStore,
  hash: CommitHash,
  { isListedOnly, ...options }: EndOptions,
): Promise<boolean> {
  try {
    const { lost = [] } = (await readRetention(store, options)) ?? {};
    if (lost.includes(hash)) return true;
    if (lost.length === 0 || isListedOnly) return false;
    const view = createCollectionView(store, options);
    await view.refresh();
    return view.avoids(commitKey(hash));
  } catch (error) {
    if (error instanceof DrayError && error.code === 'damaged') return false;
    throw error;
  }
}

/** Damage of the commit's record, with what to do. */
export function adviseOnDamaged(error: unknown, hash: CommitHash): never {
  if (!isDamage(error) || error.data.advice !== undefined) throw error;
  const { data, message } = error;
  throw new DrayError('damaged', message, {
    data,
    advice: adviceOnLost(hash),
    command: 'dray repair',
    cause: error,
  });
}

/** Nobody can tell what a commit needed whose record is lost, nor which commits come before it. */
export function adviceOnLost(hash: CommitHash): string {
  return (
    'Run "dray repair" in each workspace: one may still have the record of the commit. If none has, and no ' +
    `branch names it, "dray repair --end-history ${hash.slice(0, 10)}" lets history begin after it.`
  );
}
