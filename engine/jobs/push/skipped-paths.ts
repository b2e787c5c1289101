/** Paths that a push leaves out. */
import { DrayError } from '../../api/error.ts';
import type { PushRequest } from '../../api/jobs/jobs.ts';
import type { Session } from '../session/open-workspace.ts';

/** `--no-index` reads what equals the base, but a skipped path only counts as equal to it. */
export function checkSkip({ noIndex, skip }: PushRequest): void {
  if (noIndex && skip && skip.length > 0)
    throw new DrayError('usage', '--no-index checks the whole remote again and cannot skip paths.');
}

/**
 * Marks the skipped paths as equal to the base for the rest of this push; the next scan finds their changes
 * again.
 */
export function leaveOutSkipped({ index }: Session, { skip = [] }: PushRequest): void {
  if (skip.length === 0) return;
  index.transaction(() => {
    for (const path of skip) {
      index.files.leaveOut(path);
      if (!path.endsWith('/')) continue;
      // Keyset pages: removing changes from this page does not shift the next one.
      for (const page of index.files.changes(0, { below: path }))
        for (const change of page) index.files.leaveOut(change.path);
    }
    const torn = skip.find((path) => index.files.isTornAt(path));
    if (torn !== undefined) throw halfLeftOut(torn);
  });
}

function halfLeftOut(path: string): DrayError {
  const message = `${path} cannot be skipped alone: a file became a folder there, or a folder a file, and the commit would have both. Skip both, or neither.`;
  return new DrayError('usage', message, { data: { path } });
}
