/**
 * Widenings that did not end. What they fetched lies outside of the scope, where a pull does not look: others
 * may delete or change these files meanwhile. So the state file names the commit and the wanted part before
 * the first file is written. A later widening then treats what is still as that commit has it like a file
 * that it had taken in: it brings it to the base. An edited one is a file of the user's.
 */
import { DrayError } from '../../api/error.ts';
import { type Change, isSameEntry } from '../../model/diff.ts';
import type { CommitHash } from '../../model/entry.ts';
import { compileScope, type Scope } from '../../model/scope.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { WorkspaceState } from '../../workspace/workspace-folder.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { type BaseCommit, fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';
import { collectChanges } from '../working-copy/conflicts.ts';
import { hashFiles, unreadAmong } from '../working-copy/hash-files.ts';
import { toChange } from '../working-copy/working-changes.ts';
import type { Only } from './scope-run.ts';

type Unfinished = NonNullable<NonNullable<WorkspaceState['scope']>['entering']>[number];

/** Of the state while the run fetches. The scope stays the earlier one. */
export function withEntering(
  state: WorkspaceState,
  remote: string,
  commit: CommitHash,
  only: Only,
): WorkspaceState {
  const { scope } = state;
  if (!scope) return state;
  const own: Unfinished = { remote, commit, only: [...(only ?? [])] };
  const others = (scope.entering ?? []).filter((one) => JSON.stringify(one) !== JSON.stringify(own));
  return { ...state, scope: { ...scope, entering: [...others, own] } };
}

/** Of the widenings that did not end, those that a workspace of the remote with this part does not settle. */
export function stillEntering(
  { scope }: WorkspaceState,
  remote: string,
  only: Only,
): Unfinished[] | undefined {
  if (!only) return undefined;
  const left = scope?.entering?.filter((one) => one.remote !== remote || !covers(only, one.only));
  return left && left.length > 0 ? left : undefined;
}

function covers(only: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length > 0 && wanted.every((pattern) => only.includes(pattern));
}

export interface Widened {
  readonly unfinished: readonly Unfinished[];
  readonly base: BaseCommit;
  /** The scope until now. */
  readonly held: Scope;
}

/**
 * What earlier runs fetched and the base has otherwise or no more: from what is here to the base. Call when
 * the index's rows are those of the wider scope.
 * @throws `conflict` if a commit of theirs is gone, and files here may be of it
 */
export async function findOvertaken(
  session: Session,
  store: ObjectStore,
  widened: Widened,
): Promise<readonly Change[]> {
  const found = new Map<string, Change>();
  for (const one of widened.unfinished) {
    if (one.remote !== session.remoteName || one.commit === widened.base.hash) continue;
    const holds = one.only.length === 0 ? () => true : compileScope(one.only).holds;
    const isItsOwn = (path: string) => holds(path) && !widened.held.holds(path);
    const changes = await changesTo(session, store, widened.base, one).catch((error: unknown) => {
      refuseUnknown(session, error, isItsOwn);
      return [];
    });
    const own = changes.filter(({ after, path }) => after && isItsOwn(path));
    await hashFiles(session, unreadAmong(session, new Set(own.map(({ path }) => path))));
    for (const { path, after: fetched, before } of own) {
      const row = session.index.files.find(path, 0);
      const here = row && toChange(row).after;
      if (here && isSameEntry(here, fetched!)) found.set(path, { path, before: here, after: before });
    }
  }
  return [...found.values()];
}

async function changesTo(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
  { commit }: Unfinished,
): Promise<readonly Change[]> {
  const target = await fetchCommit(session, store, commit as CommitHash);
  return await collectChanges(changesFromBase(session, store, base, target));
}

/** Without that commit nobody can tell what the run fetched from what the user made. */
function refuseUnknown(session: Session, error: unknown, isItsOwn: (path: string) => boolean): void {
  if (!(error instanceof DrayError) || (error.code !== 'damaged' && error.code !== 'forgotten')) throw error;
  const paths: string[] = [];
  for (const page of session.index.files.changes(0))
    for (const { after, before, path } of page.map(toChange))
      if (after && !before && isItsOwn(path)) paths.push(path);
  const [path] = paths;
  if (path === undefined) return;
  const what = paths.length === 1 ? path : `${path} and ${paths.length - 1} more`;
  const message = `An earlier change of scope was cut off, and its commit is gone: ${what} may be yours or not.`;
  throw new DrayError('conflict', message, {
    data: { path, paths: paths.slice(0, 1000), reason: 'inTheWay' },
    advice: 'Move it away, then run the command again.',
    cause: error,
  });
}
