/**
 * The ranges of a job as a map. Colour, fill and a sign show the state of each tile. The arrow keys move over
 * the tiles, and a line below describes the focused one. A table has the same facts.
 */
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import type { FleetTile } from '../../../engine/api/host/fleet.ts';
import { formatCount } from '../../../engine/api/text/numbers.ts';
import { Icon } from '../../design/icon.tsx';
import { RANGE_ICONS, rangeCounts, rangeWord, tileName, tileWords } from './fleet-words.ts';

export function RangeMap({ tiles }: { readonly tiles: readonly FleetTile[] }) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<number>();
  const at = chosen === undefined ? undefined : Math.min(chosen, tiles.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = tileAfter(event.key, at ?? -1, columnsOf(frame.current));
    if (next === undefined) return;
    event.preventDefault();
    setChosen(Math.min(tiles.length - 1, Math.max(0, next)));
  };
  const shown = at === undefined ? undefined : tiles[at];
  return (
    <div className="stack">
      <Legend tiles={tiles} />
      <div
        ref={frame}
        className="fleet-map"
        role="listbox"
        aria-label="Ranges, in the order of their keys"
        aria-activedescendant={at === undefined ? undefined : `${id}-${at}`}
        tabIndex={0}
        onFocus={() => setChosen(at ?? 0)}
        onKeyDown={onKeyDown}
      >
        {tiles.map((tile, index) => (
          <Tile
            key={tile.from}
            id={`${id}-${index}`}
            tile={tile}
            isChosen={index === at}
            onChoose={() => setChosen(index)}
          />
        ))}
      </div>
      <p className="small fleet-tile-words" aria-hidden="true">
        {shown ? tileWords(shown) : 'Choose a range to see its files and its workers.'}
      </p>
      <RangeTable tiles={tiles} />
    </div>
  );
}

function Tile({
  id,
  tile,
  isChosen,
  onChoose,
}: {
  readonly id: string;
  readonly tile: FleetTile;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const { share, state } = tile;
  const icon = RANGE_ICONS[state];
  const words = tileWords(tile);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the list has the focus and takes the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      aria-label={words}
      title={words}
      className={`fleet-tile is-${state}`}
      onClick={onChoose}
    >
      {state === 'running' && <span className="fleet-tile-fill" style={{ transform: `scaleY(${share})` }} />}
      {icon && <Icon name={icon} size={12} />}
    </div>
  );
}

function Legend({ tiles }: { readonly tiles: readonly FleetTile[] }) {
  return (
    <ul className="fleet-legend small" aria-label="Ranges by state">
      {rangeCounts(tiles).map(([state, count]) => {
        const icon = RANGE_ICONS[state];
        return (
          <li key={state} className="row">
            <span className={`fleet-tile is-${state}`} aria-hidden="true">
              {state === 'running' && (
                <span className="fleet-tile-fill" style={{ transform: 'scaleY(0.5)' }} />
              )}
              {icon && <Icon name={icon} size={12} />}
            </span>
            <span>
              {formatCount(count)} {rangeWord(state)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The ranges that are neither done nor waiting. */
function RangeTable({ tiles }: { readonly tiles: readonly FleetTile[] }) {
  const rows = tiles.filter(({ state }) => state !== 'done' && state !== 'waiting');
  if (rows.length === 0) return null;
  return (
    <details className="fleet-details">
      <summary className="small">Ranges that run, failed or stopped, as a table</summary>
      <div className="fleet-scroll">
        <table className="fleet-table">
          <thead>
            <tr>
              <th scope="col">Range</th>
              <th scope="col">State</th>
              <th scope="col">Files</th>
              <th scope="col">Workers</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((tile) => (
              <tr key={tile.from}>
                <th scope="row">{tileName(tile)}</th>
                <td>{rangeWord(tile.state)}</td>
                <td>{filesOf(tile)}</td>
                <td className="code">{tile.workers.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function filesOf({ files, filesKnown, isListed }: FleetTile): string {
  if (files === undefined || filesKnown === undefined) return '';
  return `${formatCount(files)} of ${formatCount(filesKnown)}${isListed ? '' : ' or more'}`;
}

/** The tile to which a key leads; undefined for other keys. */
function tileAfter(key: string, at: number, columns: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return at + 1;
    case 'ArrowLeft':
      return at - 1;
    case 'ArrowDown':
      return at < 0 ? 0 : at + columns;
    case 'ArrowUp':
      return at - columns;
    case 'Home':
      return 0;
    case 'End':
      return Number.MAX_SAFE_INTEGER;
    default:
      return undefined;
  }
}

/** The browser fits as many tiles into a row as there is room for. */
function columnsOf(frame: HTMLElement | null): number {
  if (!frame) return 1;
  return getComputedStyle(frame).gridTemplateColumns.split(' ').length;
}
