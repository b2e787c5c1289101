import { DrayError } from '../../api/error.ts';
import type { ScopeSummary } from '../../api/jobs/scope.ts';
import { checkScopePatterns } from '../../model/scope.ts';
import type { WorkspaceState } from '../../workspace/workspace-folder.ts';
import { refusePending } from '../merge/pending-merge.ts';
import { arrivalsOf } from '../session/base/arrivals.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';

/** The patterns of a part. Undefined: everything. */
export type Only = readonly string[] | undefined;

/** One run of `dray scope`. */
export interface ScopeRun {
  readonly session: Session;
  /** Undefined if nothing has to be fetched, and the index mirrors the base. */
  readonly remote: OpenedRemote | undefined;
  /** The command line after `dray`. */
  readonly words: string;
  /** Of `scope only`: what the workspace is to hold, and nothing else. */
  readonly chosen?: readonly string[];
  /** What it has done so far. */
  done: Pick<ScopeSummary, 'fetched' | 'downloadedBytes' | 'removed' | 'freedBytes' | 'failed'>;
}

export function addDone(run: ScopeRun, more: Partial<ScopeRun['done']>): void {
  const done = { ...run.done };
  for (const [name, count] of Object.entries(more)) done[name as keyof typeof done] += count;
  run.done = done;
}

type HeldScope = NonNullable<WorkspaceState['scope']>;

export function withScope(
  state: WorkspaceState,
  only: Only,
  { entering, leaving }: Pick<HeldScope, 'entering' | 'leaving'> = {},
): WorkspaceState {
  const { scope: _, ...whole } = state;
  if (!only) return whole;
  const unfinished = { ...(leaving ? { leaving } : {}), ...(entering ? { entering } : {}) };
  return { ...whole, scope: { only: [...only], ...unfinished } };
}

/** @throws `usage` for the patterns, `conflict` while a pull has not ended */
export function checkChange(session: Session, only: Only): void {
  if (only) checkScopePatterns(only);
  if (arrivalsOf(session).length > 0) throw interrupted(session);
  refusePending(session);
}

/** Without a base nothing tells which files the part has. @throws `conflict` if the branch has a commit */
export function requireCommonBase(
  { remoteName, state }: Session,
  { tip }: Pick<LinkedRepository, 'tip'>,
): void {
  if (!tip || state.bases[remoteName] !== undefined) return;
  throw new DrayError(
    'conflict',
    `This workspace has nothing in common with ${remoteName} yet, so what to fetch is not known.`,
    {
      data: { remote: remoteName, reason: 'noBase' },
      advice: 'Pull first, then change the scope.',
      command: 'dray pull',
    },
  );
}

export function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])];
}

/** Whether the first names anything that the second does not, by its patterns. */
export function reachesBeyond(only: Only, held: Only): boolean {
  return held !== undefined && (only === undefined || only.some((pattern) => !held.includes(pattern)));
}

function interrupted(session: Session): DrayError {
  const command = arrivalsOf(session).at(-1)?.command ?? 'dray pull';
  return new DrayError('conflict', 'A transfer ended before all files arrived.', {
    data: { reason: 'halfArrived' },
    advice: `Run "${command}" again, then change the scope.`,
    command,
  });
}
