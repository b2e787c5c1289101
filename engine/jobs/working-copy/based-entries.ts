import { isSameEntry } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import { type BaseCommit, fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';

/**
 * The entries that the files here are based on while a commit arrives. The rows do not say where the content
 * is; one of the commits does.
 */
export async function readBased(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
  isWanted: (path: string) => boolean,
): Promise<readonly Entry[]> {
  const rows = new Map<string, Entry>();
  for (const page of session.index.files.unplacedBase())
    for (const entry of page) if (isWanted(entry.path)) rows.set(entry.path, entry);
  const found: Entry[] = [];
  const commits = arrivalsOf(session).map(({ commit }) => commit as CommitHash);
  const scope = { holds: (path: string) => rows.has(path), reachesBetween: () => true };
  for (const hash of [...commits.toReversed(), ...(base.hash ? [base.hash] : [])]) {
    if (rows.size === 0) break;
    const commit = await fetchCommit(session, store, hash);
    for await (const page of readEntries(store, commit, { scope, signal: session.context.signal })) {
      for (const entry of page) {
        if (!isSameEntry(rows.get(entry.path)!, entry)) continue;
        found.push(entry);
        rows.delete(entry.path);
      }
    }
  }
  return found;
}
