/** One row of the table of changes. */
// The rows of a grid that are not drawn cannot be those of a table, and the grid has the focus for all of
// them (aria-activedescendant).
// biome-ignore-all lint/a11y/useSemanticElements: see above
// biome-ignore-all lint/a11y/useFocusableInteractive: see above
// biome-ignore-all lint/a11y/useKeyWithClickEvents: see above
// biome-ignore-all lint/a11y/noStaticElementInteractions: its role is one of two
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: its role is one of two
import { memo } from 'react';
import { type Choices, skipOf, tickOf, winnerOf } from '../../../../engine/api/host/change-choices.ts';
import type { ChangeRow, Winner } from '../../../../engine/api/host/changes.ts';
import { formatBytes, formatCount, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { ChangeBadge } from '../../../design/badge.tsx';
import { Icon } from '../../../design/icon.tsx';
import { WaitingRow } from '../../rows/waiting-row.tsx';
import { SIDE_WORDS } from '../side-words.ts';

export interface ChangeRowProps {
  readonly id: string;
  readonly index: number;
  /** Inside the element that holds the rows. */
  readonly topPx: number;
  /** Undefined until it arrives. */
  readonly row: ChangeRow | undefined;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isTree: boolean;
  readonly open: ReadonlySet<string>;
  readonly onToggleFolder: (path: string) => void;
  readonly choices: Choices;
  /** For a push, where rows can be excluded. */
  readonly canSkip: (row: ChangeRow) => boolean;
  readonly onSkip: (row: ChangeRow) => void;
  readonly onDecide: (path: string, winner: Winner) => void;
  readonly onActivate: (index: number) => void;
}

/** Re-rendered only when its own data changes: scrolling moves the element that holds the rows. */
export const ChangeTableRow = memo(function ChangeTableRow(props: ChangeRowProps) {
  const { id, index, topPx, row, isActive, isSelected, isTree, open, choices } = props;
  if (!row)
    return <WaitingRow id={id} rowIndex={index + 1} topPx={topPx} look="change-row" cellLook="change-path" />;
  const skip = skipOf(choices, row.path);
  const tick = tickOf(choices, row);
  const depth = isTree ? row.path.replace(/\/$/, '').split('/').length - 1 : 0;
  const isFolder = row.below !== undefined;
  const looks = [
    'change-row',
    isActive ? 'change-row-active' : '',
    isSelected ? 'change-row-selected' : '',
    // A folder that keeps files does not go, however many of its files do.
    (row.below ? row.below.isGone && tick === 'all' : row.change === 'deleted') ? 'change-row-deleted' : '',
    tick === 'none' ? 'change-row-skipped' : '',
  ];
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      aria-level={isTree ? depth + 1 : undefined}
      aria-expanded={isFolder ? open.has(row.path) : undefined}
      className={looks.join(' ')}
      style={{ transform: `translateY(${topPx}px)` }}
      onClick={() => props.onActivate(index)}
    >
      <span role="gridcell" className="change-path">
        <SkipBox {...props} row={row} tick={tick} isFixed={skip === 'above'} />
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
});

function SkipBox({
  row,
  tick,
  isFixed,
  canSkip,
  onSkip,
}: ChangeRowProps & {
  readonly row: ChangeRow;
  readonly tick: ReturnType<typeof tickOf>;
  /** By a folder above it. */
  readonly isFixed: boolean;
}) {
  if (!canSkip(row)) return null;
  return (
    <input
      type="checkbox"
      className="change-box"
      tabIndex={-1}
      aria-label={`Push ${row.path}`}
      // The state between both has no attribute of its own.
      ref={(box) => {
        if (box) box.indeterminate = tick === 'some';
      }}
      aria-checked={tick === 'some' ? 'mixed' : tick === 'all'}
      checked={tick === 'all'}
      disabled={isFixed}
      onClick={(event) => event.stopPropagation()}
      onChange={() => onSkip(row)}
    />
  );
}

function RowName({ row, isTree }: { readonly row: ChangeRow; readonly isTree: boolean }) {
  const path = row.path.replace(/\/$/, '');
  const slash = path.lastIndexOf('/') + 1;
  const isPath = !isTree && slash > 0 && row.fromPath === undefined;
  return (
    <span
      className={isPath ? 'change-name cut cut-start' : 'change-name cut'}
      title={row.fromPath === undefined ? row.path : `${row.fromPath} -> ${row.path}`}
    >
      <bdi dir="ltr">
        {!isTree && slash > 0 && <span className="faint">{path.slice(0, slash)}</span>}
        {path.slice(slash)}
        {row.fromPath !== undefined && <span className="faint"> from {row.fromPath}</span>}
      </bdi>
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
      {SIDE_WORDS.map(({ id, label, note, short }) => (
        <button
          key={id}
          type="button"
          tabIndex={-1}
          className="side"
          aria-label={label}
          title={`${label}: ${note}`}
          aria-pressed={winner === id}
          onClick={(event) => {
            event.stopPropagation();
            onDecide(path, id);
          }}
        >
          {short}
        </button>
      ))}
    </span>
  );
}
