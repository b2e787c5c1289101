/**
 * A merge or a revert changes the workspace, and the next push records it. In between, `.dray/state.json`
 * names it: before the first file is written, so that a killed one is known, and until it is pushed, because
 * the commit of a merge gets the merged one as a parent. Only a whole merge may claim that. So a push is
 * refused until all files are written, and what would leave a part of them out is refused until the push.
 */
import { DrayError } from '../../api/error.ts';
import { given } from '../../api/given.ts';
import type { PendingMerge } from '../../api/jobs/pending-merge.ts';
import { type WorkspaceState, writeStateDurably } from '../../workspace/workspace-folder.ts';
import { commandLine } from '../session/command-line.ts';
import type { Session } from '../session/open-workspace.ts';

/** As the state file has it. */
export type Pending = NonNullable<WorkspaceState['merging']>[string];

export function pendingMerge({
  remoteName,
  state,
}: Pick<Session, 'remoteName' | 'state'>): Pending | undefined {
  return state.merging?.[remoteName];
}

/** For summaries. */
export function pendingField(session: Pick<Session, 'remoteName' | 'state'>): {
  readonly merging?: PendingMerge;
} {
  const pending = pendingMerge(session);
  if (!pending) return {};
  const { commit, isUnfinished, kind, parent, ref } = pending;
  return { merging: { kind, commit, ref, ...given({ parent, isUnfinished }) } };
}

/** @param pending Undefined: none any more. */
export function withPending(
  state: WorkspaceState,
  remoteName: string,
  pending: Pending | undefined,
): WorkspaceState {
  const { merging, ...rest } = state;
  const { [remoteName]: _, ...others } = merging ?? {};
  const all = pending ? { ...others, [remoteName]: pending } : others;
  return Object.keys(all).length === 0 ? rest : { ...rest, merging: all };
}

/** On the disk when this returns. */
export function savePending(session: Session, pending: Pending | undefined): void {
  if (pending === undefined && session.state.merging === undefined) return;
  const next = withPending(session.state, session.remoteName, pending);
  writeStateDurably(session.workspace, next);
  session.state = next;
}

/** The command that continues it. */
export function continuing(session: Session, { commit, kind, parent }: Pending): string {
  const option = parent === undefined ? '' : ` --parent ${parent}`;
  return commandLine(session, `${kind} ${commit.slice(0, 10)}${option}`);
}

export function describePending({ commit, kind, ref }: Pending): string {
  const hash = commit.slice(0, 10);
  return `A ${kind} of ${ref === hash || commit.startsWith(ref) ? hash : `${ref} (${hash})`}`;
}

/** Of any remote: the files of all are the same. @throws `conflict` */
export function refuseUnfinished(session: Session): void {
  for (const [remoteName, pending] of Object.entries(session.state.merging ?? {})) {
    if (!pending.isUnfinished) continue;
    const at = { config: session.config, remoteName };
    const command = continuing({ ...session, ...at }, pending);
    throw new DrayError('conflict', `${describePending(pending)} did not write all of its files.`, {
      data: { kind: pending.kind, commit: pending.commit, ref: pending.ref, reason: 'mergeUnfinished' },
      advice: `Finish it with "${command}", or take it back with "${commandLine(at, `${pending.kind} --abort`)}".`,
      command,
    });
  }
}

/**
 * For what would change the workspace so that the merge in it were not whole any more.
 * @throws `conflict` while a merge or a revert is pending, also one that is finished
 */
export function refusePending(session: Session): void {
  refuseUnfinished(session);
  for (const [remoteName, pending] of Object.entries(session.state.merging ?? {})) {
    const at = { config: session.config, remoteName };
    const command = commandLine(at, 'push');
    throw new DrayError('conflict', `${describePending(pending)} is not pushed yet.`, {
      data: { kind: pending.kind, commit: pending.commit, ref: pending.ref, reason: 'mergePending' },
      advice: `Push it with "${command}", or take it back with "${commandLine(at, `${pending.kind} --abort`)}".`,
      command,
    });
  }
}
