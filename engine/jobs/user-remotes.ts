/** Remotes of the user's own, known in every folder: `dray remote add --user`. Kept beside other programs' settings, never with a secret. */
import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs.ts';
import { replaceFile } from '../base/replace-file.ts';

export type UserRemotes = Readonly<Record<string, { readonly url: string }>>;

const SCHEMA = v.object({ remotes: v.optional(v.record(v.string(), v.object({ url: v.string() })), {}) });

/** Where files of the user's own lie, beside the settings. */
export function userConfigFolder(context: Pick<JobContext, 'environment'>): string {
  return dirname(userConfigPath(context));
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

/** @throws `usage` when the file is there and makes no sense. */
export function readUserRemotes(context: Pick<JobContext, 'environment'>): UserRemotes {
  const path = userConfigPath(context);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return byName({});
    throw new DrayError('io', `Your settings in ${path} cannot be read.`, { data: { path }, cause });
  }
  try {
    return byName(v.parse(SCHEMA, JSON.parse(text)).remotes);
  } catch (cause) {
    throw new DrayError('usage', `Your settings in ${path} are damaged: mend the file, or delete it.`, {
      data: { path },
      cause,
    });
  }
}

/** Without the names that every object has: none of them is a remote. */
function byName(remotes: UserRemotes): UserRemotes {
  return Object.assign(Object.create(null) as UserRemotes, remotes);
}

/** Replaces the list in one step; what else the file holds stays. */
export function writeUserRemotes(context: Pick<JobContext, 'environment'>, remotes: UserRemotes): void {
  const path = userConfigPath(context);
  readUserRemotes(context);
  let kept: Record<string, unknown> = {};
  try {
    kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch {
    // There is none yet.
  }
  try {
    replaceFile(behindLink(path), `${JSON.stringify({ ...kept, remotes }, undefined, 2)}\n`);
  } catch (cause) {
    throw new DrayError('io', `Your settings in ${path} cannot be written.`, { data: { path }, cause });
  }
}

/** Settings are often kept elsewhere, and a link leads there. */
function behindLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
