import { type CommitHash, comparePaths, type Entry } from '../../model/entry.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { baseMark } from '../session/base/base-commit.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { partOf } from '../session/workspace-scope.ts';
import { applyChanges, lstatIfThere } from '../working-copy/apply-changes.ts';
import type { NameTwins } from '../working-copy/name-twins.ts';
import { createLeavingOut, type Unheld, whyUnheld, withUnheld } from '../working-copy/unheld-entries.ts';

export interface HeldNow {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  /** The base. */
  readonly hash: CommitHash;
  readonly commit: Commit;
  readonly words: string;
  /** Of this commit. */
  readonly twins: NameTwins;
}

export const NOTHING_HELD = { brought: 0, bytes: 0, failed: 0 };

/**
 * Looks again at what was left out because the file system could not hold it: fetches what it can hold now,
 * and forgets what the base does not have. A file that is there meanwhile stays, outside of the workspace.
 */
export async function bringHeld(options: HeldNow): Promise<typeof NOTHING_HELD> {
  const { hash, link, remote, session, twins, words } = options;
  const { index, state, workspace } = session;
  const { unheld = {} } = state;
  const paths = Object.keys(unheld);
  if (paths.length === 0) return NOTHING_HELD;
  const entries = await entriesAt(options, unheld);
  const left: Record<string, Unheld[string]> = {};
  const writes: Entry[] = [];
  for (const path of paths) {
    const entry = entries.get(path);
    if (!entry) continue;
    const why = twins.has(path) ? 'twin' : whyUnheld(session, path, entry.kind === 'link');
    if (why || lstatIfThere(workspace.root, path.replace(/\/$/, ''))) left[path] = why ?? unheld[path]!;
    else writes.push(entry);
  }
  if (paths.every((path) => left[path] === unheld[path])) return NOTHING_HELD;
  index.settings.base = undefined;
  const leavingOut = createLeavingOut(session);
  const { bytes, failed } = await applyChanges({
    session,
    remote,
    link,
    writing: { commit: hash, words },
    totals: { files: writes.length, bytes: 0 },
    deletions: [],
    writes: [writes],
    leavingOut,
  });
  for (const { path } of writes)
    if (index.files.find(path, 0)?.after === undefined) left[path] = leavingOut.found[path] ?? unheld[path]!;
  session.saveState(withUnheld(state, left));
  index.settings.base = baseMark(session, link.uuid, hash);
  const brought = writes.filter(({ path }) => left[path] === undefined).length;
  return { brought, bytes, failed };
}

async function entriesAt(
  { commit, remote, session }: HeldNow,
  unheld: Unheld,
): Promise<ReadonlyMap<string, Entry>> {
  const part = partOf(session);
  const scope = {
    holds: (path: string) => unheld[path] !== undefined && (part?.holds(path) ?? true),
    reachesBetween: (first: string, last: string) =>
      Object.keys(unheld).some((path) => comparePaths(path, first) >= 0 && comparePaths(path, last) <= 0) &&
      (part?.reachesBetween(first, last) ?? true),
  };
  const found = new Map<string, Entry>();
  const options = { scope, signal: session.context.signal };
  for await (const page of readEntries(remote.store, commit, options))
    for (const entry of page) found.set(entry.path, entry);
  return found;
}
