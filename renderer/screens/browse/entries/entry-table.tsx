/** The entries of one pane: a grid of any number of rows, with drag and drop. */
// biome-ignore-all lint/a11y/useSemanticElements: the rows of a grid that are not drawn cannot be a table's
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus for its rows
import '../browse.css';
import { type DragEvent, type ReactNode, useCallback, useRef, useState } from 'react';
import type { DropItem } from 'react-aria-components';
import { useDrop } from 'react-aria-components/useDrop';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { Icon } from '../../../design/icon.tsx';
import { ContextMenu } from '../../../design/overlays/context-menu.tsx';
import { useTokenPx } from '../../../shell/appearance/density.ts';
import { ColumnGrip } from '../../columns/column-grip.tsx';
import { type ColumnSpec, type Columns, useColumns } from '../../columns/use-columns.ts';
import { RowGrid } from '../../rows/row-grid.tsx';
import type { RowPages } from '../../rows/row-pages.ts';
import { type RowGridState, useRowGrid } from '../../rows/use-row-grid.ts';
import { type Chosen, chosenFrom } from '../copy-orders.ts';
import { offerFile } from '../drops/drag-out.ts';
import { droppedEntries, offerEntries } from '../drops/entries-drag.ts';
import { below, isFixed, type Location, placeOf } from '../places.ts';
import { type ChosenEntries, chooseOnly, chosenOf, isChosen } from './choice.ts';
import { EntryLine } from './entry-line.tsx';
import { type ChoosingOptions, useChoosing } from './use-choosing.ts';
import type { EntryAnswer, SortedBy } from './use-entries.ts';
import type { FolderSizes } from './use-folder-sizes.ts';

const HEAD_PX = 32;
/** The most names that a drag gives to other programs. */
const TEXT_NAMES_MAX = 1_000;

const WIDTHS: readonly ColumnSpec[] = [
  { id: 'size', label: 'Size', widthPx: 96, cells: 'entry-size' },
  { id: 'time', label: 'Changed', widthPx: 156, cells: 'entry-time' },
];
const COLUMNS = [
  { column: 'name', label: 'Name' },
  { column: 'size', label: 'Size' },
  { column: 'time', label: 'Changed' },
] as const;

export interface EntryTableProps extends ChoosingOptions {
  readonly pages: RowPages<EntryAnswer>;
  readonly label: string;
  readonly location: Location;
  readonly chosen: ChosenEntries;
  readonly sortedBy: SortedBy;
  readonly onSort: (sortedBy: SortedBy) => void;
  readonly onEntries: (dragged: Chosen, into: Location) => void;
  readonly onFiles: (items: readonly DropItem[], into: Location) => void;
  readonly sizes: FolderSizes;
  readonly empty: ReactNode;
  /** Rows have boxes to tick. */
  readonly hasTicks?: boolean;
}

export function EntryTable(props: EntryTableProps) {
  const { location, pages, choice, sizes } = props;
  const latest = useRef(props);
  latest.current = props;
  const held = useRef<RowGridState>(undefined);
  const choosing = useChoosing(() => held.current!, props);
  const grid = useRowGrid({
    pages,
    rowPx: useTokenPx('--place-height'),
    headPx: HEAD_PX,
    onArrive: choosing.onArrive,
  });
  held.current = grid;
  const drop = useEntryDrop(grid, latest);
  const columns = useColumns('browse', WIDTHS);
  const onRowOpen = useCallback((entry: EntryRow) => latest.current.onOpen(entry), []);
  const onRowDrag = useCallback(
    (event: DragEvent, entry: EntryRow) => beginDrag(event, entry, latest.current),
    [],
  );
  return (
    <RowGrid
      {...drop.props}
      {...columns.props}
      grid={grid}
      className="entry-table"
      role="grid"
      aria-label={props.label}
      aria-multiselectable
      aria-colcount={COLUMNS.length}
      data-drop-target={(drop.isTarget && drop.folder === undefined) || undefined}
      onKeyDown={choosing.onKeyDown}
      onContextMenu={choosing.onContextMenu}
      head={
        <EntryHead
          columns={columns}
          sortedBy={props.sortedBy}
          onSort={(sortedBy) => {
            // A new order starts at its first row.
            grid.showRow(0);
            props.onSort(sortedBy);
          }}
        />
      }
      instead={
        grid.total === 0 && (
          <div role="row" className="entry-instead">
            <div role="gridcell">{props.empty}</div>
          </div>
        )
      }
      draw={(index, topPx) => {
        const entry = pages.rowAt(index);
        return (
          <EntryLine
            id={grid.idOf(index)}
            index={index}
            topPx={topPx}
            entry={entry}
            size={entry?.kind === 'folder' ? sizes.get(placeOf(location, entry.path)) : undefined}
            isActive={index === grid.active}
            isChosen={entry !== undefined && isChosen(choice, entry.path)}
            isTarget={drop.isTarget && entry !== undefined && entry.path === drop.folder}
            hasTick={props.hasTicks === true}
            onRowClick={choosing.onRowClick}
            onRowOpen={onRowOpen}
            onRowDrag={onRowDrag}
          />
        );
      }}
    />
  );
}

function EntryHead({
  columns,
  onSort,
  sortedBy,
}: Pick<EntryTableProps, 'onSort' | 'sortedBy'> & { readonly columns: Columns }) {
  return (
    <ContextMenu actionsAt={() => columns.menu}>
      <div role="row" aria-rowindex={1} className="entry-head">
        {COLUMNS.map(({ column, label }) => {
          const isSorted = sortedBy.column === column;
          const direction = sortedBy.isDescending ? 'descending' : 'ascending';
          return (
            <span
              key={column}
              role="columnheader"
              aria-sort={isSorted ? direction : 'none'}
              className={`entry-${column}`}
            >
              <button
                type="button"
                className="entry-sort"
                onClick={() => onSort({ column, isDescending: isSorted && !sortedBy.isDescending })}
              >
                {label}
                {isSorted && <Icon name={sortedBy.isDescending ? 'arrowDown' : 'arrowUp'} size={10} />}
              </button>
              {column !== 'name' && <ColumnGrip columns={columns} id={column} />}
            </span>
          );
        })}
      </div>
    </ContextMenu>
  );
}

const NO_VIEW = { list: undefined, filter: '', total: 0, bytes: 0, firstRows: [], isWhole: true };

/** Drags the chosen rows, or only this row if it is not among them. */
function beginDrag({ dataTransfer }: DragEvent, entry: EntryRow, props: EntryTableProps): void {
  const { choice, chosen, location } = props;
  const isAmong = isChosen(choice, entry.path);
  const dragged = chosenFrom(location, isAmong ? chosen : chosenOf(chooseOnly([entry]), NO_VIEW));
  const names = dragged.paths.slice(0, TEXT_NAMES_MAX);
  offerEntries(dataTransfer, dragged);
  dataTransfer.setData('text/plain', names.map((path) => placeOf(location, path)).join('\n'));
  // Dropped on the desktop, one file is downloaded.
  const [only, ...others] = dragged.paths;
  const isFile = only !== undefined && others.length === 0 && !only.endsWith('/');
  if (isFile && dragged.links.length === 0) offerFile(dataTransfer, placeOf(location, only), only);
  dataTransfer.effectAllowed = 'copy';
}

interface EntryDrop {
  readonly props: object;
  readonly isTarget: boolean;
  /** The folder's row under the pointer. */
  readonly folder: string | undefined;
}

/** Drops into the folder under the pointer, or else into the pane's folder. */
function useEntryDrop({ viewport }: RowGridState, latest: { readonly current: EntryTableProps }): EntryDrop {
  const [folder, setFolder] = useState<string>();
  const folderAt = ({ x, y }: { readonly x: number; readonly y: number }): string | undefined => {
    const box = viewport.current?.getBoundingClientRect();
    const row =
      box && document.elementFromPoint(box.left + x, box.top + y)?.closest<HTMLElement>('.is-folder');
    return row?.dataset.entry;
  };
  const { dropProps, isDropTarget } = useDrop({
    ref: viewport,
    // During a drag, a text file looks the same as selected text. The drop ignores selected text.
    getDropOperation: () => (isFixed(latest.current.location) ? 'cancel' : 'copy'),
    onDropEnter: (event) => setFolder(folderAt(event)),
    onDropMove: (event) => setFolder(folderAt(event)),
    onDropExit: () => setFolder(undefined),
    onDrop: (event) => {
      const { location, onEntries, onFiles } = latest.current;
      const target = folderAt(event);
      const into = target === undefined ? location : below(location, target);
      setFolder(undefined);
      const entries = droppedEntries(event.items);
      if (entries) void entries.then((dragged) => dragged && onEntries(dragged, into));
      else if (event.items.some(({ kind }) => kind !== 'text')) onFiles(event.items, into);
    },
  });
  return { props: dropProps, isTarget: isDropTarget, folder };
}
