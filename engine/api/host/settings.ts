/** The requests for the settings of the window. */
import type { Nothing } from './in-workspace.ts';

export interface SettingsRequests {
  'settings.get': { input: Nothing; answer: Settings };
  'settings.set': { input: Partial<Omit<Settings, 'columns'>>; answer: Settings };
  /** Replaces the columns of one table. An empty list resets them. */
  'settings.keepColumns': {
    input: { readonly table: ColumnTable; readonly columns: readonly ColumnSetting[] };
    answer: Settings;
  };
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
  /** Only tables whose columns the user has changed. */
  readonly columns?: { readonly [T in ColumnTable]?: readonly ColumnSetting[] };
}

export const COLUMN_TABLES = ['browse', 'changes', 'transfers'] as const;
export type ColumnTable = (typeof COLUMN_TABLES)[number];
export const COLUMN_IDS = ['size', 'time', 'kind'] as const;
export type ColumnId = (typeof COLUMN_IDS)[number];
export const COLUMN_PX_MIN = 48;
export const COLUMN_PX_MAX = 600;

export interface ColumnSetting {
  readonly id: ColumnId;
  readonly widthPx?: number;
  readonly isHidden?: true;
}
