/** The incoming and outgoing changes of all workspaces, shared by all screens. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import type { IncomingLook, WorkspaceCard } from '../../engine/api/host/home.ts';
import type { AnswerOf } from '../../engine/api/host.ts';
import type { ChangeTotals, StatusSummary } from '../../engine/api/jobs/jobs.ts';
import { type UseAskOptions, useAsk } from '../host/use-host.tsx';

/**
 * A hidden page sends no request. When it is visible again, it asks if the answer is older than `FRESH_MS`.
 */
const EVERY_MS = 4 * 60_000;
const FRESH_MS = 60_000;
const LOOK = { maxAgeMs: FRESH_MS };

/** Counting changes scans the folder. Larger workspaces are scanned only on request. */
export const LOOKED_AT_FILES_MAX = 200_000;

export function useIncoming(): readonly IncomingLook[] {
  const { data } = useAsk('home.look', LOOK, { everyMs: EVERY_MS, freshMs: FRESH_MS, onReturn: true });
  return data?.looks ?? [];
}

export function useIncomingOf(root: string | undefined): IncomingLook | undefined {
  return useIncoming().find((look) => look.root === root);
}

/** The number of local changes of the workspace. Undefined while unknown. */
export function useOutgoing(workspace: WorkspaceCard | undefined): number | undefined {
  const { files = 0, root = '/', state } = workspace ?? {};
  const when = state === 'ready' && files <= LOOKED_AT_FILES_MAX;
  const { data } = useStatus(root, { when, freshMs: FRESH_MS });
  return when && data ? countChanges(data.changes) : undefined;
}

/** Counts the local changes of the workspace, also for the sums over all workspaces. */
export function useStatus(root: string, options: Pick<UseAskOptions, 'when' | 'freshMs'>) {
  const client = useQueryClient();
  const status = useAsk('changes.status', { root }, { ...options, onReturn: true });
  const { data, dataUpdatedAt } = status;
  useEffect(() => {
    // An equal answer counts too: the sums may have lost an older one.
    if (data && dataUpdatedAt > 0) putInSums(client, root, data.changes);
  }, [client, root, data, dataUpdatedAt]);
  return status;
}

/** Shows what another scan of the workspace has counted wherever its local changes are counted. */
export function useKnowOutgoing(): (root: string, changes: ChangeTotals) => void {
  const client = useQueryClient();
  return useCallback(
    (root, changes) => {
      client.setQueryData<StatusSummary>(
        ['changes.status', { root }],
        (before) => before && { ...before, changes },
      );
      putInSums(client, root, changes);
    },
    [client],
  );
}

function putInSums(client: QueryClient, root: string, changes: ChangeTotals): void {
  const key = ['home.look', LOOK];
  const known = client.getQueryState<AnswerOf<'home.look'>>(key);
  if (!known?.data) return;
  const outgoing = countChanges(changes);
  const looks = known.data.looks.map((look) => (look.root === root ? { ...look, outgoing } : look));
  // The remotes have not been asked again, so the answer keeps its age.
  client.setQueryData<AnswerOf<'home.look'>>(key, { looks }, { updatedAt: known.dataUpdatedAt });
}

function countChanges({ added, deleted, mode, modified, renamed }: ChangeTotals): number {
  return added + deleted + mode + modified + renamed;
}
