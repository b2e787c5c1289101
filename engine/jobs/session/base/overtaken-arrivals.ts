/**
 * A workspace whose pull fails again and again, each time on the way to a newer commit, would record all of
 * them as arriving. When a run has ended, what is here is of its own commit, but at the paths that it could
 * not write. So an earlier commit stays on record only while one of these paths has its content. There are
 * never more of them than such paths.
 */
import { isDamage } from '../../../base/read-checked.ts';
import { isSameEntry } from '../../../model/diff.ts';
import { type CommitHash, comparePaths, type Entry } from '../../../model/entry.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { toChange } from '../../working-copy/working-changes.ts';
import type { Session } from '../open-workspace.ts';
import { arrivalsOf } from './arrivals.ts';
import { dropArrivals, fetchCommit } from './base-commit.ts';
import { entriesAt } from './settle-arrivals.ts';

export interface EndedArrival {
  readonly uuid: string;
  /** The one that the run brought. */
  readonly commit: CommitHash;
  /** The paths that it did not write or remove, whose rows say what they are based on. */
  readonly undone: readonly string[];
}

/** Call after `endArrival`. It asks only for segments with these paths, if an earlier commit is on record. */
export async function dropOvertaken(
  session: Session,
  store: ObjectStore,
  { commit, undone, uuid }: EndedArrival,
): Promise<void> {
  const earlier = arrivalsOf(session).filter((arrival) => arrival.commit !== commit);
  if (earlier.length === 0) return;
  const base = session.state.bases[session.remoteName] as CommitHash | undefined;
  let open = [...undone].sort(comparePaths);
  const over = new Set<string>();
  try {
    if (base) open = await notFrom(session, store, base, open);
    else open = open.filter((path) => basedOn(session, path));
    for (const arrival of earlier.toReversed()) {
      const left = await notFrom(session, store, arrival.commit as CommitHash, open);
      if (left.length === open.length) over.add(arrival.commit);
      open = left;
    }
  } catch (error) {
    // One that cannot be read may be needed.
    if (!isDamage(error)) throw error;
    return;
  }
  if (over.size === 0) return;
  // The rows say what the files are based on. After a power cut only the commits on record would.
  const { settings } = session.index;
  const mark = settings.base;
  session.index.durably(() => {
    settings.base = mark;
  });
  dropArrivals(session, uuid, (arrival) => over.has(arrival.commit));
}

/** The paths that are not based on what the commit has there. */
async function notFrom(
  session: Session,
  store: ObjectStore,
  hash: CommitHash,
  paths: readonly string[],
): Promise<string[]> {
  if (paths.length === 0) return [];
  const entries = await entriesAt(session, store, await fetchCommit(session, store, hash), paths);
  return paths.filter((path) => {
    const [known, own] = [basedOn(session, path), entries.get(path)];
    return known && own ? !isSameEntry(known, own) : known !== own;
  });
}

function basedOn({ index }: Session, path: string): Entry | undefined {
  const row = index.files.find(path, 0);
  return row && toChange(row).before;
}
