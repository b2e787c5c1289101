import type { WorkspaceState } from '../../../workspace/workspace-folder.ts';

/** @param ref Undefined: the workspace follows its branch. */
export function withDetached(
  state: WorkspaceState,
  remoteName: string,
  ref: string | undefined,
): WorkspaceState {
  const { detached, ...rest } = state;
  const { [remoteName]: _, ...others } = detached ?? {};
  const all = ref === undefined ? others : { ...others, [remoteName]: { ref } };
  return Object.keys(all).length === 0 ? rest : { ...rest, detached: all };
}
