/** The rows of a list of changes, however many: only visible ones are rendered. */
// The rows of a grid that are not drawn cannot be those of a table, and the grid has the focus for all of
// them (aria-activedescendant).
// biome-ignore-all lint/a11y/useSemanticElements: see above
// biome-ignore-all lint/a11y/useFocusableInteractive: see above
// biome-ignore-all lint/a11y/useKeyWithClickEvents: see above
// biome-ignore-all lint/a11y/noStaticElementInteractions: its role is one of two
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: its role is one of two
import './change-table.css';
import { useEffect, useId, useRef, useSyncExternalStore } from 'react';
import { EmptyState, Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { TableRow, type TableRowProps } from './table-row.tsx';
import { type GridActions, useGridKeys } from './use-grid-keys.ts';
import { ROW_PX, useScaledRows } from './use-scaled-rows.ts';

/** Rows reuse elements when they come into view; the pool is a multiple of this. */
const POOL_STEP = 32;

export interface ChangeTableProps extends GridActions, Pick<TableRowProps, 'choices'> {
  readonly selected: string | undefined;
}

export function ChangeTable(props: ChangeTableProps) {
  const { pages, selected, onSelect: _, onSearch: __, ...shared } = props;
  const { isTree } = shared;
  const viewport = useRef<HTMLDivElement>(null);
  const id = useId();
  useSyncExternalStore(pages.subscribe, pages.version);
  const total = pages.total();
  const { virtualizer, heightPx, anchor, anchorPx, showRow } = useScaledRows(viewport, total ?? 0);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => pages.look(first, last), [pages, first, last]);
  const { active, onKeyDown, activate } = useGridKeys(props, { virtualizer, showRow, total: total ?? 0 });
  const error = pages.error();
  const pool = Math.ceil((items.length + 1) / POOL_STEP) * POOL_STEP;
  return (
    <div className="change-table">
      <div className="change-head" aria-hidden="true">
        <span className="change-path">Path</span>
        <span className="change-kind">Change</span>
        <span className="change-size">Size</span>
      </div>
      <div
        ref={viewport}
        className="change-rows"
        role={isTree ? 'treegrid' : 'grid'}
        aria-label="Changes"
        aria-rowcount={total ?? -1}
        aria-activedescendant={active >= first && active <= last && total ? `${id}${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        {total === undefined && !error && <Loading label="Reading the changes" />}
        {total === undefined && error instanceof Error && (
          <ErrorState title="Cannot read the changes" error={error} />
        )}
        {total === 0 && (
          <EmptyState icon="search" title="Nothing here">
            No change matches the search and the chosen kinds.
          </EmptyState>
        )}
        <div role="presentation" style={{ height: heightPx }}>
          <div role="presentation" style={{ transform: `translateY(${anchorPx}px)` }}>
            {items.map(({ index }) => {
              const row = pages.rowAt(index);
              return (
                <TableRow
                  key={index % pool}
                  {...shared}
                  id={`${id}${index}`}
                  index={index}
                  topPx={(index - anchor) * ROW_PX}
                  row={row}
                  isActive={index === active}
                  isSelected={row !== undefined && row.path === selected}
                  onActivate={activate}
                />
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}
