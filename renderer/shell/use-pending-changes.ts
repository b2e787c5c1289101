/** The incoming and outgoing changes of all workspaces, shared by all screens. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { IncomingLook, WorkspaceCard } from '../../engine/api/host/home.ts';
import type { ChangeTotals, StatusSummary } from '../../engine/api/jobs.ts';
import { useAsk } from '../host/use-host.tsx';

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
  const { data } = useAsk('changes.status', { root }, { when, freshMs: FRESH_MS, onReturn: true });
  return when && data ? countChanges(data.changes) : undefined;
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
    },
    [client],
  );
}

function countChanges({ added, deleted, mode, modified, renamed }: ChangeTotals): number {
  return added + deleted + mode + modified + renamed;
}
