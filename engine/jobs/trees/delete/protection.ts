/**
 * What `--immutable` and `--backup-dir` keep from being changed at the destination, or from being changed
 * without a trace.
 */
import { DrayError } from '../../../api/error.ts';
import { statLocal } from '../../../files/scan/local-place.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { type TreeRun, tellFailure } from '../copy-run.ts';

export function refuseChange(run: TreeRun, { path }: TreeItem): void {
  const message = `${path} differs at the destination, and --immutable forbids to change it.`;
  tellFailure(run, path, new DrayError('conflict', message, { data: { path } }));
}

/**
 * Whether something lies in the item's place that no walk tells of, since it is no file (a link, a pipe): it
 * would be replaced without a word. Then the item has failed, and is told of.
 */
export function hidesWhatStays(run: TreeRun, { path }: TreeItem): boolean {
  const { destination, request } = run;
  if (destination.kind === 'remote' || !(request.immutable || request.backupDirectory)) return false;
  if (statLocal(destination.root, destination.pathOf(path)) !== 'other') return false;
  const why = request.immutable ? '--immutable forbids to change it' : '--backup-dir cannot keep it';
  const message = `At the destination ${path} is no file, and ${why}.`;
  tellFailure(run, path, new DrayError('conflict', message, { data: { path } }));
  return true;
}
