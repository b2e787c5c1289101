/**
 * Writes and deletes files as edits: the workspace's base stays. `restore`, `merge` and `revert` do so. While
 * it runs, the base rows mirror no commit, so a killed run costs only that they are read again.
 */
import type { Entry } from '../../model/entry.ts';
import { type BaseCommit, ensureBase } from '../session/base-commit.ts';
import { type Applied, type ApplyOptions, applyChanges } from './apply-changes.ts';

export interface EditOptions extends Omit<ApplyOptions, 'writes' | 'isFresh' | 'totals'> {
  readonly writes: readonly Entry[];
}

/** Resolves to what was written, and to the base, which the rows mirror again. */
export async function applyAsEdits(options: EditOptions): Promise<Applied & { readonly base: BaseCommit }> {
  const { deletions, link, remote, session, writes } = options;
  const { files, settings } = session.index;
  const mark = settings.base;
  const paths = [...deletions, ...writes.map(({ path }) => path)];
  const based = paths.map((path) => [path, ...files.unplacedBaseEntries(path, path)] as const);
  settings.base = undefined;
  const bytes = writes.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0);
  const totals = { files: writes.length, bytes };
  const applied = await applyChanges({ ...options, totals, writes: [writes] });
  // A written path has become its own base, and so has a deleted one.
  session.index.transaction(() => {
    for (const [path, entry] of based) files.setBase(path, entry);
    settings.base = mark;
  });
  return { ...applied, base: await ensureBase(session, remote.store, link) };
}
