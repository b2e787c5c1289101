/** Decides whether a scenario met its targets. */
import type { EntrantResult, GrowthMeasure, Outcome, Target, Verdict } from './results.ts';
import { fitExponent, medianOf } from './statistics.ts';

type Measured = Extract<Outcome, { state: 'measured' }>;

export function judge(target: Target, entrants: readonly EntrantResult[]): Verdict {
  const reached = reach(target, (name) => measuredOf(entrants, name));
  return { target, reached, isMet: reached !== null && reached <= boundOf(target) };
}

export function measuredOf(entrants: readonly EntrantResult[], name: string): Measured | undefined {
  const outcome = entrants.find((entrant) => entrant.name === name)?.outcome;
  return outcome?.state === 'measured' ? outcome : undefined;
}

/**
 * The median wall time relative to that of the fastest peer at the same size; undefined when either is
 * missing.
 */
export function ratioToBestPeer(
  entrant: EntrantResult,
  entrants: readonly EntrantResult[],
): number | undefined {
  const peers = entrants.flatMap(({ kind, files, outcome }) =>
    kind === 'peer' && files === entrant.files && outcome.state === 'measured' ? [outcome.wall.median] : [],
  );
  if (entrant.outcome.state !== 'measured' || peers.length === 0) return undefined;
  return entrant.outcome.wall.median / Math.min(...peers);
}

/** The median of the runs that have the figure; undefined when none has. */
export function medianMeasured(
  { runs }: Measured,
  of: 'cpuMs' | 'serverCpuMs' | 'peakRssBytes' | 'requests' | 'sentBytes' | 'receivedBytes',
): number | undefined {
  const values = runs.flatMap((run) => run[of] ?? []);
  return values.length > 0 ? medianOf(values) : undefined;
}

function boundOf(target: Target): number {
  switch (target.kind) {
    case 'ratio':
    case 'exponent':
    case 'growthOfRss':
      return target.atMost;
    case 'excess':
      return target.atMostMs;
    case 'peakRss':
    case 'sent':
      return target.atMostBytes;
  }
}

type Find = (name: string) => Measured | undefined;

function reach(target: Target, find: Find): number | null {
  if (target.kind === 'exponent') return reachExponent(target, find);
  const measured = find(target.of);
  if (!measured) return null;
  switch (target.kind) {
    case 'ratio': {
      const others = target.toBestOf.flatMap((name) => find(name)?.wall.median ?? []);
      return others.length > 0 ? measured.wall.median / Math.min(...others) : null;
    }
    case 'excess': {
      const other = find(target.over);
      return other ? measured.wall.median - other.wall.median : null;
    }
    case 'peakRss':
      return largestPeakRss(measured);
    case 'sent':
      return mostSent(measured);
    case 'growthOfRss': {
      const other = find(target.over);
      const [peak, otherPeak] = [largestPeakRss(measured), other ? largestPeakRss(other) : null];
      return peak !== null && otherPeak !== null ? peak / otherPeak : null;
    }
  }
}

/**
 * GNU time prints user and system time in hundredths of a second, truncated. After subtracting a start, the
 * error is up to 20 ms.
 */
const CPU_TOLD_MS = 100;

/**
 * Null unless every size was measured well enough: a line through the others would promise something else.
 */
function reachExponent(target: Extract<Target, { kind: 'exponent' }>, find: Find): number | null {
  const timeOf = (name: string) => medianTime(find(name), target.measure);
  const startMs = timeOf(target.start);
  if (startMs === undefined) return null;
  const points = target.points.flatMap(({ files, entrant }) => {
    const time = timeOf(entrant);
    return time === undefined ? [] : [{ files, time: time - startMs }];
  });
  if (points.length !== target.points.length) return null;
  if (target.measure === 'cpu' && points.some(({ time }) => time < CPU_TOLD_MS)) return null;
  return fitExponent(points);
}

function medianTime(measured: Measured | undefined, measure: GrowthMeasure): number | undefined {
  if (!measured) return undefined;
  return measure === 'wall' ? measured.wall.median : medianMeasured(measured, 'cpuMs');
}

/** A bound on memory applies to every run, not to the median. */
export function largestPeakRss(outcome: Measured): number | null {
  const peaks = outcome.runs.flatMap((run) => run.peakRssBytes ?? []);
  return peaks.length > 0 ? Math.max(...peaks) : null;
}

/** Null where nothing counted it. */
export function mostSent(outcome: Measured): number | null {
  const sent = outcome.runs.flatMap((run) => run.sentBytes ?? []);
  return sent.length > 0 ? Math.max(...sent) : null;
}
