import { DrayError } from '../api/error.ts';
import { checkEntryPath } from '../model/safe-path.ts';

/** Refuses a path of a list's row that leads out of the workspace. @throws `unsafePath` */
export function checkSafePath(path: string): void {
  const reason = checkEntryPath(path);
  if (reason === undefined) return;
  throw new DrayError('unsafePath', `${path} is not a path in a workspace: ${reason}.`, { data: { path } });
}
