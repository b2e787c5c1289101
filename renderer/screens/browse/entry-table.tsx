/** The entries of one pane: a table that renders only visible rows, with drag and drop. */
import { type FocusEvent, type ReactNode, useMemo, useRef } from 'react';
import type { DropItem, Key, Selection, SortDescriptor } from 'react-aria-components';
import { Button as PlainButton } from 'react-aria-components/Button';
import { Collection } from 'react-aria-components/Collection';
import {
  Cell,
  Column,
  ResizableTableContainer,
  Row,
  Table,
  TableBody,
  TableHeader,
  TableLoadMoreItem,
} from 'react-aria-components/Table';
import { isTextDropItem, useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import { TableLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes } from '../../../engine/api/numbers.ts';
import { formatMoment } from '../../design/format.ts';
import { Icon, type IconName } from '../../design/icon.tsx';
import { useTokenPx } from '../../shell/density.ts';
import { type Chosen, chosenFrom } from './copy-orders.ts';
import { below, type Location, nameOf, placeOf } from './places.ts';
import type { Entries, SortedBy } from './use-entries.ts';
import type { FolderSize, FolderSizes } from './use-folder-sizes.ts';

const ENTRY_TYPE = 'application/x-dray-entries';
const HEADING_PX = 32;

interface EntryTableProps {
  readonly label: string;
  readonly location: Location;
  readonly entries: Entries;
  readonly sortedBy: SortedBy;
  readonly onSort: (sortedBy: SortedBy) => void;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (paths: ReadonlySet<string>) => void;
  readonly onOpen: (entry: EntryRow) => void;
  readonly onEntries: (dragged: Chosen, into: Location) => void;
  readonly onFiles: (items: readonly DropItem[], into: Location) => void;
  readonly sizes: FolderSizes;
  readonly empty: ReactNode;
}

export function EntryTable(props: EntryTableProps) {
  const { location, entries, sortedBy } = props;
  const container = useRef<HTMLDivElement>(null);
  const dragAndDropHooks = useEntryDrag(props);
  const items = useMemo(() => entries.rows.map(itemOf), [entries.rows]);
  const rowHeight = useTokenPx('--entry-height');
  const layoutOptions = useMemo(() => ({ rowHeight, headingHeight: HEADING_PX }), [rowHeight]);
  const descriptor: SortDescriptor = {
    column: sortedBy.column,
    direction: sortedBy.isDescending ? 'descending' : 'ascending',
  };
  return (
    <ResizableTableContainer ref={container} className="entry-container">
      <Virtualizer layout={TableLayout} layoutOptions={layoutOptions}>
        <Table
          className="entry-table"
          aria-label={props.label}
          selectionMode="multiple"
          selectionBehavior="replace"
          selectedKeys={props.selected}
          onSelectionChange={(keys) => props.onSelect(pathsOf(keys, entries.rows))}
          onRowAction={(key) => {
            const entry = entries.rows.find((row) => row.path === key);
            if (entry) props.onOpen(entry);
          }}
          sortDescriptor={descriptor}
          onSortChange={({ column, direction }) => {
            // The first page of the order that the user chose.
            container.current?.querySelector('[role="grid"]')?.scrollTo({ top: 0 });
            props.onSort({ column: column as SortedBy['column'], isDescending: direction === 'descending' });
          }}
          dragAndDropHooks={dragAndDropHooks}
        >
          <TableHeader className="entry-head">
            <Column id="name" isRowHeader allowsSorting minWidth={140} defaultWidth="1fr">
              Name
            </Column>
            <Column id="size" className="is-number" allowsSorting width={96}>
              Size
            </Column>
            <Column id="time" className="is-number" allowsSorting width={156}>
              Changed
            </Column>
          </TableHeader>
          <TableBody renderEmptyState={() => props.empty}>
            {/* Another order is another collection: to move each of many rows takes the square of their number. */}
            <Collection
              key={`${descriptor.column} ${descriptor.direction}`}
              items={items}
              dependencies={[props.sizes, location]}
            >
              {({ entry }) => (
                <EntryLine entry={entry} size={props.sizes.get(placeOf(location, entry.path))} />
              )}
            </Collection>
            {entries.isMore && (
              <TableLoadMoreItem onLoadMore={entries.loadMore} isLoading={entries.isLoadingMore}>
                Loading more
              </TableLoadMoreItem>
            )}
          </TableBody>
        </Table>
      </Virtualizer>
    </ResizableTableContainer>
  );
}

interface EntryItem {
  /** Without a key the kit reuses a row for another entry in its place. */
  readonly id: string;
  readonly entry: EntryRow;
}

/** The kit does not re-render a seen item, so a thousand more rows cost no more than the first thousand. */
const ITEMS = new WeakMap<EntryRow, EntryItem>();

function itemOf(entry: EntryRow): EntryItem {
  const known = ITEMS.get(entry);
  if (known) return known;
  const item = { id: entry.path, entry };
  ITEMS.set(entry, item);
  return item;
}

function EntryLine({
  entry,
  size,
}: {
  readonly entry: EntryRow;
  readonly size: FolderSize | 'asked' | undefined;
}) {
  const name = nameOf(entry.path);
  return (
    <Row id={entry.path} textValue={name} className={`entry-row is-${entry.kind}`}>
      <Cell>
        <span className="entry-name">
          <PlainButton
            slot="drag"
            className="entry-grip"
            aria-label={`Drag ${name}`}
            onFocus={focusRowAfterPress}
          >
            <Icon name={iconOf(entry)} />
          </PlainButton>
          <span className="entry-text" title={name}>
            {name}
          </span>
          {entry.target !== undefined && <span className="entry-target cut">to {entry.target}</span>}
        </span>
      </Cell>
      <Cell className="entry-number">{sizeWords(entry, size)}</Cell>
      <Cell className="entry-number">{entry.mtime === undefined ? '' : formatMoment(entry.mtime)}</Cell>
    </Row>
  );
}

/**
 * The kit moves the focus from a pressed cell to its content. The grip is for keys only; the list's keys
 * belong to the row.
 */
function focusRowAfterPress({ target }: FocusEvent): void {
  if (target.matches(':focus-visible')) return;
  // Runs after the cell's own handler, which would otherwise become the start of the arrow keys.
  queueMicrotask(() => target.closest<HTMLElement>('[role="row"]')?.focus());
}

function sizeWords(entry: EntryRow, size: FolderSize | 'asked' | undefined): string {
  if (entry.kind === 'file') return formatBytes(entry.sizeBytes);
  if (size === 'asked') return 'counting';
  return size === undefined ? '' : formatBytes(size.bytes);
}

function useEntryDrag({ location, entries, onEntries, onFiles }: EntryTableProps) {
  const drop = (items: readonly DropItem[], into: Location): void => {
    const own = items.find((item) => isTextDropItem(item) && item.types.has(ENTRY_TYPE));
    if (own && isTextDropItem(own)) {
      void own.getText(ENTRY_TYPE).then((text) => onEntries(JSON.parse(text) as Chosen, into));
    } else if (items.some(({ kind }) => kind !== 'text')) onFiles(items, into);
  };
  const { dragAndDropHooks } = useDragAndDrop({
    // One item for all rows: dragged rows move or stay together.
    getItems: (keys) => {
      const dragged = chosenFrom(
        location,
        entries.rows.filter(({ path }) => keys.has(path)),
      );
      const places = dragged.paths.map((path) => placeOf(location, path));
      return [{ [ENTRY_TYPE]: JSON.stringify(dragged), 'text/plain': places.join('\n') }];
    },
    acceptedDragTypes: 'all',
    getAllowedDropOperations: () => ['copy'],
    getDropOperation: (target) => {
      if (target.type === 'item' && target.dropPosition !== 'on') return 'cancel';
      if (
        target.type === 'item' &&
        !entries.rows.some((row) => row.path === target.key && row.kind === 'folder')
      )
        return 'cancel';
      // A text file looks like a piece of text until it is dropped. A piece of text is then ignored.
      return 'copy';
    },
    onRootDrop: ({ items }) => drop(items, location),
    onItemDrop: ({ items, target }) => drop(items, below(location, String(target.key))),
  });
  return dragAndDropHooks;
}

function pathsOf(keys: Selection, rows: readonly EntryRow[]): ReadonlySet<string> {
  return keys === 'all'
    ? new Set(rows.map((row) => row.path))
    : new Set([...keys].map((key: Key) => String(key)));
}

function iconOf(entry: EntryRow): IconName {
  if (entry.kind === 'folder') return 'folder';
  if (entry.kind === 'link') return 'link';
  return /\.(png|jpe?g|gif|webp|avif|svg|tiff?)$/i.test(entry.path) ? 'image' : 'file';
}
