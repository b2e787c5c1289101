/** The keys of the table of changes. */
import type { KeyboardEvent } from 'react';
import type { AnswerOf } from '../../../../engine/api/host.ts';
import type { RowPages } from '../../rows/row-pages.ts';
import type { RowGridState } from '../../rows/use-row-grid.ts';
import { SIDE_WORDS } from '../side-words.ts';
import type { ChangeRowProps } from './change-row.tsx';

export interface GridActions
  extends Pick<ChangeRowProps, 'isTree' | 'open' | 'onToggleFolder' | 'canSkip' | 'onSkip' | 'onDecide'> {
  readonly pages: RowPages<AnswerOf<'changes.rows'>>;
  /** Called when the search key is pressed. */
  readonly onSearch: () => void;
}

/**
 * The keys of a grid: up, down, pages, ends; left and right for folders; space excludes; m, t and b decide; a
 * slash searches.
 */
export function onGridKey(event: KeyboardEvent, props: GridActions, grid: RowGridState): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { isTree, open, pages } = props;
  const to = grid.moveBy(event.key);
  const row = pages.rowAt(grid.active);
  const isConflict = row?.change === 'conflict' && row.below === undefined;
  const side = SIDE_WORDS.find(({ key }) => key === event.key);
  if (event.key === '/') props.onSearch();
  else if (to !== undefined) grid.activate(to);
  else if (!row) return;
  else if (event.key === ' ' && props.canSkip(row)) props.onSkip(row);
  else if (event.key === 'Enter') grid.activate(grid.active);
  else if (
    isTree &&
    row.below &&
    (event.key === 'ArrowRight') !== open.has(row.path) &&
    /^Arrow(Left|Right)$/.test(event.key)
  )
    props.onToggleFolder(row.path);
  else if (isConflict && side) props.onDecide(row.path, side.id);
  else return;
  event.preventDefault();
}
