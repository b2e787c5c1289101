/** The rows of a list of changes, however many: only those in sight are drawn. */
// The rows of a grid that are not drawn cannot be those of a table, and the grid has the focus for all of them (aria-activedescendant).
// biome-ignore-all lint/a11y/useSemanticElements: see above
// biome-ignore-all lint/a11y/useFocusableInteractive: see above
// biome-ignore-all lint/a11y/useKeyWithClickEvents: see above
// biome-ignore-all lint/a11y/noStaticElementInteractions: its role is one of two
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: its role is one of two
import './change-table.css';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { ChangeRow } from '../../../engine/api/host.ts';
import { ChangeBadge } from '../../design/badge.tsx';
import { formatBytes, formatCount, formatPlural } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { type Choices, skipOf, type Winner, winnerOf } from './choices.ts';
import type { RowPages } from './row-pages.ts';
import { createScaledScroll, type ScaledScroll } from './scaled-scroll.ts';

const ROW_PX = 32;
const OVERSCAN_ROWS = 12;
/** Scrolling rests when nothing was told for so long. */
const REST_MS = 160;

export interface ChangeTableProps {
  readonly pages: RowPages;
  readonly isTree: boolean;
  readonly open: ReadonlySet<string>;
  readonly onToggleFolder: (path: string) => void;
  readonly choices: Choices;
  /** Of a push, rows are taken or left out. */
  readonly canSkip: (row: ChangeRow) => boolean;
  readonly onSkip: (row: ChangeRow) => void;
  readonly onDecide: (path: string, winner: Winner) => void;
  readonly selected: string | undefined;
  readonly onSelect: (row: ChangeRow) => void;
}

export function ChangeTable(props: ChangeTableProps) {
  const { pages, isTree } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const id = useId();
  useSyncExternalStore(pages.subscribe, pages.version);
  const total = pages.total();
  const { scroll, virtualizer, showRow } = useScaledRows(viewport, total ?? 0);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => pages.look(first, last), [pages, first, last]);
  const { active, onKeyDown, activate } = useKeys(props, { virtualizer, showRow, total: total ?? 0 });
  const error = pages.error();
  const shift = (viewport.current?.scrollTop ?? 0) - scroll.offsetPx();
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
          <ErrorState title="The changes cannot be read" error={error} />
        )}
        {total === 0 && (
          <EmptyState icon="search" title="Nothing here">
            No change fits the search and the kinds that are chosen.
          </EmptyState>
        )}
        <div role="presentation" style={{ height: scroll.heightPx(), position: 'relative' }}>
          {items.map((item) => (
            <TableRow
              key={item.index}
              {...props}
              id={`${id}${item.index}`}
              index={item.index}
              topPx={item.start + shift}
              row={pages.rowAt(item.index)}
              isActive={item.index === active}
              onActivate={() => activate(item.index)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface TableRowProps extends ChangeTableProps {
  readonly id: string;
  readonly index: number;
  readonly topPx: number;
  readonly row: ChangeRow | undefined;
  readonly isActive: boolean;
  readonly onActivate: () => void;
}

function TableRow(props: TableRowProps) {
  const { id, index, topPx, row, isActive, isTree, open, choices, selected } = props;
  const style = { transform: `translateY(${topPx}px)` };
  if (!row)
    return (
      <div id={id} role="row" aria-rowindex={index + 1} className="change-row" style={style}>
        <span role="gridcell" className="change-path">
          <span className="change-wait" />
          <span className="unseen">Loading</span>
        </span>
      </div>
    );
  const skip = skipOf(choices, row.path);
  const depth = isTree ? row.path.replace(/\/$/, '').split('/').length - 1 : 0;
  const isFolder = row.below !== undefined;
  const looks = [
    'change-row',
    isActive ? 'change-row-active' : '',
    row.path === selected ? 'change-row-selected' : '',
    row.change === 'deleted' ? 'change-row-deleted' : '',
    skip ? 'change-row-skipped' : '',
  ];
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={row.path === selected}
      aria-level={isTree ? depth + 1 : undefined}
      aria-expanded={isFolder ? open.has(row.path) : undefined}
      className={looks.join(' ')}
      style={style}
      onClick={props.onActivate}
    >
      <span role="gridcell" className="change-path">
        <SkipBox {...props} row={row} skip={skip} />
        {isTree && <span style={{ flex: 'none', width: depth * 16 + (isFolder ? 0 : 28) }} />}
        {isFolder && (
          <button
            type="button"
            tabIndex={-1}
            className="change-fold"
            aria-label={open.has(row.path) ? 'Close' : 'Open'}
            onClick={(event) => {
              event.stopPropagation();
              props.onToggleFolder(row.path);
            }}
          >
            <Icon name={open.has(row.path) ? 'chevronDown' : 'chevronRight'} size={12} />
          </button>
        )}
        <Icon name={isFolder || row.kind === 'folder' ? 'folder' : row.kind === 'link' ? 'link' : 'file'} />
        <RowName row={row} isTree={isTree} />
      </span>
      <span role="gridcell" className="change-kind">
        {row.change === 'conflict' && !isFolder ? (
          <Sides path={row.path} winner={winnerOf(choices, row.path)} onDecide={props.onDecide} />
        ) : isFolder ? (
          <BelowCounts row={row} />
        ) : (
          <ChangeBadge change={row.change} />
        )}
      </span>
      <span role="gridcell" className="change-size">
        <RowSize row={row} />
      </span>
    </div>
  );
}

function SkipBox({
  row,
  skip,
  canSkip,
  onSkip,
}: TableRowProps & { readonly row: ChangeRow; skip: 'itself' | 'above' | undefined }) {
  if (!canSkip(row)) return null;
  return (
    <input
      type="checkbox"
      className="change-box"
      tabIndex={-1}
      aria-label={`Push ${row.path}`}
      checked={skip === undefined}
      disabled={skip === 'above'}
      onClick={(event) => event.stopPropagation()}
      onChange={() => onSkip(row)}
    />
  );
}

function RowName({ row, isTree }: { readonly row: ChangeRow; readonly isTree: boolean }) {
  const path = row.path.replace(/\/$/, '');
  const slash = path.lastIndexOf('/') + 1;
  return (
    <span
      className="change-name cut"
      title={row.fromPath === undefined ? row.path : `${row.fromPath} -> ${row.path}`}
    >
      {!isTree && slash > 0 && <span className="faint">{path.slice(0, slash)}</span>}
      {path.slice(slash)}
      {row.fromPath !== undefined && <span className="faint"> from {row.fromPath}</span>}
    </span>
  );
}

function BelowCounts({ row }: { readonly row: ChangeRow }) {
  const { rows, deleted } = row.below ?? { rows: 0, deleted: 0 };
  return (
    <span className="change-below">
      {formatPlural(rows, 'change')}
      {deleted > 0 && <span className="change-below-deleted">{formatCount(deleted)} deleted</span>}
    </span>
  );
}

function RowSize({ row }: { readonly row: ChangeRow }) {
  if (row.kind === 'folder' && !row.below) return null;
  const old = row.change === 'modified' ? row.oldSizeBytes : undefined;
  return (
    <>
      {formatBytes(row.sizeBytes)}
      {old !== undefined && old !== row.sizeBytes && (
        <span className="unseen"> instead of {formatBytes(old)}</span>
      )}
    </>
  );
}

function Sides({
  path,
  winner,
  onDecide,
}: {
  readonly path: string;
  readonly winner: Winner | undefined;
  readonly onDecide: (path: string, winner: Winner) => void;
}) {
  return (
    <span className="sides" role="group" aria-label={`Conflict of ${path}`}>
      {(['ours', 'theirs'] as const).map((side) => (
        <button
          key={side}
          type="button"
          tabIndex={-1}
          className="side"
          aria-pressed={winner === side}
          onClick={(event) => {
            event.stopPropagation();
            onDecide(path, side);
          }}
        >
          {side === 'ours' ? 'Ours' : 'Theirs'}
        </button>
      ))}
    </span>
  );
}

/** The virtualizer over a scroll that is scaled when the rows are higher than an element can be. */
function useScaledRows(viewport: RefObject<HTMLDivElement | null>, count: number) {
  const [scroll] = useState<ScaledScroll>(() => createScaledScroll());
  const viewportPx = viewport.current?.clientHeight ?? 0;
  scroll.resize({ contentPx: count * ROW_PX, viewportPx });
  const observeElementOffset = useCallback(
    (_: Virtualizer<HTMLDivElement, Element>, tell: (offset: number, isScrolling: boolean) => void) => {
      const element = viewport.current;
      if (!element) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const settle = () => {
        const px = scroll.settle();
        if (Math.abs(element.scrollTop - px) >= 1) element.scrollTop = px;
      };
      const onScroll = () => {
        scroll.scrolled(element.scrollTop);
        if (scroll.isAtEnd()) settle();
        tell(scroll.offsetPx(), true);
        clearTimeout(timer);
        timer = setTimeout(() => {
          settle();
          tell(scroll.offsetPx(), false);
        }, REST_MS);
      };
      element.addEventListener('scroll', onScroll, { passive: true });
      tell(scroll.offsetPx(), false);
      return () => {
        clearTimeout(timer);
        element.removeEventListener('scroll', onScroll);
      };
    },
    [scroll, viewport],
  );
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
    observeElementOffset,
    // Moved by `showRow` alone: the virtualizer would stop at what it takes for the element's end.
    scrollToFn: () => {},
  });
  const showRow = (index: number) => {
    const element = viewport.current;
    if (!element) return;
    const top = index * ROW_PX;
    const from = scroll.offsetPx();
    const to = top < from ? top : Math.max(from, top + ROW_PX - element.clientHeight);
    if (to !== from) element.scrollTop = scroll.moveTo(to);
  };
  return { scroll, virtualizer, showRow };
}

/** The keys of a grid: up, down, pages, ends; left and right for folders; space leaves out; o and t decide. */
function useKeys(
  props: ChangeTableProps,
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
  // A row that was gone to is chosen when it comes.
  const isAwaited = useRef(false);
  const activate = (index: number) => {
    setActive(index);
    const row = pages.rowAt(index);
    isAwaited.current = row === undefined;
    if (row) props.onSelect(row);
  };
  const awaited = isAwaited.current ? pages.rowAt(active) : undefined;
  useEffect(() => {
    if (!awaited) return;
    isAwaited.current = false;
    props.onSelect(awaited);
  }, [awaited, props.onSelect]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || total === 0) return;
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
