/** The requests for the settings of the window. */
import type { Nothing } from './in-workspace.ts';

export interface SettingsRequests {
  'settings.get': { input: Nothing; answer: Settings };
  'settings.set': { input: Partial<Settings>; answer: Settings };
}

export interface Settings {
  readonly theme: 'system' | 'light' | 'dark';
  /** The height of rows in lists and tables. */
  readonly density: 'comfortable' | 'compact';
  /** Bytes per second by day and hour; null: no limit. */
  readonly bandwidth: { readonly limit: number | null; readonly from?: string; readonly to?: string };
  readonly transfers: number | null;
  readonly notifications: boolean;
  /** Ask remotes for new commits every few minutes. */
  readonly looksForIncoming: boolean;
}
