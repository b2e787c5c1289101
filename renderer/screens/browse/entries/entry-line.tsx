/** One row of a pane. */
// The rows of a grid that are not drawn cannot be those of a table, and the grid has the focus for all of
// them (aria-activedescendant).
// biome-ignore-all lint/a11y/useSemanticElements: see above
// biome-ignore-all lint/a11y/useFocusableInteractive: see above
// biome-ignore-all lint/a11y/useKeyWithClickEvents: see above
import '../browse.css';
import { type DragEvent, type MouseEvent, memo } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { formatBytes } from '../../../../engine/api/text/numbers.ts';
import { formatMoment } from '../../../design/format.ts';
import { Icon, type IconName } from '../../../design/icon.tsx';
import { WaitingRow } from '../../rows/waiting-row.tsx';
import { nameOf } from '../places.ts';
import type { FolderSize } from './use-folder-sizes.ts';

export interface EntryLineProps {
  readonly id: string;
  readonly index: number;
  readonly topPx: number;
  /** Undefined until it arrives. */
  readonly entry: EntryRow | undefined;
  readonly size: FolderSize | 'asked' | undefined;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  /** True while a drag would drop into this folder. */
  readonly isTarget: boolean;
  readonly hasTick: boolean;
  readonly onRowClick: (event: MouseEvent, index: number) => void;
  readonly onRowOpen: (entry: EntryRow) => void;
  readonly onRowDrag: (event: DragEvent, entry: EntryRow) => void;
}

/** Re-rendered only when its own data changes. */
export const EntryLine = memo(function EntryLine(props: EntryLineProps) {
  const { entry, hasTick, id, index, isActive, isChosen, isTarget, size, topPx } = props;
  if (!entry)
    return <WaitingRow id={id} rowIndex={index + 2} topPx={topPx} look="entry-row" cellLook="entry-name" />;
  const name = nameOf(entry.path);
  const around = entry.path.slice(0, entry.path.lastIndexOf(name));
  const looks = ['entry-row', `is-${entry.kind}`, isActive ? 'is-active' : ''];
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      // The icon says it to eyes.
      aria-description={entry.kind === 'file' ? undefined : entry.kind}
      className={looks.join(' ')}
      data-entry={entry.path}
      data-drop-target={isTarget || undefined}
      style={{ transform: `translateY(${topPx}px)` }}
      draggable
      onClick={(event) => props.onRowClick(event, index)}
      onDoubleClick={(event) => {
        if (!isTick(event)) props.onRowOpen(entry);
      }}
      onDragStart={(event) => props.onRowDrag(event, entry)}
    >
      <span role="gridcell" className="entry-name">
        {hasTick && (
          // The row says whether it is chosen, and Control and Space tick it.
          <span className={`entry-tick ${isChosen ? 'is-on' : ''}`} aria-hidden="true">
            {isChosen && <Icon name="check" size={12} />}
          </span>
        )}
        <span className="entry-icon">
          <Icon name={iconOf(entry)} />
        </span>
        <span className="entry-text" title={name}>
          {name}
        </span>
        {around !== '' && (
          <span className="entry-target cut" title={around}>
            in {around}
          </span>
        )}
        {entry.target !== undefined && (
          <span className="entry-target cut" title={entry.target}>
            to {entry.target}
          </span>
        )}
      </span>
      <span role="gridcell" className="entry-size">
        {sizeWords(entry, size)}
      </span>
      <span role="gridcell" className="entry-time">
        {entry.mtime === undefined ? '' : formatMoment(entry.mtime)}
      </span>
    </div>
  );
});

/** Its box chooses a row beside those that are chosen already. */
export function isTick({ target }: MouseEvent): boolean {
  return (target as Element).closest('.entry-tick') !== null;
}

function sizeWords(entry: EntryRow, size: FolderSize | 'asked' | undefined): string {
  if (entry.kind === 'file') return formatBytes(entry.sizeBytes);
  if (size === 'asked') return 'counting';
  return size === undefined ? '' : formatBytes(size.bytes);
}

function iconOf(entry: EntryRow): IconName {
  if (entry.isRepository) return 'branch';
  if (entry.kind === 'folder') return 'folder';
  if (entry.kind === 'link') return 'link';
  return /\.(png|jpe?g|gif|webp|avif|svg|tiff?)$/i.test(entry.path) ? 'image' : 'file';
}
