/**
 * A workspace on disk: a folder with `.dray/` in it.
 *
 * `.dray/config.json` remotes and settings; `.dray/state.json` the branch and each remote's base commit;
 * `.dray/index.db` the index (a cache); `.dray/tmp/` files on their way; `.dray/lock` who works here now.
 * No secret is ever written there. Both JSON files are replaced atomically.
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
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { writeError } from './tree-writer-error.ts';

const FORMAT = 1;
const BYTES = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const REMOTE = v.object({
  url: v.string(),
  /** The repository's id and layout, once they are known; they never change. */
  repository: v.optional(v.string()),
  layout: v.optional(
    v.object({
      packBelow: BYTES,
      packTarget: BYTES,
      chunkAbove: BYTES,
      chunkSize: v.object({ min: BYTES, average: BYTES, max: BYTES }),
    }),
  ),
});

const CONFIG = v.object({
  format: v.literal(FORMAT),
  defaultRemote: v.string(),
  remotes: v.record(v.string(), REMOTE),
  settings: v.record(v.string(), v.string()),
});

const COMMIT = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const STATE = v.object({
  format: v.literal(FORMAT),
  branch: v.string(),
  /** By remote name: the commit that the workspace is based on. */
  bases: v.record(v.string(), COMMIT),
  /** By remote name: commits of which some files may be here already (jobs/arrivals.ts). */
  arriving: v.optional(
    v.record(v.string(), v.pipe(v.array(v.object({ commit: COMMIT, command: v.string() })), v.minLength(1))),
  ),
});

export type WorkspaceConfig = Readonly<v.InferOutput<typeof CONFIG>>;
export type WorkspaceState = Readonly<v.InferOutput<typeof STATE>>;

export const DRAY_FOLDER = '.dray';
const CONFIG_NAME = 'config.json';

export interface WorkspaceFolder {
  /** Absolute. */
  readonly root: string;
  readonly indexPath: string;
  readonly temporaryFolder: string;
  readonly lockPath: string;
}

export function workspaceAt(root: string): WorkspaceFolder {
  const folder = join(root, DRAY_FOLDER);
  return {
    root,
    indexPath: join(folder, 'index.db'),
    temporaryFolder: join(folder, 'tmp'),
    lockPath: join(folder, 'lock'),
  };
}

/** The workspace that `folder` lies in, or undefined. */
export function findWorkspace(folder: string): WorkspaceFolder | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, DRAY_FOLDER, CONFIG_NAME))) return workspaceAt(at);
    if (dirname(at) === at) return undefined;
  }
}

/** @throws `notAWorkspace` when there is none. */
export function requireWorkspace(folder: string): WorkspaceFolder {
  const found = findWorkspace(folder);
  if (found) return found;
  throw new DrayError(
    'notAWorkspace',
    `${resolve(folder)} is not in a workspace. Make one with "dray init --remote URL", or go into one (or name it with -C).`,
    { data: { path: resolve(folder) } },
  );
}

/** @throws `workspaceExists` when `root` is a workspace or lies inside one. */
export function refuseNesting(root: string): void {
  const outer = findWorkspace(root);
  if (!outer) return;
  const where =
    outer.root === resolve(root) ? 'is a workspace already' : `lies inside the workspace ${outer.root}`;
  throw new DrayError(
    'workspaceExists',
    `${resolve(root)} ${where}. Choose another folder, or use that workspace.`,
    {
      data: { path: resolve(root), workspace: outer.root },
    },
  );
}

/** Makes `.dray/` in `root`. The settings come last: without them it is no workspace, and can be made again. @throws `workspaceExists` */
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

/** @throws `io`, `diskFull` */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw writeError(refusalAbove(path) ?? error, path);
  }
}

/** Why nothing can be made in the nearest folder above that is there: Node calls it ENOENT on a read-only disk. */
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

/** The order makes a half-removed workspace look like one that was never finished: see `isHalfMade`. */
export function removeWorkspace(root: string): void {
  if (!existsSync(join(root, DRAY_FOLDER))) return;
  rmSync(join(root, DRAY_FOLDER, CONFIG_NAME), { force: true });
  rmSync(join(root, DRAY_FOLDER), { recursive: true, force: true });
}

/** What `createWorkspace`, and `removeWorkspace` in reverse, may leave when they are killed: all but the settings. */
const NAMES_BEFORE_SETTINGS = /^(?:config\.json\.new|state\.json(?:\.new)?|index\.db.*|lock.*|tmp)$/;

/** Whether `root` has a `.dray/` that a killed run left without settings, so that it may be made again. */
export function isHalfMade(root: string): boolean {
  const folder = join(root, DRAY_FOLDER);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
  return readdirSync(folder).every((name) => NAMES_BEFORE_SETTINGS.test(name));
}

export function readConfig(workspace: WorkspaceFolder): WorkspaceConfig {
  return readJson(CONFIG, join(workspace.root, DRAY_FOLDER, CONFIG_NAME));
}

export function writeConfig(workspace: WorkspaceFolder, config: WorkspaceConfig): void {
  replaceFile(join(workspace.root, DRAY_FOLDER, CONFIG_NAME), config);
}

export function readState(workspace: WorkspaceFolder): WorkspaceState {
  return readJson(STATE, join(workspace.root, DRAY_FOLDER, 'state.json'));
}

export function writeState(workspace: WorkspaceFolder, state: WorkspaceState): void {
  replaceFile(join(workspace.root, DRAY_FOLDER, 'state.json'), state);
}

function readJson<S extends v.GenericSchema>(schema: S, path: string): v.InferOutput<S> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `Cannot read ${path}: ${(cause as Error).message}. Restore it, or clone into another folder.`;
    throw new DrayError('io', message, { cause, data: { path } });
  }
  try {
    const value: unknown = JSON.parse(text);
    checkFormat(path, value);
    return v.parse(schema, value);
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    const message = `${path} does not hold what Dray writes there: ${(cause as Error).message}. Mend or restore it.`;
    throw new DrayError('damaged', message, { cause, data: { path } });
  }
}

function checkFormat(path: string, value: unknown): void {
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format !== 'number' || format <= FORMAT) return;
  const message = `${path} has format ${format}, and this Dray knows ${FORMAT}. Upgrade Dray to work in this workspace.`;
  throw new DrayError('formatTooNew', message, { data: { path, format } });
}

function replaceFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.new`;
  try {
    const file = openSync(temporary, 'w', 0o666);
    try {
      // All of it: a single write may end early on a disk that is nearly full.
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
