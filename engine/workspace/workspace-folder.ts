/**
 * A workspace on disk: a folder that contains `.dray/`.
 *
 * `.dray/config.json` holds remotes and settings; `.dray/state.json` the branch and each remote's base
 * commit; `.dray/index.db` the index (a cache); `.dray/tmp/` unfinished files; `.dray/lock` the process that
 * works here. No secret is ever written there. Both JSON files are replaced atomically.
 */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { readOpenFile } from '../base/json-file.ts';
import { makeFolders } from '../base/make-folders.ts';
import { syncFolder } from '../files/disk/unsynced-mark.ts';
import { writeError } from '../files/write/write-error.ts';
import { type AllowsFolder, checkFileOwner, checkOwner } from './folder-owner.ts';

const FORMAT = 1;
/** Of a state with a scope: a Dray that knows no scope would push the rest of the dataset as deleted. */
const FORMAT_OF_SCOPE = 2;
/**
 * Of a state with entries that the file system cannot hold, with a version that is only looked at, or with a
 * merge: an earlier Dray would push the first as deleted, and drop the other two.
 */
const FORMAT_OF_MORE = 3;
const BYTES = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const HEX = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const REMOTE = v.object({
  url: v.string(),
  /** The repository's id and layout, once known; they never change. */
  repository: v.optional(v.string()),
  layout: v.optional(
    v.object({
      packBelow: BYTES,
      packTarget: BYTES,
      chunkAbove: BYTES,
      chunkSize: v.object({ min: BYTES, average: BYTES, max: BYTES }),
      compression: v.optional(v.picklist(['auto', 'max'])),
      cutterKey: v.optional(HEX),
    }),
  ),
  /** Present if the repository is encrypted: what its descriptor said of its master key. */
  sealed: v.optional(HEX),
});

const CONFIG = v.object({
  format: v.literal(FORMAT),
  defaultRemote: v.string(),
  remotes: v.record(v.string(), REMOTE),
  settings: v.record(v.string(), v.string()),
});

const COMMIT = HEX;

const ARRIVAL = v.object({
  commit: COMMIT,
  command: v.string(),
  /** What its first run had to write, so that a later one can say how much it found. */
  files: v.optional(v.number()),
  bytes: v.optional(v.number()),
});

const STATE = v.object({
  format: v.picklist([FORMAT, FORMAT_OF_SCOPE, FORMAT_OF_MORE]),
  branch: v.string(),
  /** By remote name: the commit that the workspace is based on. */
  bases: v.record(v.string(), COMMIT),
  /** By remote name: the branch whose history the base is in, where that is known. */
  follows: v.optional(v.record(v.string(), v.string())),
  /** By remote name: commits some of whose files may be here (jobs/session/base/arrivals.ts). */
  arriving: v.optional(v.record(v.string(), v.pipe(v.array(ARRIVAL), v.minLength(1)))),
  /** By path: entries that this file system cannot hold (jobs/working-copy/unheld-entries.ts), and why. */
  unheld: v.optional(v.record(v.string(), v.picklist(['link', 'mount', 'name', 'twin']))),
  /**
   * By remote name: the base is another version than that of the branch, which somebody looks at
   * (jobs/session/branch/detached.ts). `ref` is what they typed.
   */
  detached: v.optional(v.record(v.string(), v.object({ ref: v.string() }))),
  /** By remote name: a merge or a revert that is not pushed yet (jobs/merge/pending-merge.ts). */
  merging: v.optional(
    v.record(
      v.string(),
      v.object({
        kind: v.picklist(['merge', 'revert']),
        /** The commit that is merged, or taken back. */
        commit: COMMIT,
        /** As it was typed. */
        ref: v.string(),
        /** Of a revert of a merge: to which of its parents. Counts from 1. */
        parent: v.optional(v.number()),
        /** Of the next push, unless it has its own. */
        message: v.string(),
        /** Present until all files are written. */
        isUnfinished: v.optional(v.literal(true)),
      }),
    ),
  ),
  /** Present until the workspace's clone has finished. `ref` is the requested ref. */
  cloning: v.optional(v.object({ ref: v.optional(v.string()) })),
  /** The part of the dataset that the workspace holds (model/scope.ts). Absent: all of it. */
  scope: v.optional(
    v.object({
      only: v.pipe(v.array(v.string()), v.minLength(1)),
      /** Files of this earlier scope may still have to be removed. Without a pattern: everything. */
      leaving: v.optional(v.array(v.string())),
      /**
       * Widenings that did not end: their files, as the commit has them, may be here, outside of the scope
       * (jobs/scope/unfinished-widening.ts). `only` without a pattern: everything.
       */
      entering: v.optional(
        v.array(v.object({ remote: v.string(), commit: COMMIT, only: v.array(v.string()) })),
      ),
    }),
  ),
});

export type WorkspaceConfig = Readonly<v.InferOutput<typeof CONFIG>>;
export type WorkspaceState = Readonly<v.InferOutput<typeof STATE>>;

export const DRAY_FOLDER = '.dray';
const CONFIG_NAME = 'config.json';
const STATE_NAME = 'state.json';

export interface WorkspaceFolder {
  /** Absolute. */
  readonly root: string;
  readonly indexPath: string;
  readonly temporaryFolder: string;
  readonly lockPath: string;
  /** The user allowed it (`safe.directory`), whoever owns it. */
  readonly isAllowed?: boolean;
}

function workspaceAt(root: string): WorkspaceFolder {
  const folder = join(root, DRAY_FOLDER);
  return {
    root,
    indexPath: join(folder, 'index.db'),
    temporaryFolder: join(folder, 'tmp'),
    lockPath: join(folder, 'lock'),
  };
}

/**
 * The workspace that contains `folder`, or undefined.
 * @throws `usage` when it belongs to another user and `allows` rejects it.
 */
export function findWorkspace(folder: string, allows: AllowsFolder): WorkspaceFolder | undefined {
  for (const root of workspaceRoots(folder)) return ownWorkspace(root, allows);
  return undefined;
}

function ownWorkspace(root: string, allows: AllowsFolder): WorkspaceFolder {
  const workspace = workspaceAt(root);
  try {
    checkOwner(join(root, DRAY_FOLDER));
    return workspace;
  } catch (error) {
    if (!allows(root)) throw error;
    return { ...workspace, isAllowed: true };
  }
}

/** Nearest first. */
function* workspaceRoots(folder: string): Generator<string> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, DRAY_FOLDER, CONFIG_NAME))) yield at;
    if (dirname(at) === at) return;
  }
}

/** @throws `notAWorkspace` when there is none. */
export function requireWorkspace(folder: string, allows: AllowsFolder): WorkspaceFolder {
  const found = findWorkspace(folder, allows);
  if (found) return found;
  throw new DrayError('notAWorkspace', `${resolve(folder)} is not in a workspace.`, {
    data: { path: resolve(folder) },
    advice: 'Create one with "dray init --remote URL", or go into one (or name it with -C).',
  });
}

/**
 * @throws `workspaceExists` when `root` is a workspace or lies inside one. Another user's workspace does not
 * count: Dray does not use it, so it must not block work below it either.
 */
export function refuseNesting(root: string): void {
  const outer = [...workspaceRoots(root)].find((at) => at === resolve(root) || isOwnWorkspace(at));
  if (outer === undefined) return;
  const where = outer === resolve(root) ? 'is a workspace already' : `lies inside the workspace ${outer}`;
  throw new DrayError(
    'workspaceExists',
    `${resolve(root)} ${where}. Choose another folder, or use that workspace.`,
    {
      data: { path: resolve(root), workspace: outer },
    },
  );
}

function isOwnWorkspace(root: string): boolean {
  try {
    checkOwner(join(root, DRAY_FOLDER));
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates `.dray/` in `root`. The settings are written last: without them the folder is not a workspace, and
 * can be created again. @throws `workspaceExists`
 */
export function createWorkspace(
  root: string,
  config: WorkspaceConfig,
  state: WorkspaceState,
): WorkspaceFolder {
  refuseNesting(root);
  const workspace = workspaceAt(resolve(root));
  makeFolder(workspace.temporaryFolder);
  writeState(workspace, state);
  writeConfig(workspace, config);
  return workspace;
}

/** @param mode The mode of each created folder; default: the system's. @throws `io`, `diskFull` */
export function makeFolder(path: string, mode?: number): void {
  try {
    makeFolders(path, mode);
  } catch (error) {
    throw writeError(refusalAbove(path) ?? error, path);
  }
}

/**
 * Why nothing can be created in the nearest existing parent: on a read-only disk Node reports only ENOENT.
 */
function refusalAbove(path: string): unknown {
  const above = dirname(path);
  if (!existsSync(above)) return above === path ? undefined : refusalAbove(above);
  try {
    accessSync(above, constants.W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The order makes a half-removed workspace look like an unfinished one: see `isHalfMade`. */
export function removeWorkspace(root: string): void {
  if (!existsSync(join(root, DRAY_FOLDER))) return;
  rmSync(join(root, DRAY_FOLDER, CONFIG_NAME), { force: true });
  rmSync(join(root, DRAY_FOLDER), { recursive: true, force: true });
}

/** The names that a killed `createWorkspace` or `removeWorkspace` can leave: all except the settings. */
const NAMES_BEFORE_SETTINGS = /^(?:config\.json\.new|state\.json(?:\.new)?|index\.db.*|lock.*|tmp)$/;

/** Whether `root` has a `.dray/` that a killed run left without settings, so that it can be created again. */
export function isHalfMade(root: string): boolean {
  const folder = join(root, DRAY_FOLDER);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
  return readdirSync(folder).every((name) => NAMES_BEFORE_SETTINGS.test(name));
}

/** The file with its remotes and settings, for messages. */
export function workspaceConfigPath({ root }: Pick<WorkspaceFolder, 'root'>): string {
  return join(root, DRAY_FOLDER, CONFIG_NAME);
}

export function readConfig(workspace: WorkspaceFolder): WorkspaceConfig {
  return readJson(CONFIG, workspace, CONFIG_NAME);
}

/** Only the owner can read it if it holds the key by which an encrypted repository cuts files. */
export function writeConfig(workspace: WorkspaceFolder, config: WorkspaceConfig): void {
  const hasKey = Object.values(config.remotes).some(({ layout }) => layout?.cutterKey !== undefined);
  replaceFile(workspaceConfigPath(workspace), config, hasKey ? 0o600 : 0o666);
}

export function readState(workspace: WorkspaceFolder): WorkspaceState {
  return readJson(STATE, workspace, STATE_NAME);
}

export function writeState(workspace: WorkspaceFolder, state: WorkspaceState): void {
  const hasMore = state.unheld || state.detached || state.merging;
  const format = hasMore ? FORMAT_OF_MORE : state.scope ? FORMAT_OF_SCOPE : FORMAT;
  replaceFile(join(workspace.root, DRAY_FOLDER, STATE_NAME), { ...state, format });
}

/** The new state is on the disk when this returns, also after a power cut. */
export function writeStateDurably(workspace: WorkspaceFolder, state: WorkspaceState): void {
  writeState(workspace, state);
  syncFolder(join(workspace.root, DRAY_FOLDER));
}

function readJson<S extends v.GenericSchema>(
  schema: S,
  { isAllowed = false, root }: WorkspaceFolder,
  name: string,
): v.InferOutput<S> {
  const path = join(root, DRAY_FOLDER, name);
  let text: string;
  try {
    text = readOpenFile(path, (file) => {
      if (!isAllowed) checkFileOwner(root, path, file);
    });
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    const message = `Cannot read ${path}: ${(cause as Error).message}. Restore it, or clone into another folder.`;
    throw new DrayError('io', message, { cause, data: { path } });
  }
  try {
    const value: unknown = JSON.parse(text);
    checkFormat(path, value, name === STATE_NAME ? FORMAT_OF_MORE : FORMAT);
    return v.parse(schema, value);
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    const message = `${path} is not in the form that Dray writes: ${(cause as Error).message}. Mend or restore it.`;
    throw new DrayError('damaged', message, { cause, data: { path } });
  }
}

function checkFormat(path: string, value: unknown, newest: number): void {
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format !== 'number' || format <= newest) return;
  const message =
    `${path} has format ${format}, and this Dray supports ${newest}. ` +
    'Upgrade Dray to work in this workspace.';
  throw new DrayError('formatTooNew', message, { data: { path, format } });
}

function replaceFile(path: string, value: unknown, mode = 0o666): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  try {
    const file = openSync(temporary, 'w', mode);
    try {
      // Writes all bytes: a single write may end early on a nearly full disk.
      writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(error, path);
  }
}
