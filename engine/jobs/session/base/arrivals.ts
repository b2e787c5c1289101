/**
 * Commits whose files come into the workspace, by a pull, clone or switch. `.dray/state.json` names the
 * commit before its first file is written, and until the workspace has the whole of one commit. What has
 * arrived of it is that commit's content, never an edit: the index's base rows have it path by path
 * (`base-commit.ts`).
 */
import type { CommitHash } from '../../../model/entry.ts';
import { readState, type WorkspaceState, writeStateDurably } from '../../../workspace/workspace-folder.ts';
import type { Session } from '../open-workspace.ts';

/** A commit whose files may be here, and the command that brings the rest. */
export type Arrival = NonNullable<WorkspaceState['arriving']>[string][number];

/** Of the session's remote, the one that was written last at the end. */
export function arrivalsOf({ remoteName, state }: Pick<Session, 'remoteName' | 'state'>): readonly Arrival[] {
  return state.arriving?.[remoteName] ?? [];
}

/** @param words The command line after `dray`. */
export function arrivalOf(
  { config, remoteName }: Pick<Session, 'config' | 'remoteName'>,
  commit: CommitHash,
  words: string,
  totals?: Pick<Arrival, 'files' | 'bytes'>,
): Arrival {
  return { commit, command: `dray ${words}${remoteFlag({ config }, remoteName)}`, ...totals };
}

/** Whether it came as the commit of the workspace's branch, by a pull or clone without a name. */
export function isOfBranch(
  { config, remoteName }: Pick<Session, 'config' | 'remoteName'>,
  { command }: Arrival,
) {
  return command === `dray pull${remoteFlag({ config }, remoteName)}`;
}

export function remoteFlag({ config }: Pick<Session, 'config'>, remoteName: string): string {
  return remoteName === config.defaultRemote ? '' : ` --remote ${remoteName}`;
}

/**
 * On the disk when this returns. A run that goes on keeps the totals of the first one. The branch in the
 * state file stays: a switch changes it at its end.
 */
export function recordArrival(session: Session, arrival: Arrival): void {
  const { remoteName, state, workspace } = session;
  const known = arrivalsOf(session);
  const others = known.filter(({ commit }) => commit !== arrival.commit);
  const earlier = known.find(({ commit }) => commit === arrival.commit);
  const { bytes, files } = earlier ?? arrival;
  const own = { ...arrival, ...(files === undefined ? {} : { files, bytes }) };
  const arriving = { ...state.arriving, [remoteName]: [...others, own] };
  session.state = { ...state, arriving };
  writeStateDurably(workspace, { ...readState(workspace), arriving });
}

/** The state when nothing is arriving from the remote any more. */
export function withoutArrivals(
  state: WorkspaceState,
  remoteName: string,
  isOver: (arrival: Arrival) => boolean = () => true,
): WorkspaceState {
  const { arriving, ...rest } = state;
  const { [remoteName]: own = [], ...others } = arriving ?? {};
  const left = own.filter((arrival) => !isOver(arrival));
  const next = left.length > 0 ? { ...others, [remoteName]: left } : others;
  return Object.keys(next).length === 0 ? rest : { ...rest, arriving: next };
}
