/**
 * Removes what leaves the workspace's scope, as far as it was pushed and has not changed here. The state file
 * comes first, so that no command takes the removals for deletions. It names what leaves until all is gone.
 */

import { KIND_CODES } from '../../index/file-table.ts';
import type { CommitHash } from '../../model/entry.ts';
import { compileScope } from '../../model/scope.ts';
import { baseMark, ensureBase } from '../session/base/base-commit.ts';
import { linkRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { lstatIfThere, removePaths } from '../working-copy/apply-changes.ts';
import { hashFiles, undecidedFiles } from '../working-copy/hash-files.ts';
import { refreshIndex, reportProblems } from '../working-copy/refresh-index.ts';
import { addDone, type Only, type ScopeRun, withScope } from './scope-run.ts';
import { namesNothing, warnOfUnmatched, watchUnmatched } from './unmatched-patterns.ts';

/** @returns False if a file could not be removed */
export async function narrowScope(run: ScopeRun, only: readonly string[]): Promise<boolean> {
  const { remote, session, words } = run;
  const { index, remoteName } = session;
  const leaving = wholeOf(session);
  const { entering, leaving: unremoved } = session.state.scope ?? {};
  session.state = withScope(session.state, leaving);
  if (remote) {
    const link = await linkRepository(session, remote.store, session.state.branch);
    await ensureBase(session, remote.store, link);
  }
  const problems = reportProblems(session, (await refreshIndex(session)).problems);
  await hashFiles(session, undecidedFiles(session));
  // What a part of everything names is seen here alone: nothing has to be fetched for it.
  if (!leaving && run.chosen && session.state.bases[remoteName]) refuseNothing(session, run.chosen);
  const { bytes, rows, unchanged } = findLeaving(session, only, { goesOn: unremoved !== undefined });
  const commit = session.state.bases[remoteName] as CommitHash | undefined;
  index.settings.base = undefined;
  session.saveState(withScope(session.state, only, { entering, leaving: [...(leaving ?? [])] }));
  const failed = commit ? await removePaths(session, { commit, words }, unchanged) : 0;
  index.transaction(() => {
    for (const path of rows) {
      index.files.setBase(path, undefined);
      index.files.setAbsent(path);
    }
  });
  const left = failed > 0 ? leftOf(session, unchanged) : { files: 0, bytes: 0 };
  addDone(run, {
    removed: withoutFolders(unchanged).length - left.files,
    freedBytes: bytes - left.bytes,
    failed: problems + failed,
  });
  if (failed > 0) return false;
  session.state = withScope(session.state, only, { entering });
  const { repository } = session.config.remotes[remoteName]!;
  if (repository !== undefined) index.settings.base = baseMark(session, repository, commit);
  session.saveState(session.state);
  return true;
}

/** @throws `notFound` if nothing would stay, before anything is removed */
function refuseNothing(session: Session, chosen: readonly string[]): void {
  const unmatched = watchUnmatched(chosen);
  for (const page of session.index.files.stats()) unmatched.see(page);
  const nothing = unmatched.left();
  if (nothing.length === chosen.length) throw namesNothing(chosen, 'changed');
  warnOfUnmatched(session, nothing);
}

/** The paths without those of empty folders. */
export function withoutFolders(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !path.endsWith('/'));
}

function leftOf({ workspace }: Session, paths: readonly string[]) {
  const stats = withoutFolders(paths).flatMap((path) => lstatIfThere(workspace.root, path) ?? []);
  return { files: stats.length, bytes: stats.reduce((sum, { size }) => sum + size, 0) };
}

/** What the workspace holds now, with what an earlier run was removing. */
export function wholeOf({ state }: Session): Only {
  const { leaving, only } = state.scope ?? {};
  if (!only || !leaving) return only;
  return leaving.length === 0 ? undefined : [...new Set([...leaving, ...only])];
}

interface Leaving {
  readonly rows: readonly string[];
  /** The paths that equal the base. */
  readonly unchanged: readonly string[];
  readonly bytes: number;
  /** Files and links here that differ from the base, or are not in it. */
  readonly unpushed: readonly string[];
}

const SAME = 1;

/** @param options `goesOn`: an earlier run may have been killed when it had emptied a folder */
export function findLeaving(
  { index }: Session,
  only: readonly string[],
  { goesOn }: { readonly goesOn: boolean },
): Leaving {
  const next = compileScope(only);
  const rows: string[] = [];
  const unchanged: string[] = [];
  const unpushed: string[] = [];
  let bytes = 0;
  let emptied = '';
  for (const page of index.files.stats()) {
    for (const { flags, kind, path, sizeBytes } of page) {
      if (next.holds(path)) continue;
      rows.push(path);
      if (goesOn && kind === KIND_CODES.folder && flags !== SAME) emptied = path;
      // The base's files come right after the folder in which they were.
      if (kind === 0 && emptied !== '' && path.startsWith(emptied)) {
        unchanged.push(emptied);
        emptied = '';
      }
      if (kind !== 0 && kind !== KIND_CODES.folder && flags !== SAME) unpushed.push(path);
      if (kind === 0 || flags !== SAME) continue;
      unchanged.push(path);
      bytes += path.endsWith('/') ? 0 : sizeBytes;
    }
  }
  return { rows, unchanged, unpushed, bytes };
}
