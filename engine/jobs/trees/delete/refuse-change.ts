/** Protects existing items of the destination with `--immutable` and `--backup-dir`. */
import { DrayError } from '../../../api/error.ts';
import { statLocal } from '../../../files/scan/local-place.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { reportFailure, type TreeRun } from '../copy-run.ts';

export function refuseChange(run: TreeRun, { path }: TreeItem): void {
  const message = `${path} differs at the destination, and --immutable forbids changing it.`;
  reportFailure(run, path, new DrayError('conflict', message, { data: { path } }));
}

/**
 * Whether the item's path is taken by something that the walk does not list (a link, a pipe), which the copy
 * would replace without a trace. Then the item fails.
 */
export function hidesWhatStays(run: TreeRun, { path }: TreeItem): boolean {
  const { destination, request } = run;
  if (destination.kind === 'remote' || !(request.immutable || request.backupDirectory)) return false;
  if (statLocal(destination.root, destination.pathOf(path)) !== 'other') return false;
  const why = request.immutable ? '--immutable forbids changing it' : '--backup-dir cannot keep it';
  const message = `At the destination ${path} is not a file, and ${why}.`;
  reportFailure(run, path, new DrayError('conflict', message, { data: { path } }));
  return true;
}
