import { DrayError } from '../api/error.ts';
import { checkEntryPath } from '../model/safe-path.ts';

/** A path inside a workspace, as a row of a list has it: never one that leads out. @throws `unsafePath` */
export function checkSafePath(path: string): void {
  const reason = checkEntryPath(path);
  if (reason === undefined) return;
  throw new DrayError('unsafePath', `${path} is no path of a workspace: ${reason}.`, { data: { path } });
}
