/** The folders and the order of Browse's two panes, in `panes.json` beside the user's other settings. */
import { join } from 'node:path';
import * as v from 'valibot';
import type { KeptPane, KeptPanes } from '../../api/host/browse.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import { pane } from '../port/host-inputs.ts';

const PANE = v.object(pane.entries);
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
    // Read again, because another window may have changed the other pane.
    keep: (side, kept) => writeJsonFile(path, { ...read(), [side]: kept }),
  };
}
