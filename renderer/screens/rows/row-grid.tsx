/**
 * A grid of any number of rows, which draws only the visible ones. The grid itself has the focus
 * (aria-activedescendant), because a row that is not drawn cannot have it.
 */
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: its role is one of two
// biome-ignore-all lint/a11y/noNoninteractiveTabindex: a grid is interactive
import './row-grid.css';
import { Fragment, type HTMLAttributes, type ReactNode } from 'react';
import type { RowGridState } from './use-row-grid.ts';

/** Rows reuse elements as they scroll into view. The pool is a multiple of this. */
const POOL_STEP = 32;

export interface RowGridProps extends HTMLAttributes<HTMLDivElement> {
  readonly grid: RowGridState;
  readonly role: 'grid' | 'treegrid';
  /** The row of column names, which stays at the top. Its height is the grid's `headPx`. */
  readonly head?: ReactNode;
  /** Shown instead of rows while there are none. */
  readonly instead: ReactNode;
  /** Draws one row at a distance from the top of the element that holds the rows. */
  readonly draw: (index: number, topPx: number) => ReactNode;
}

export function RowGrid({ grid, head, instead, draw, className = '', ...rest }: RowGridProps) {
  const { active, anchor, anchorPx, heightPx, idOf, items, rowPx, total, viewport } = grid;
  const isActiveDrawn = items.includes(active) && total;
  const pool = Math.ceil((items.length + 1) / POOL_STEP) * POOL_STEP;
  return (
    <div
      {...rest}
      ref={viewport}
      className={`row-grid ${className}`}
      aria-rowcount={total ?? -1}
      aria-activedescendant={isActiveDrawn ? idOf(active) : undefined}
      tabIndex={0}
    >
      {head}
      {instead}
      <div role="presentation" style={{ height: heightPx }}>
        <div role="presentation" style={{ transform: `translateY(${anchorPx}px)` }}>
          {items.map((index) => (
            <Fragment key={index % pool}>{draw(index, (index - anchor) * rowPx)}</Fragment>
          ))}
        </div>
      </div>
    </div>
  );
}
