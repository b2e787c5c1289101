/**
 * A switch, or a pull of another commit than the branch's, may not finish: it was killed, or a file failed.
 * It then leaves files of two commits under one branch, and a push would record them there as edits. So
 * `.dray/state.json` names the commit before its first file is written. Until a pull or switch has finished:
 * - a push is refused while the working copy has a file of that commit,
 * - a pull or switch, to that commit or to another, treats these files as that commit's and not as edits.
 */
import { advised, DrayError } from '../../api/error.ts';
import { type Change, kindOfChange } from '../../model/diff.ts';
import { type CommitHash, comparePaths } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { readState, type WorkspaceState, writeState } from '../../workspace/workspace-folder.ts';
import { changesFromBase } from '../session/base-changes.ts';
import { type BaseCommit, fetchCommit } from '../session/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';
import { collectChanges } from './conflicts.ts';
import { hashFiles, unreadAmong } from './hash-files.ts';
import { toChange } from './working-changes.ts';

/** A commit whose files were being written to the working copy, and the command that finishes it. */
export type InterruptedPull = NonNullable<WorkspaceState['arriving']>[string][number];

/** A path whose local state is that commit's and not the base's. */
interface Arrived {
  /** From the base to that commit. */
  readonly change: Change;
  readonly arrival: InterruptedPull;
}

export function hasInterruptedPull({ remoteName, state }: Session): boolean {
  return state.arriving?.[remoteName] !== undefined;
}

/** @param words The command line after `dray`. */
export function interruptedPullOf(
  { config, remoteName }: Session,
  commit: CommitHash,
  words: string,
): InterruptedPull {
  return { commit, command: `dray ${words}${remoteFlag(config, remoteName)}` };
}

function remoteFlag({ defaultRemote }: Session['config'], remoteName: string): string {
  return remoteName === defaultRemote ? '' : ` --remote ${remoteName}`;
}

/** Call before the first file is written. The branch in the state file stays. */
export function recordInterruptedPull(session: Session, arrival: InterruptedPull): void {
  const { remoteName, state, workspace } = session;
  const others = (state.arriving?.[remoteName] ?? []).filter(({ commit }) => commit !== arrival.commit);
  const arriving = { ...state.arriving, [remoteName]: [...others, arrival] };
  session.state = { ...state, arriving };
  writeState(workspace, { ...readState(workspace), arriving });
}

/** The state without the interrupted pulls from this remote. */
export function withoutInterruptedPulls(state: WorkspaceState, remoteName: string): WorkspaceState {
  const { arriving, ...rest } = state;
  const { [remoteName]: _ended, ...others } = arriving ?? {};
  return Object.keys(others).length === 0 ? rest : { ...rest, arriving: others };
}

/**
 * Adds the files of interrupted pulls to the index's base rows, which then mirror no commit. Returns the
 * changes from these rows to the target.
 * @param toTarget the changes from the base to the target
 */
export async function takeInterruptedFiles(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
  toTarget: readonly Change[],
): Promise<readonly Change[]> {
  const arrived = await findArrived(session, store, base);
  if (arrived.size === 0) return toTarget;
  const { index } = session;
  index.transaction(() => {
    index.settings.base = undefined;
    for (const [path, { change }] of arrived) index.files.setBase(path, change.after);
  });
  const wanted = new Map(toTarget.map((change) => [change.path, change]));
  const onward = [...arrived].map(([path, { change }]): Change => {
    const target = wanted.get(path);
    return { path, before: change.after, after: target ? target.after : change.before };
  });
  const rest = toTarget.filter(({ path }) => !arrived.has(path));
  return [...rest, ...onward].sort((left, right) => comparePaths(left.path, right.path));
}

/** @throws `conflict` while a file of an interrupted pull is left */
export async function refuseInterruptedPull(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
): Promise<void> {
  const { remoteName, state } = session;
  if (state.arriving === undefined) return;
  const elsewhere = Object.keys(state.arriving).find((name) => name !== remoteName);
  if (elsewhere !== undefined) {
    const { command, commit } = state.arriving[elsewhere]!.at(-1)!;
    const message = `A transfer ended before all files arrived, and a push would record that state on ${state.branch}.`;
    const advice = `It was "${command}". ${adviceOut(session, elsewhere)}, then push.`;
    throw new DrayError('conflict', message, { advice, data: { commit, reason: 'halfArrived' }, command });
  }
  const arrived = await findArrived(session, store, base);
  const [first] = arrived;
  if (first) {
    const [path, { arrival }] = first;
    const { command, commit } = arrival;
    const what = arrived.size === 1 ? path : `${path} and ${arrived.size - 1} more`;
    throw new DrayError(
      'conflict',
      `${what} came by a transfer that did not finish. A push would record that state on ${state.branch}.`,
      {
        data: { path, count: arrived.size, commit, reason: 'halfArrived' },
        advice: `It was "${command}". ${adviceOut(session, remoteName)}, then push.`,
        command,
      },
    );
  }
}

/** Call when none of its files is left. */
export function forgetInterruptedPull(session: Session): void {
  const { remoteName, state } = session;
  if (state.arriving !== undefined) session.saveState(withoutInterruptedPulls(state, remoteName));
}

/** Warns commands that show changes. */
export function warnOfInterruptedPull(session: Session): void {
  const [first] = Object.entries(session.state.arriving ?? {});
  const command = first?.[1].at(-1)?.command;
  if (first === undefined || command === undefined) return;
  const message = 'A transfer did not bring all files yet: those that came show as changes.';
  const advice = `It was "${command}". ${adviceOut(session, first[0])}.`;
  session.context.emit({ type: 'warning', warning: 'halfArrived', ...advised(message, advice) });
}

function adviceOut({ config, state }: Session, remoteName: string): string {
  // The branch has no commit on that remote, so there is nothing to go back to.
  if (state.bases[remoteName] === undefined) return 'Run it again';
  return `Run it again, or go back by "dray switch ${state.branch}${remoteFlag(config, remoteName)}"`;
}

/** By path. Reads those files that were not read yet. */
async function findArrived(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
): Promise<ReadonlyMap<string, Arrived>> {
  const found = new Map<string, Arrived>();
  for (const arrival of session.state.arriving?.[session.remoteName] ?? []) {
    const commit = await fetchCommit(session, store, arrival.commit as CommitHash);
    const changes = await collectChanges(changesFromBase(session, store, base, commit));
    await hashFiles(session, unreadAmong(session, new Set(changes.map(({ path }) => path))));
    for (const change of changes) {
      const { path } = change;
      if (kindOfChange(change) && isHere(session, change) && !found.has(path))
        found.set(path, { change, arrival });
    }
  }
  return found;
}

function isHere({ index }: Session, { after, path }: Change): boolean {
  const indexed = index.files.find(path, 0);
  return kindOfChange({ path, before: after, after: indexed && toChange(indexed).after }) === undefined;
}
