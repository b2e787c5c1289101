/** The folder of a commit that is open: the way to it, and the focus in it. */
import { type RefObject, useEffect, useRef } from 'react';
import { focusIfLost } from '../../design/controls/focus-if-lost.ts';

/** When a folder opens, its row goes, and the focus with it. The folder's list gets it, or else its name. */
export function useFocusInside(folder: string, isPending: boolean): RefObject<HTMLDivElement | null> {
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (folder === '' || isPending) return;
    const find = (what: string) => view.current?.querySelector<HTMLElement>(what);
    focusIfLost(() => find('[role="grid"]') ?? find('[aria-current]'));
  }, [folder, isPending]);
  return view;
}

export function crumbsOfFolder(folder: string): { readonly key: string; readonly name: string }[] {
  const parts = folder.split('/').filter(Boolean);
  const below = parts.map((name, index) => ({ key: `${parts.slice(0, index + 1).join('/')}/`, name }));
  return [{ key: '', name: 'Top' }, ...below];
}
