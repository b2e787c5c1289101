/** Whether the targets of a scenario were reached. */
import type { EntrantResult, Outcome, Target, Verdict } from './results.ts';
import { medianOf } from './statistics.ts';

type Measured = Extract<Outcome, { state: 'measured' }>;

export function judge(target: Target, entrants: readonly EntrantResult[]): Verdict {
  const reached = reach(target, (name) => {
    const outcome = entrants.find((entrant) => entrant.name === name)?.outcome;
    return outcome?.state === 'measured' ? outcome : undefined;
  });
  return { target, reached, isMet: reached !== null && reached <= boundOf(target) };
}

/** The median wall time against that of the quickest peer; undefined when either is missing. */
export function ratioToBestPeer(
  entrant: EntrantResult,
  entrants: readonly EntrantResult[],
): number | undefined {
  const peers = entrants.flatMap(({ kind, outcome }) =>
    kind === 'peer' && outcome.state === 'measured' ? [outcome.wall.median] : [],
  );
  if (entrant.outcome.state !== 'measured' || peers.length === 0) return undefined;
  return entrant.outcome.wall.median / Math.min(...peers);
}

/** Of the runs in which it could be measured; undefined where there is none. */
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
      return target.atMost;
    case 'excess':
      return target.atMostMs;
    case 'peakRss':
    case 'sent':
      return target.atMostBytes;
  }
}

function reach(target: Target, find: (name: string) => Measured | undefined): number | null {
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
  }
}

/** A bound on memory holds for every run, not for the middle one. */
export function largestPeakRss(outcome: Measured): number | null {
  const peaks = outcome.runs.flatMap((run) => run.peakRssBytes ?? []);
  return peaks.length > 0 ? Math.max(...peaks) : null;
}

/** Null where nothing counted. */
export function mostSent(outcome: Measured): number | null {
  const sent = outcome.runs.flatMap((run) => run.sentBytes ?? []);
  return sent.length > 0 ? Math.max(...sent) : null;
}
