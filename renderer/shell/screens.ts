/**
 * The screens. Home comes with the window; the others are fetched when first opened, or when the window
 * is idle.
 */
import { type ComponentType, lazy } from 'react';
import type { IconName } from '../design/icon.tsx';
import type { ScreenName } from '../route.ts';
import { HomeScreen } from '../screens/home.tsx';

export interface ScreenEntry {
  readonly title: string;
  readonly icon: IconName;
  readonly Screen: ComponentType;
}

const LATER = {
  changes: () => import('../screens/changes.tsx').then((module) => ({ default: module.ChangesScreen })),
  plan: () => import('../screens/plan.tsx').then((module) => ({ default: module.PlanScreen })),
  transfers: () => import('../screens/transfers.tsx').then((module) => ({ default: module.TransfersScreen })),
  jobs: () => import('../screens/jobs.tsx').then((module) => ({ default: module.JobsScreen })),
  fleet: () => import('../screens/fleet.tsx').then((module) => ({ default: module.FleetScreen })),
  history: () => import('../screens/history.tsx').then((module) => ({ default: module.HistoryScreen })),
  browse: () => import('../screens/browse.tsx').then((module) => ({ default: module.BrowseScreen })),
  repositories: () =>
    import('../screens/repositories.tsx').then((module) => ({ default: module.RepositoriesScreen })),
  remotes: () => import('../screens/remotes.tsx').then((module) => ({ default: module.RemotesScreen })),
  settings: () => import('../screens/settings.tsx').then((module) => ({ default: module.SettingsScreen })),
};

export const SCREENS: Readonly<Record<ScreenName, ScreenEntry>> = {
  home: { title: 'Home', icon: 'home', Screen: HomeScreen },
  changes: { title: 'Changes', icon: 'changes', Screen: lazy(LATER.changes) },
  plan: { title: 'Plan', icon: 'plan', Screen: lazy(LATER.plan) },
  transfers: { title: 'Transfers', icon: 'transfers', Screen: lazy(LATER.transfers) },
  jobs: { title: 'Jobs', icon: 'jobs', Screen: lazy(LATER.jobs) },
  fleet: { title: 'Fleets', icon: 'fleet', Screen: lazy(LATER.fleet) },
  history: { title: 'History', icon: 'history', Screen: lazy(LATER.history) },
  browse: { title: 'Browse', icon: 'browse', Screen: lazy(LATER.browse) },
  repositories: { title: 'Repositories', icon: 'repositories', Screen: lazy(LATER.repositories) },
  remotes: { title: 'Remotes', icon: 'remotes', Screen: lazy(LATER.remotes) },
  settings: { title: 'Settings', icon: 'settings', Screen: lazy(LATER.settings) },
};

/** Fetches the screens that were not opened yet. */
export function fetchScreens(): void {
  for (const fetchScreen of Object.values(LATER)) fetchScreen().catch(() => {});
}
