/** The workspace that the screens are about, kept over restarts. */
import { useEffect, useSyncExternalStore } from 'react';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import { createListeners } from '../host/listeners.ts';
import { useAsk } from '../host/use-host.tsx';

const KEY = 'dray.workspace';
const { notify, subscribe } = createListeners();

export function chooseWorkspace(root: string): void {
  localStorage.setItem(KEY, root);
  notify();
}

export interface Workspaces {
  /** Undefined until they arrive. */
  readonly all: readonly WorkspaceCard[] | undefined;
  /** The chosen one. Without a choice the first one, which is chosen by that. */
  readonly current: WorkspaceCard | undefined;
  /** The chosen one, while its folder is not there, not complete or not trusted. No other takes its place. */
  readonly away: WorkspaceCard | undefined;
}

export function useWorkspaces(): Workspaces {
  const chosen = useSyncExternalStore(subscribe, () => localStorage.getItem(KEY));
  const { data } = useAsk('home.list', {}, { freshMs: 5_000 });
  const all = data?.workspaces;
  const first = (wanted: WorkspaceCard['state']) => all?.find(({ state }) => state === wanted);
  const meant = all?.find(({ root }) => root === chosen) ?? first('ready') ?? first('foreign');
  // Or a workspace that is added later would take its place under an open screen, and the next push.
  const root = meant?.state === 'ready' ? meant.root : undefined;
  useEffect(() => {
    if (root !== undefined && root !== chosen) chooseWorkspace(root);
  }, [root, chosen]);
  return meant?.state === 'ready'
    ? { all, current: meant, away: undefined }
    : { all, current: undefined, away: meant };
}
