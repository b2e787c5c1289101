/**
 * Checks the folder of a clone, finds an earlier unfinished clone in it, and cleans up after a failed one.
 */
import { accessSync, constants, existsSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { attemptWrite } from '../../files/write/write-error.ts';
import type { AllowsFolder } from '../../workspace/folder-owner.ts';
import {
  DRAY_FOLDER,
  findWorkspace,
  isHalfMade,
  readConfig,
  readState,
  refuseNesting,
  removeWorkspace,
  type WorkspaceState,
} from '../../workspace/workspace-folder.ts';
import { DEFAULT_REMOTE } from '../remotes/init.ts';
import { urlToKeep } from '../session/opened-remote.ts';
import { allowedBy } from '../session/user-remotes.ts';

/**
 * Checks that a clone may write to this folder, without a request. Without a URL, the folder may contain any
 * unfinished clone.
 * @throws `usage`, `workspaceExists`, or `io` if the folder cannot be written
 */
export function checkCloneFolder(
  context: JobContext,
  { root, url }: { readonly root: string; readonly url?: string },
): void {
  const allows = allowedBy(context);
  const given = url && urlToKeep(context, { url, baseFolder: context.directory, of: 'workspace' });
  const begun = findBegun(root, given, allows);
  if (given === undefined ? begun?.state.cloning : begun) return;
  checkFolder(root);
  checkWritable(root);
}

/**
 * The state of an earlier clone of the same URL, or of any URL, in this folder. Without a base, it was killed
 * before its end. With a base, it has ended, perhaps without a report, so the same command is accepted again.
 */
export function findBegun(root: string, url: string | undefined, allows: AllowsFolder): Begun | undefined {
  const found = existsSync(join(root, DRAY_FOLDER)) ? findWorkspace(root, allows) : undefined;
  if (found?.root !== root) return undefined;
  const remote = readConfig(found).remotes[DEFAULT_REMOTE];
  return url === undefined || remote?.url === url
    ? { state: readState(found), repository: remote?.repository }
    : undefined;
}

interface Begun {
  readonly state: WorkspaceState;
  readonly repository: string | undefined;
}

export function checkFolder(root: string): void {
  refuseNesting(root);
  if (!existsSync(root)) return;
  let names: string[];
  try {
    names = readdirSync(root);
  } catch (cause) {
    throw new DrayError('usage', `${root} exists and is not a folder. Choose another place.`, {
      cause,
      data: { path: root },
    });
  }
  if (names.length === 0 || (names.length === 1 && names[0] === DRAY_FOLDER && isHalfMade(root))) return;
  throw new DrayError('usage', `${root} is not empty.`, {
    data: { path: root, reason: 'notEmpty' },
    advice: 'Choose another folder, or use "dray init" and "dray pull" to merge into it.',
  });
}

function checkWritable(root: string): void {
  let above = root;
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  attemptWrite(above, () => accessSync(above, constants.W_OK));
}

/** Undoes a clone that stopped before its first file, so the next attempt does not count as resumed. */
export function leaveNothing(root: string, wasThere: boolean): void {
  removeWorkspace(root);
  if (wasThere) return;
  try {
    rmdirSync(root);
  } catch {
    // The folder was never created, or another program has written to it.
  }
}
