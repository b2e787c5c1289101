/**
 * The user's own settings, valid in every folder: remotes (`dray remote add --user`) and trusted workspaces
 * of other users (`dray config --user safe.directory`). They lie beside other programs' settings and contain
 * no secret.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { AllowsFolder } from '../../workspace/folder-owner.ts';
import { makeFolder } from '../../workspace/workspace-folder.ts';
import { lockWorkspace } from '../../workspace/workspace-lock.ts';

export type UserRemotes = Readonly<Record<string, { readonly url: string }>>;

const SCHEMA = v.object({
  remotes: v.optional(v.record(v.string(), v.object({ url: v.string() })), {}),
  'safe.directory': v.optional(v.array(v.string()), []),
});
type UserSettings = Readonly<v.InferOutput<typeof SCHEMA>>;

/** The folder of the user's own files: that of the settings. */
export function userConfigFolder(context: Pick<JobContext, 'environment'>): string {
  return dirname(userConfigPath(context));
}

/** The user's cache folder: `DRAY_CACHE`, or the system's. */
export function userCacheFolder(context: Pick<JobContext, 'environment'>, home = homedir()): string {
  const { DRAY_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = context.environment;
  if (DRAY_CACHE) return DRAY_CACHE;
  if (XDG_CACHE_HOME) return `${XDG_CACHE_HOME}/dray`;
  if (process.platform === 'win32' && LOCALAPPDATA) return `${LOCALAPPDATA}/dray/cache`;
  return process.platform === 'darwin' ? `${home}/Library/Caches/dray` : `${home}/.cache/dray`;
}

/** Locked for the milliseconds of a change. */
const LOCK_NAME = 'dray-settings.lock';
const LOCK_PATIENCE_MS = 10_000;

/**
 * Reads and writes the user's files as one step: of two processes that change them at once, one waits for the
 * other.
 * @throws DrayError `locked`, `io`, and whatever `change` throws
 */
export async function changingSettings<T>(
  context: Pick<JobContext, 'environment'>,
  change: () => T,
): Promise<T> {
  const folder = userConfigFolder(context);
  makeFolder(folder, 0o700);
  using _lock = await lockWorkspace({
    path: join(folder, LOCK_NAME),
    what: 'Your settings file',
    command: 'settings',
    clock: systemClock,
    signal: new AbortController().signal,
    patienceMs: LOCK_PATIENCE_MS,
    onWait: () => {},
  });
  return change();
}

/** `DRAY_CONFIG` (a file), or `dray/config.json` where the system keeps settings. */
export function userConfigPath({ environment }: Pick<JobContext, 'environment'>): string {
  const { APPDATA, DRAY_CONFIG, XDG_CONFIG_HOME } = environment;
  if (DRAY_CONFIG) return DRAY_CONFIG;
  const folder =
    XDG_CONFIG_HOME ||
    (process.platform === 'win32' && APPDATA ? APPDATA : join(environment.HOME || homedir(), '.config'));
  return join(folder, 'dray', 'config.json');
}

/** @throws `usage` when the file is damaged */
export function readUserRemotes(context: Pick<JobContext, 'environment'>): UserRemotes {
  return byName(readUserSettings(context).remotes);
}

/** Roots of workspaces, or `*`. @throws `usage` when the file is damaged */
export function readSafeDirectories(context: Pick<JobContext, 'environment'>): readonly string[] {
  return readUserSettings(context)['safe.directory'];
}

/** Returns a check whether this user allows a workspace of another user. */
export function allowedBy(context: Pick<JobContext, 'environment'>): AllowsFolder {
  return (root) => {
    const roots = [root, behindLink(root)];
    return readSafeDirectories(context).some(
      (safe) => safe === '*' || roots.includes(safe) || roots.includes(behindLink(resolve(safe))),
    );
  };
}

function isFolder(path: string, cause: unknown): DrayError {
  const message = `${path} is a folder, where the file of your settings has to be.`;
  const advice = `Set DRAY_CONFIG=${shellWord(join(path, 'config.json'))}.`;
  return new DrayError('usage', message, { data: { path }, cause, advice });
}

function readUserSettings(context: Pick<JobContext, 'environment'>): UserSettings {
  const path = userConfigPath(context);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return v.parse(SCHEMA, {});
    if ((cause as NodeJS.ErrnoException).code === 'EISDIR') throw isFolder(path, cause);
    throw new DrayError('io', `Your settings in ${path} cannot be read.`, { data: { path }, cause });
  }
  try {
    return v.parse(SCHEMA, JSON.parse(text));
  } catch (cause) {
    throw new DrayError('usage', `Your settings in ${path} are damaged: repair the file, or delete it.`, {
      data: { path },
      cause,
    });
  }
}

/** Drops the names that every JavaScript object has: none of them is a remote. */
function byName(remotes: UserRemotes): UserRemotes {
  return Object.assign(Object.create(null) as UserRemotes, remotes);
}

export function writeUserRemotes(context: Pick<JobContext, 'environment'>, remotes: UserRemotes): void {
  replaceSettings(context, { remotes });
}

export function writeSafeDirectories(
  context: Pick<JobContext, 'environment'>,
  directories: readonly string[],
): void {
  replaceSettings(context, { 'safe.directory': directories });
}

/** Replaces the file in one step; its other settings stay. */
function replaceSettings(context: Pick<JobContext, 'environment'>, changed: object): void {
  const path = userConfigPath(context);
  readUserSettings(context);
  let kept: Record<string, unknown> = {};
  try {
    kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    // The file does not exist yet.
  }
  try {
    replaceFile(behindLink(path), `${JSON.stringify({ ...kept, ...changed }, undefined, 2)}\n`);
  } catch (cause) {
    throw new DrayError('io', `Your settings in ${path} cannot be written.`, { data: { path }, cause });
  }
}

/**
 * The target of a link, since settings are often linked from elsewhere. The path itself when nothing exists
 * there.
 */
function behindLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
