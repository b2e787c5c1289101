/** The map of a fleet's job: its ranges as tiles, of which a screen can draw some hundred. */
import { FLEET_TILES_MAX, type FleetRangeState, type FleetTile } from '../../api/host/fleet.ts';
import type { FleetLook, FleetRangeLook } from '../../api/host/fleet-link.ts';

const STATES: Readonly<Record<string, FleetRangeState>> = {
  w: 'waiting',
  r: 'running',
  d: 'done',
  f: 'failed',
  s: 'stopped',
};
/** The state of a tile is the first of these that one of its ranges has. */
const FIRST: readonly FleetRangeState[] = ['failed', 'running', 'stopped', 'waiting', 'done'];
/** The most that a tile shows for a range that is still being listed, even if all known files are done. */
const UNLISTED_SHARE_MAX = 0.95;

export function rangeTiles({ map, running }: Pick<FleetLook, 'map' | 'running'>): FleetTile[] {
  const looks = new Map(running.map((look) => [look.range, look]));
  const size = Math.max(1, Math.ceil(map.length / FLEET_TILES_MAX));
  const tiles: FleetTile[] = [];
  for (let from = 0; from < map.length; from += size) {
    const letters = [...map.slice(from, from + size)];
    tiles.push(
      tileOf(
        from,
        letters.map((letter, at) => rangeOf(letter, looks.get(from + at))),
      ),
    );
  }
  return tiles;
}

interface Range {
  readonly state: FleetRangeState;
  readonly share: number;
  readonly look?: FleetRangeLook;
}

function rangeOf(letter: string, look: FleetRangeLook | undefined): Range {
  const state = STATES[letter] ?? 'waiting';
  const share = state === 'done' || state === 'failed' ? 1 : 0;
  // A range that has just ended may still be among those that run.
  if (state !== 'running' || !look) return { state, share };
  return { state, share: shareOf(look), look };
}

function shareOf({ files, filesKnown, isListed }: FleetRangeLook): number {
  const most = isListed ? 1 : UNLISTED_SHARE_MAX;
  return filesKnown > 0 ? Math.min(most, Math.max(0, files / filesKnown)) : 0;
}

function tileOf(from: number, ranges: readonly Range[]): FleetTile {
  const counts: Partial<Record<FleetRangeState, number>> = {};
  for (const { state } of ranges) counts[state] = (counts[state] ?? 0) + 1;
  const looks = ranges.flatMap(({ look }) => (look ? [look] : []));
  const hasFailed = looks.some(({ failed }) => failed > 0);
  const sum = (read: (look: FleetRangeLook) => number) =>
    looks.reduce((total, look) => total + read(look), 0);
  return {
    from,
    to: from + ranges.length - 1,
    state: hasFailed ? 'failed' : FIRST.find((state) => counts[state] !== undefined)!,
    counts,
    share: ranges.reduce((total, { share }) => total + share, 0) / ranges.length,
    workers: [...new Set(looks.flatMap(({ workers }) => workers))].sort(),
    ...(looks.length > 0 && {
      files: sum(({ files }) => files),
      filesKnown: sum(({ filesKnown }) => filesKnown),
      isListed: looks.every(({ isListed }) => isListed),
    }),
  };
}
