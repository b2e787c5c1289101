/**
 * Which part of a dataset lies in a folder, for those who read its files without being in the workspace. Any
 * owner's workspace counts: what its state file says can only prevent a deletion.
 */
import { closeSync, existsSync, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import * as v from 'valibot';
import { OPEN_TO_READ } from '../base/open-to-read.ts';
import type { TreeReach } from '../files/scan/tree-reach.ts';
import type { HeldPart } from '../model/held-part.ts';
import { compileScope } from '../model/scope.ts';
import { DRAY_FOLDER, workspaceConfigPath } from './workspace-folder.ts';

const STATE_BYTES_MAX = 16 * 1024 * 1024;
const STATE_PATH = `${DRAY_FOLDER}/state.json`;

const StateOfPart = v.object({
  format: v.picklist([1, 2]),
  scope: v.optional(v.object({ only: v.array(v.string()) })),
});

/** The parts that lie in and around one folder, which is being listed. */
export interface PartsRead {
  /** Call for each folder on the way that has a `.dray`; it ends in `/`, or is ''. */
  pass(folder: string): void;
  /** Call at the end. What a workspace held at either time counts: its part may change meanwhile. */
  all(): readonly HeldPart[];
}

/** @param root The absolute path of the listed folder. */
export function createPartsRead({ absoluteOf }: Pick<TreeReach, 'absoluteOf'>, root: string): PartsRead {
  const place = realpathOf(root);
  const passed: string[] = [];
  const found = readPartsAbove(place);
  const read = (folder: string) => {
    const only = readOnly((name) => absoluteOf(folder + name));
    if (only !== undefined) found.push({ folder, below: '', only });
  };
  return {
    pass(folder) {
      passed.push(folder);
      read(folder);
    },
    all() {
      for (const folder of passed) read(folder);
      return [...found, ...readPartsAbove(place)];
    },
  };
}

/** A folder that has just gone is reported by its scan. */
function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The parts of the workspaces around an absolute folder, its own left out. */
function readPartsAbove(folder: string): HeldPart[] {
  const found: HeldPart[] = [];
  for (let at = folder; dirname(at) !== at; ) {
    at = dirname(at);
    if (!existsSync(workspaceConfigPath({ root: at }))) continue;
    const only = readOnly((name) => join(at, name));
    const below = `${relative(at, folder).replaceAll(sep, '/')}/`;
    if (only !== undefined)
      found.push({
        folder: '',
        below,
        only: only === null ? null : only.filter((pattern) => reaches(pattern, below)),
      });
  }
  return found;
}

/** A client of a served folder learns of no other pattern. */
function reaches(pattern: string, folder: string): boolean {
  try {
    return compileScope([pattern]).reachesInto(folder);
  } catch {
    return true;
  }
}

/** Undefined: everything, or it is no workspace. Null: nobody knows. */
function readOnly(pathOf: (name: string) => string): readonly string[] | null | undefined {
  let file: number;
  try {
    const held = lstatSync(pathOf(DRAY_FOLDER), { throwIfNoEntry: false });
    if (!held?.isDirectory() && !held?.isSymbolicLink()) return undefined;
    file = openSync(pathOf(STATE_PATH), OPEN_TO_READ);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : null;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > STATE_BYTES_MAX) return null;
    return v.parse(StateOfPart, JSON.parse(readFileSync(file, 'utf8'))).scope?.only;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
