/** The keyboard in the table of changes. */
import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { RowPages } from './row-pages.ts';
import type { TableRowProps } from './table-row.tsx';
import { ROW_PX } from './use-scaled-rows.ts';

export interface GridActions
  extends Pick<TableRowProps, 'isTree' | 'open' | 'onToggleFolder' | 'canSkip' | 'onSkip' | 'onDecide'> {
  readonly pages: RowPages;
  readonly onSelect: (row: ChangeRow) => void;
  /** The search key was pressed. */
  readonly onSearch: () => void;
}

/**
 * The keys of a grid: up, down, pages, ends; left and right for folders; space excludes; o and t decide; a
 * slash searches.
 */
export function useGridKeys(
  props: GridActions,
  {
    virtualizer,
    showRow,
    total,
  }: {
    readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
    readonly showRow: (index: number) => void;
    readonly total: number;
  },
) {
  const { pages, isTree, open } = props;
  const [chosen, setActive] = useState(0);
  const active = Math.min(chosen, Math.max(0, total - 1));
  // A row that the user moved to is selected when it arrives.
  const isAwaited = useRef(false);
  const { onSelect } = props;
  const activate = useCallback(
    (index: number) => {
      setActive(index);
      const row = pages.rowAt(index);
      isAwaited.current = row === undefined;
      if (row) onSelect(row);
    },
    [pages, onSelect],
  );
  const awaited = isAwaited.current ? pages.rowAt(active) : undefined;
  useEffect(() => {
    if (!awaited) return;
    isAwaited.current = false;
    onSelect(awaited);
  }, [awaited, onSelect]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      props.onSearch();
      event.preventDefault();
      return;
    }
    if (total === 0) return;
    const page = Math.max(1, Math.floor((virtualizer.scrollRect?.height ?? ROW_PX) / ROW_PX) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: total - 1,
    };
    const to = moves[event.key];
    const row = pages.rowAt(active);
    const isConflict = row?.change === 'conflict' && row.below === undefined;
    if (to !== undefined) {
      const index = Math.min(Math.max(0, to), total - 1);
      showRow(index);
      activate(index);
    } else if (!row) return;
    else if (event.key === ' ' && props.canSkip(row)) props.onSkip(row);
    else if (event.key === 'Enter') activate(active);
    else if (
      isTree &&
      row.below &&
      (event.key === 'ArrowRight') !== open.has(row.path) &&
      /^Arrow(Left|Right)$/.test(event.key)
    )
      props.onToggleFolder(row.path);
    else if (isConflict && event.key === 'o') props.onDecide(row.path, 'ours');
    else if (isConflict && event.key === 't') props.onDecide(row.path, 'theirs');
    else return;
    event.preventDefault();
  };
  return { active, activate, onKeyDown };
}
