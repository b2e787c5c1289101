/** The words for a fleet's jobs, ranges and workers. */
import {
  FLEET_FINDINGS,
  type FleetFinding,
  type FleetJobCard,
  type FleetJobState,
  type FleetProgress,
  type FleetRangeState,
  type FleetTile,
} from '../../../engine/api/host/fleet.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import type { BadgeTone } from '../../design/badge.tsx';
import type { IconName } from '../../design/icon.tsx';

const STATES: Readonly<Record<Exclude<FleetJobState, 'found'>, readonly [tone: BadgeTone, word: string]>> = {
  running: ['accent', 'Running'],
  paused: ['modified', 'Paused'],
  done: ['added', 'Done'],
  partial: ['modified', 'Done, some failed'],
  failed: ['deleted', 'Failed'],
  cancelled: ['neutral', 'Cancelled'],
  terminated: ['deleted', 'Terminated'],
};

export function stateWords({
  kind,
  state,
}: Pick<FleetJobCard, 'kind' | 'state'>): readonly [tone: BadgeTone, word: string] {
  if (state === 'found') return ['deleted', kind === 'verify' ? 'Damage found' : 'Differences found'];
  return STATES[state];
}

export function isUnderWay({ state }: FleetJobCard): boolean {
  return state === 'running' || state === 'paused';
}

/** `copy` as `Copy`: other kinds have names of their own, too. */
export function kindWord({ kind }: FleetJobCard): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}

const PHASES: Readonly<Record<string, string>> = {
  plan: 'Planning the ranges',
  move: 'Working through the ranges',
  retry: 'Trying failed files again',
  delete: 'Deleting files that the source no longer has',
  finish: 'Writing the report',
  ended: 'Ended',
};

export function phaseWords({ phase }: FleetProgress): string {
  return PHASES[phase] ?? phase;
}

const RANGE_STATES: readonly FleetRangeState[] = ['done', 'running', 'waiting', 'failed', 'stopped'];

const RANGE_WORDS: Readonly<Record<FleetRangeState, string>> = {
  waiting: 'waiting',
  running: 'running',
  done: 'done',
  failed: 'with failures',
  stopped: 'not finished',
};

export function rangeWord(state: FleetRangeState): string {
  return RANGE_WORDS[state];
}

export const RANGE_ICONS: Readonly<Partial<Record<FleetRangeState, IconName>>> = {
  done: 'check',
  failed: 'close',
  stopped: 'minus',
};

/** `Range 3` or `Ranges 3 to 12`; people count from 1. */
export function tileName({ from, to }: Pick<FleetTile, 'from' | 'to'>): string {
  return from === to ? `Range ${from + 1}` : `Ranges ${from + 1} to ${to + 1}`;
}

/** One sentence with all known facts about a tile. */
export function tileWords(tile: FleetTile): string {
  const { counts, files, filesKnown, from, isListed, state, to, workers } = tile;
  const parts =
    from === to
      ? [rangeWord(state)]
      : RANGE_STATES.flatMap((each) => {
          const count = counts[each];
          return count === undefined ? [] : [`${formatCount(count)} ${rangeWord(each)}`];
        });
  if (files !== undefined && filesKnown !== undefined)
    parts.push(`${formatCount(files)} of ${isListed ? '' : 'at least '}${formatPlural(filesKnown, 'file')}`);
  if (workers.length > 0) parts.push(`on ${workers.join(' and ')}`);
  return `${tileName(tile)}: ${parts.join(', ')}`;
}

/** How many ranges are in each state, in the order of the legend. */
export function rangeCounts(
  tiles: readonly FleetTile[],
): readonly (readonly [state: FleetRangeState, count: number])[] {
  return RANGE_STATES.map((state): readonly [FleetRangeState, number] => [
    state,
    tiles.reduce((sum, { counts }) => sum + (counts[state] ?? 0), 0),
  ]).filter(([, count]) => count > 0);
}

/** From 0 to 1; undefined while the source is not listed to its end. */
export function fractionOf({ bytesDone, bytesKnown, filesDone, filesKnown, isListed }: FleetProgress) {
  if (!isListed) return undefined;
  if (bytesKnown > 0) return bytesDone / bytesKnown;
  return filesKnown > 0 ? filesDone / filesKnown : 1;
}

/** `at least 300 files`, while the listing runs. */
export function knownWords({ isListed }: FleetProgress, known: string): string {
  return isListed ? `of ${known}` : `of at least ${known}`;
}

const FINDINGS: Readonly<Record<FleetFinding, string>> = {
  differing: 'differ',
  onlyInSource: 'only in the source',
  onlyInDestination: 'only in the destination',
  missing: 'missing',
  damaged: 'damaged',
};

/** `2 differ, 1 only in the source`; empty if a check found nothing. */
export function findingWords({ findings }: Pick<FleetProgress, 'findings'>): string {
  return FLEET_FINDINGS.flatMap((name) => {
    const count = findings[name];
    return count === undefined ? [] : [`${formatCount(count)} ${FINDINGS[name]}`];
  }).join(', ');
}

export function limitWords({ limits: { bytesPerSecond, requestsPerSecond } }: FleetProgress): string {
  return [
    ...(bytesPerSecond === undefined ? [] : [`${formatBytes(bytesPerSecond)}/s`]),
    ...(requestsPerSecond === undefined ? [] : [`${formatPlural(requestsPerSecond, 'request')}/s`]),
  ].join(' and ');
}
