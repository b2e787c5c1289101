/** The workspace that the screens are about, kept over restarts. */
import { useSyncExternalStore } from 'react';
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
  /** The chosen one; without a choice the first one. */
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
  return meant?.state === 'ready'
    ? { all, current: meant, away: undefined }
    : { all, current: undefined, away: meant };
}
