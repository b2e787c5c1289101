/** Formats a target and its result in words. */
import { formatBytes, formatCount, formatDuration } from '../../engine/api/text/numbers.ts';
import { measuredOf } from './judge.ts';
import type { EntrantResult, Target, Verdict } from './results.ts';

/** One line. It names the tools that were measured and compared. */
export function formatVerdict(
  { target, reached, isMet }: Verdict,
  entrants: readonly EntrantResult[],
): string {
  const end =
    reached === null
      ? `unknown: ${formatWhyUnknown(target, entrants)}`
      : `reached ${formatReached(target, reached)}, ${isMet ? 'met' : 'NOT met'}`;
  return `target: ${formatTarget(target, entrants)}: ${end}`;
}

/** For a table's cell: `0.605 of s5cmd's, at most 0.7: met`. */
export function formatShortVerdict(
  { target, reached, isMet }: Verdict,
  entrants: readonly EntrantResult[],
): string {
  if (reached === null)
    return `at most ${formatBound(target)}: unknown, ${formatWhyUnknown(target, entrants)}`;
  const best = target.kind === 'ratio' ? fastestOf(target.toBestOf, entrants) : undefined;
  const against = best === undefined ? '' : ` of ${best.name}'s`;
  return `${formatReached(target, reached)}${against}, at most ${formatBound(target)}: ${isMet ? 'met' : 'not met'}`;
}

/** Says why a target has no result. */
export function formatWhyUnknown(target: Target, entrants: readonly EntrantResult[]): string {
  const absent = (names: readonly string[]) => names.filter((name) => !measuredOf(entrants, name));
  const [first] = absent(namesNeededBy(target));
  if (first !== undefined) return `${first} was not measured`;
  switch (target.kind) {
    case 'ratio': {
      const [only, ...more] = target.toBestOf;
      return more.length === 0
        ? `${only} was not measured`
        : `none of ${target.toBestOf.join(', ')} was measured`;
    }
    case 'exponent':
      return `${target.measure === 'cpu' ? 'CPU time' : 'time'} beyond a start's is too short to measure at each size`;
    case 'excess':
      return 'nothing was measured';
    case 'peakRss':
    case 'growthOfRss':
      return 'no program here measures the memory of a process';
    case 'sent':
      return 'no program here counts bytes';
  }
}

function namesNeededBy(target: Target): readonly string[] {
  switch (target.kind) {
    case 'ratio':
    case 'peakRss':
    case 'sent':
      return [target.of];
    case 'excess':
    case 'growthOfRss':
      return [target.of, target.over];
    case 'exponent':
      return [target.start, ...target.points.map(({ entrant }) => entrant)];
  }
}

export function formatTarget(target: Target, entrants: readonly EntrantResult[]): string {
  switch (target.kind) {
    case 'ratio': {
      const measured = target.toBestOf.filter((name) => measuredOf(entrants, name));
      const names = measured.length > 0 ? measured : target.toBestOf;
      const others = names.length === 1 ? names[0] : `the fastest of ${names.join(', ')}`;
      return `${target.of} takes at most ${target.atMost} times as long as ${others}`;
    }
    case 'excess':
      return `${target.of} takes at most ${formatDuration(target.atMostMs)} more than ${target.over}`;
    case 'peakRss':
      return `${target.of} stays within ${formatBytes(target.atMostBytes)} of memory`;
    case 'sent':
      return `${target.of} sends at most ${formatBytes(target.atMostBytes)}`;
    case 'exponent': {
      const time = target.measure === 'wall' ? 'time' : 'CPU time';
      const sizes = [target.points[0], target.points.at(-1)].map((point) => formatCount(point?.files ?? 0));
      return `the ${time} of ${target.of} grows at most as files^${target.atMost} from ${sizes.join(' to ')} files`;
    }
    case 'growthOfRss':
      return `${target.of} takes at most ${target.atMost} times the memory of ${target.over}`;
  }
}

export function formatBound(target: Target): string {
  switch (target.kind) {
    case 'ratio':
    case 'growthOfRss':
      return String(target.atMost);
    case 'exponent':
      return `files^${target.atMost}, ${target.measure}`;
    case 'excess':
      return `${formatDuration(target.atMostMs)} more`;
    case 'peakRss':
    case 'sent':
      return formatBytes(target.atMostBytes);
  }
}

export function formatReached(target: Target, reached: number): string {
  switch (target.kind) {
    case 'ratio':
    case 'growthOfRss':
    case 'exponent':
      // One digit more than targets have, so that a near miss does not look like a hit.
      return reached.toFixed(3);
    case 'excess':
      return `${(reached / 1000).toFixed(2)} s`;
    case 'peakRss':
    case 'sent':
      return formatBytes(reached);
  }
}

export function fastestOf(
  names: readonly string[],
  entrants: readonly EntrantResult[],
): { readonly name: string; readonly wall: number } | undefined {
  const walls = names.flatMap((name) => {
    const wall = findWall(entrants, name);
    return wall === undefined ? [] : [{ name, wall }];
  });
  return walls.sort((left, right) => left.wall - right.wall)[0];
}

export function findWall(entrants: readonly EntrantResult[], name: string): number | undefined {
  return measuredOf(entrants, name)?.wall.median;
}
