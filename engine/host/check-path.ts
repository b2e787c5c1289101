import { DrayError } from '../api/error.ts';
import { checkEntryPath } from '../model/safe-path.ts';

/** A path inside a workspace, in the form of a list's row. Never one that leads out. @throws `unsafePath` */
export function checkSafePath(path: string): void {
  const reason = checkEntryPath(path);
  if (reason === undefined) return;
  throw new DrayError('unsafePath', `${path} is not a path in a workspace: ${reason}.`, { data: { path } });
}
