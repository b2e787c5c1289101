/**
 * Writes and deletes files as edits: the workspace's base stays, and so does what each path is based on, also
 * when the run ends early. While a commit arrives only the rows know that. `restore`, `merge` and `revert`
 * write this way.
 */
import type { Entry } from '../../model/entry.ts';
import { type BaseCommit, ensureBase } from '../session/base/base-commit.ts';
import { type Applied, type ApplyOptions, applyChanges } from './apply-changes.ts';

export interface EditOptions extends Omit<ApplyOptions, 'writes' | 'isFresh' | 'totals' | 'asEdits'> {
  readonly writes: readonly Entry[];
}

/** Resolves to what was written, and to the base. */
export async function applyAsEdits(options: EditOptions): Promise<Applied & { readonly base: BaseCommit }> {
  const { link, remote, session, writes } = options;
  const bytes = writes.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0);
  const totals = { files: writes.length, bytes };
  const applied = await applyChanges({ ...options, totals, writes: [writes], asEdits: true });
  return { ...applied, base: await ensureBase(session, remote.store, link) };
}
