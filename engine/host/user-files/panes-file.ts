/** Where the two panes of Browse were, in `panes.json` beside the user's other settings. */
import { join } from 'node:path';
import * as v from 'valibot';
import type { KeptPane, KeptPanes } from '../../api/host/browse.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';

const PANE = v.object({
  root: v.string(),
  folder: v.string(),
  column: v.picklist(['name', 'size', 'time']),
  isDescending: v.boolean(),
});
const SCHEMA = v.object({ left: v.exactOptional(PANE), right: v.exactOptional(PANE) });

export interface PanesFile {
  read(): KeptPanes;
  keep(side: keyof KeptPanes, pane: KeptPane): void;
}

export function openPanesFile(folder: string): PanesFile {
  const path = join(folder, 'panes.json');
  const read = (): KeptPanes => readJsonFile(path, SCHEMA) ?? {};
  return {
    read,
    // The other pane may have been moved in another window meanwhile.
    keep: (side, pane) => writeJsonFile(path, { ...read(), [side]: pane }),
  };
}
