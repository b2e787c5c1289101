/** The menu actions of a commit, a branch or a tag, and the dialogs that they open. */
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefKindName, RefRow } from '../../../engine/api/host/history.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import { copyText } from '../../shell/copy-text.ts';

/** A dialog that is open. */
export type RefTask =
  /** `commit`: a commit, branch or tag; default: the commit of the workspace. */
  | { readonly do: 'new'; readonly kind: RefKindName; readonly commit?: string }
  | { readonly do: 'rename' | 'remove'; readonly ref: RefRow }
  | { readonly do: 'move'; readonly ref: RefRow; readonly to?: string }
  | { readonly do: 'switch'; readonly branch: string }
  | { readonly do: 'merge'; readonly version: string }
  /** `parents`: of a merge, one of which is kept. */
  | { readonly do: 'revert'; readonly commit: string; readonly parents: readonly string[] }
  | { readonly do: 'restore'; readonly commit: string };

export interface RefMenu {
  readonly open: (task: RefTask) => void;
  readonly compare: (version: string) => void;
}

/** A forgotten commit can still be named, which keeps what is left of it. */
export function actionsOfCommit(
  { commit, isForgotten, parents }: Pick<CommitEvent, 'commit' | 'isForgotten' | 'parents'>,
  refs: readonly RefRow[],
  { compare, open }: RefMenu,
): readonly MenuAction[] {
  const own = refs.filter((ref) => ref.commit === commit);
  const uses: readonly MenuAction[] = [
    { ...action('compare', 'Compare with...', 'changes', () => compare(commit)), startsGroup: true },
    mergeOf(commit, 'this commit', open),
    action('revert', 'Revert this commit...', 'history', () => open({ do: 'revert', commit, parents })),
    action('restore', 'Restore this whole version...', 'history', () => open({ do: 'restore', commit })),
  ];
  return [
    ...own.filter(({ isCurrent, kind }) => kind === 'branch' && !isCurrent).map((ref) => switchTo(ref, open)),
    action('branch', 'New branch here...', 'branch', () => open({ do: 'new', kind: 'branch', commit })),
    action('tag', 'New tag here...', 'tag', () => open({ do: 'new', kind: 'tag', commit })),
    ...(isForgotten ? [] : uses),
    action('copy', 'Copy the hash', 'copy', () => void copyText(commit, 'the hash')),
    ...own.flatMap((ref) => changesOf(ref, open)),
  ];
}

export function actionsOfRef(ref: RefRow, menu: RefMenu): readonly MenuAction[] {
  const { commit, isCurrent, kind, name } = ref;
  return [
    ...(kind === 'branch' && !isCurrent ? [switchTo(ref, menu.open)] : []),
    action('new', `New ${kind === 'tag' ? 'branch' : 'tag'} here...`, kind === 'tag' ? 'branch' : 'tag', () =>
      menu.open({ do: 'new', kind: kind === 'tag' ? 'branch' : 'tag', commit }),
    ),
    ...(isCurrent ? [] : [mergeOf(name, name, menu.open)]),
    action('compare', 'Compare with...', 'changes', () => menu.compare(name)),
    action('restore', 'Restore this whole version...', 'history', () => menu.open({ do: 'restore', commit })),
    action('copy', 'Copy the name', 'copy', () => void copyText(name, 'the name')),
    ...changesOf(ref, menu.open),
  ];
}

function switchTo({ name }: RefRow, open: RefMenu['open']): MenuAction {
  return action(`switch ${name}`, `Switch to ${name}`, 'branch', () => open({ do: 'switch', branch: name }));
}

function mergeOf(version: string, what: string, open: RefMenu['open']): MenuAction {
  return action(`merge ${version}`, `Merge ${what}...`, 'branch', () => open({ do: 'merge', version }));
}

function changesOf(ref: RefRow, open: RefMenu['open']): readonly MenuAction[] {
  const { isCurrent, kind, name } = ref;
  const id = `${kind} ${name}`;
  const what = `the ${kind} ${name}`;
  return [
    {
      ...action(`rename ${id}`, `Rename ${what}...`, 'edit', () => open({ do: 'rename', ref })),
      startsGroup: true,
    },
    action(`move ${id}`, `Move ${what}...`, 'arrowRight', () => open({ do: 'move', ref })),
    {
      ...action(`remove ${id}`, `Delete ${what}...`, 'trash', () => open({ do: 'remove', ref })),
      isDanger: !isCurrent,
      ...(isCurrent ? { isDisabled: true, note: 'Switch to another branch first' } : {}),
    },
  ];
}

function action(
  id: string,
  label: string,
  icon: NonNullable<MenuAction['icon']>,
  onAction: () => void,
): MenuAction {
  return { id, label, icon, onAction };
}

/**
 * Marks the current branch by the workspace's card, which is refreshed at each switch. The list of refs may
 * be older.
 */
export function markCurrent(refs: readonly RefRow[], branch: string | undefined): readonly RefRow[] {
  if (branch === undefined) return refs;
  return refs.map((ref) => ({ ...ref, isCurrent: ref.kind === 'branch' && ref.name === branch }));
}

/** The displayed form of a version: a name as it is, a commit by its first digits. */
export function versionName(version: string): string {
  if (version === '@') return 'the commit of this folder';
  return /^[0-9a-f]{64}$/.test(version) ? formatHash(version) : version;
}
