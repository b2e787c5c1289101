/** The workspace that the screens are about, kept over restarts. */
import { useSyncExternalStore } from 'react';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import { useAsk } from '../host/use-host.tsx';

const KEY = 'dray.workspace';
const listeners = new Set<() => void>();

export function chooseWorkspace(root: string): void {
  localStorage.setItem(KEY, root);
  for (const listener of listeners) listener();
}

export interface Workspaces {
  /** Undefined until they arrive. */
  readonly all: readonly WorkspaceCard[] | undefined;
  /** The chosen one, or the first one. */
  readonly current: WorkspaceCard | undefined;
}

export function useWorkspaces(): Workspaces {
  const chosen = useSyncExternalStore(watchChoice, () => localStorage.getItem(KEY));
  const { data } = useAsk('home.list', {}, { freshMs: 5_000 });
  const all = data?.workspaces;
  const ready = all?.filter(({ state }) => state === 'ready');
  return { all, current: ready?.find(({ root }) => root === chosen) ?? ready?.[0] };
}

function watchChoice(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
