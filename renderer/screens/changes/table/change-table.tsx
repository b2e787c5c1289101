/** The rows of a list of changes, however many. */
import './change-table.css';
import type { ChangeRow } from '../../../../engine/api/host/changes.ts';
import { EmptyState, Loading } from '../../../design/states.tsx';
import { ErrorState } from '../../../failures/failure.tsx';
import { useTokenPx } from '../../../shell/appearance/density.ts';
import { ColumnHead } from '../../columns/column-head.tsx';
import { type ColumnSpec, useColumns } from '../../columns/use-columns.ts';
import { RowGrid } from '../../rows/row-grid.tsx';
import { useRowGrid } from '../../rows/use-row-grid.ts';
import { type ChangeRowProps, ChangeTableRow } from './change-row.tsx';
import { type GridActions, onGridKey } from './grid-keys.ts';
import { type SameRowOptions, useSameRow } from './use-same-row.ts';

const WIDTHS: readonly ColumnSpec[] = [
  { id: 'kind', label: 'Change', widthPx: 168, cells: 'change-kind' },
  { id: 'size', label: 'Size', widthPx: 80, cells: 'change-size' },
];

export interface ChangeTableProps extends GridActions, Pick<ChangeRowProps, 'choices'> {
  readonly selected: string | undefined;
  /** Undefined: the chosen row is gone. */
  readonly onSelect: (row: ChangeRow | undefined) => void;
  /** Where a row is now. */
  readonly seek: SameRowOptions['seek'];
}

export function ChangeTable(props: ChangeTableProps) {
  const { pages, selected, onSelect, onSearch: _, seek, ...shared } = props;
  const grid = useRowGrid({ pages, rowPx: useTokenPx('--change-height'), onArrive: onSelect });
  const { active, error, total } = grid;
  const columns = useColumns('changes', WIDTHS);
  useSameRow({
    pages,
    selected,
    seek,
    onFound: ({ index, row }) => {
      if (index !== undefined) grid.renumber(index);
      onSelect(row);
    },
  });
  return (
    <div className="change-table" {...columns.props}>
      <ColumnHead columns={columns} className="change-head">
        <span className="change-path">Path</span>
      </ColumnHead>
      <RowGrid
        grid={grid}
        className="change-rows"
        role={shared.isTree ? 'treegrid' : 'grid'}
        aria-label="Changes"
        onKeyDown={(event) => onGridKey(event, props, grid)}
        instead={
          <>
            {total === undefined && !error && <Loading label="Reading the changes" />}
            {total === undefined && error instanceof Error && (
              <ErrorState title="Cannot read the changes" error={error} />
            )}
            {total === 0 && (
              <EmptyState icon="search" title="Nothing here">
                No change matches the search and the chosen kinds.
              </EmptyState>
            )}
          </>
        }
        draw={(index, topPx) => {
          const row = pages.rowAt(index);
          return (
            <ChangeTableRow
              {...shared}
              id={grid.idOf(index)}
              index={index}
              topPx={topPx}
              row={row}
              isActive={index === active}
              isSelected={row !== undefined && row.path === selected}
              onActivate={grid.activate}
            />
          );
        }}
      />
    </div>
  );
}
