/** What a person does after a command did not end or was refused: the workspace becomes a whole one again. */
import { cloneOnce, lookAt, NO_FAULT, pullOnce } from './brings.ts';
import { abortPending, mergeInto, revertCommit } from './merges.ts';
import { requireRule } from './model-fault.ts';
import { isReplaced, isSettled, stateOf, tipOf, type Workspace, type World } from './world.ts';

export async function settleWorkspace(world: World, w: Workspace): Promise<void> {
  if (w.isAbsent || stateOf(w).bases.origin === undefined) await cloneOnce(world, w, w.branch, NO_FAULT);
  if (w.merging?.isUnfinished) await finishMerge(world, w);
  if (isReplaced(world, w) && w.merging) await abortPending(world, w, NO_FAULT, true);
  if (isReplaced(world, w)) await lookAt(world, w, tipOf(world, w.branch)!, NO_FAULT, 'theirs');
  if (!isSettled(w)) await pullOnce(world, w, NO_FAULT, { conflicts: 'theirs' });
  // Some of it is of a commit that the branch lost: a choice is needed, and it is no merge then.
  if (w.arriving.size > 0 && w.merging) await abortPending(world, w, NO_FAULT, true);
  if (w.arriving.size > 0) await lookAt(world, w, tipOf(world, w.branch)!, NO_FAULT, 'theirs');
  requireRule(isSettled(w), 'a workspace cannot be settled', () => w.name);
}

async function finishMerge(world: World, w: Workspace): Promise<void> {
  const { commit, kind } = w.merging!;
  const again = { commit, conflicts: 'theirs', fault: NO_FAULT } as const;
  // What the branch has by now is no merge any more. While a commit arrives nothing else can be brought.
  const isOver = kind === 'merge' && commit === tipOf(world, w.branch);
  if (isOver || w.arriving.size > 0) await abortPending(world, w, NO_FAULT, true);
  else if (kind === 'merge') await mergeInto(world, w, again);
  else await revertCommit(world, w, again);
  requireRule(!w.merging?.isUnfinished, 'a merge cannot be finished', () => w.name);
}
