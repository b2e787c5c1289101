import type { ScopeSummary } from '../../api/jobs/scope.ts';
import type { WorkspaceState } from '../../workspace/workspace-folder.ts';
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
  /** What it has done so far. */
  done: Pick<ScopeSummary, 'fetched' | 'downloadedBytes' | 'removed' | 'freedBytes' | 'failed'>;
}

export type HeldScope = NonNullable<WorkspaceState['scope']>;

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
