import { lstatSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';

/** What two looks at a file must agree on for its content to count as the same. */
export interface ContentStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

/** @throws `io` with reason `changedWhileRead` when the file is no longer the one that was looked at. */
export function checkUnchanged(path: string, name: string, seen: ContentStat): void {
  const now = lstatSync(path, { throwIfNoEntry: false });
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
    `${name} changed while it was read. Nothing of it was recorded; push again when it is at rest.`,
    {
      data: { path: name, reason: 'changedWhileRead' },
    },
  );
}
