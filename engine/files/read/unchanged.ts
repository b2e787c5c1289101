import { lstatSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';
import { ifThere } from '../../base/if-there.ts';

/** The facts that must agree between two stats of a file with unchanged content. */
export interface ContentStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/** @throws `io` with reason `changedWhileRead` when the file has changed since `seen`. */
export function checkFileUnchanged(path: string, name: string, seen: ContentStat): void {
  const now = ifThere(() => lstatSync(path, { throwIfNoEntry: false }));
  if (
    now?.isFile() &&
    now.size === seen.sizeBytes &&
    now.mtimeMs === seen.mtimeMs &&
    now.ctimeMs === seen.ctimeMs &&
    now.ino === seen.inode
  ) {
    return;
  }
  throw new DrayError(
    'io',
    `${name} changed while it was read. It was not recorded; push again when nothing writes to it.`,
    {
      data: { path: name, reason: 'changedWhileRead' },
    },
  );
}

/** Whether the error says that a file changed or went while it was read. */
export function isFileChange(error: unknown): error is DrayError {
  if (!(error instanceof DrayError)) return false;
  return error.data.reason === 'changedWhileRead' || error.data.reason === 'vanished';
}
