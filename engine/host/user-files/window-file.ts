/**
 * The window's memory between runs: known workspaces and settings, in `window.json` beside the user's other
 * settings.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { COLUMN_IDS, COLUMN_TABLES, type Settings } from '../../api/host/settings.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';

const DEFAULTS: Settings = {
  theme: 'system',
  density: 'comfortable',
  bandwidth: { limit: null },
  transfers: null,
  notifications: true,
  looksForIncoming: true,
};

const COLUMNS = v.array(
  v.object({
    id: v.picklist(COLUMN_IDS),
    widthPx: v.exactOptional(v.number()),
    isHidden: v.exactOptional(v.literal(true)),
  }),
);

const SETTINGS = v.object({
  theme: v.picklist(['system', 'light', 'dark']),
  // Absent in files of older versions.
  density: v.optional(v.picklist(['comfortable', 'compact']), 'comfortable'),
  bandwidth: v.object({
    limit: v.nullable(v.number()),
    from: v.exactOptional(v.string()),
    to: v.exactOptional(v.string()),
  }),
  transfers: v.nullable(v.number()),
  notifications: v.boolean(),
  looksForIncoming: v.optional(v.boolean(), true),
  columns: v.exactOptional(v.object(v.entriesFromList(COLUMN_TABLES, v.exactOptional(COLUMNS)))),
});

const SCHEMA = v.object({
  workspaces: v.array(v.string()),
  settings: v.optional(SETTINGS, DEFAULTS),
});

export interface WindowFacts {
  /** Absolute roots, the newest first. */
  readonly workspaces: readonly string[];
  readonly settings: Settings;
}

export interface WindowFile {
  read(): WindowFacts;
  /** Reads, changes and replaces under a lock: another window's host may write at the same time. */
  change(change: (facts: WindowFacts) => WindowFacts): WindowFacts;
}

export function openWindowFile(folder: string): WindowFile {
  const path = join(folder, 'window.json');
  const read = (): WindowFacts => readJsonFile(path, SCHEMA) ?? { workspaces: [], settings: DEFAULTS };
  return {
    read,
    change(change) {
      const next = change(read());
      writeJsonFile(path, next);
      return next;
    },
  };
}
