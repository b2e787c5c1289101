/**
 * Brings the base rows up to date with what has arrived (`arrivals.ts`). A run saves its rows in batches,
 * after the files; one that was killed has files without rows, and a lost index has no rows at all. A path
 * whose file equals the arriving commit's has arrived. Of an edited one nobody can tell: it stays an edit of
 * the base's content, and a pull asks about it where the branch has changed it too.
 */
import { firstIndexWhere } from '../../../base/sorted-search.ts';
import { isSameEntry } from '../../../model/diff.ts';
import { comparePaths, type Entry } from '../../../model/entry.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import type { Commit } from '../../../repository/commit.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { hashFiles, unreadAmong } from '../../working-copy/hash-files.ts';
import { toChange } from '../../working-copy/working-changes.ts';
import type { Session } from '../open-workspace.ts';

/** Call after a scan. @returns The entries that have become the base's at their path */
export async function settleArrival(
  session: Session,
  store: ObjectStore,
  commit: Commit,
): Promise<readonly Entry[]> {
  const { files } = session.index;
  const changed: string[] = [];
  for (const page of files.changes(0)) for (const { path } of page) changed.push(path);
  if (changed.length === 0) return [];
  const entries = await entriesAt(session, store, commit, changed);
  const mayBeThere = changed.filter((path) => mayHaveArrived(session, path, entries.get(path)));
  await hashFiles(session, unreadAmong(session, new Set(mayBeThere)));
  const arrived: Entry[] = [];
  const removed: string[] = [];
  session.index.transaction(() => {
    for (const path of mayBeThere) {
      const entry = entries.get(path);
      const row = files.find(path, 0);
      const here = row && toChange(row).after;
      if (entry ? !here || !isSameEntry(here, entry) : here) continue;
      files.setBase(path, entry);
      if (entry) arrived.push(entry);
      else removed.push(path);
    }
    for (const path of foldersLeft(session, changed, removed)) files.setBase(path, { kind: 'folder', path });
  });
  return arrived;
}

/** Folders that the commit has emptied, and that a kill has left. A pull removes them. */
function foldersLeft(
  { index }: Session,
  changed: readonly string[],
  removed: readonly string[],
): readonly string[] {
  return changed.filter((path) => {
    if (!path.endsWith('/') || !removed.some((one) => one.startsWith(path))) return false;
    const { after, before } = index.files.find(path, 0) ?? {};
    return after !== undefined && before === undefined;
  });
}

function mayHaveArrived({ index }: Session, path: string, entry: Entry | undefined): boolean {
  const here = index.files.find(path, 0)?.after;
  if (!here || !entry) return here === undefined && entry === undefined;
  if (here.kind !== entry.kind) return false;
  return entry.kind !== 'file' || here.sizeBytes === entry.sizeBytes;
}

/** @param paths In order. */
export async function entriesAt(
  session: Session,
  store: ObjectStore,
  commit: Commit,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Entry>> {
  const wanted = new Set(paths);
  const scope = {
    holds: (path: string) => wanted.has(path),
    reachesBetween: (first: string, last: string) => {
      const next = paths[firstIndexWhere(paths, 0, (path) => comparePaths(path, first) >= 0)];
      return next !== undefined && comparePaths(next, last) <= 0;
    },
  };
  const found = new Map<string, Entry>();
  for await (const page of readEntries(store, commit, { scope, signal: session.context.signal }))
    for (const entry of page) found.set(entry.path, entry);
  return found;
}
