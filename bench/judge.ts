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

/** Of the runs that could be measured; undefined when none could. */
export function medianPeakRss(outcome: Measured): number | undefined {
  const peaks = outcome.runs.flatMap((run) => run.peakRssBytes ?? []);
  return peaks.length > 0 ? medianOf(peaks) : undefined;
}

export function medianCpu(outcome: Measured): number | undefined {
  const times = outcome.runs.flatMap((run) => run.cpuMs ?? []);
  return times.length > 0 ? medianOf(times) : undefined;
}

export function medianServerCpu(outcome: Measured): number | undefined {
  const times = outcome.runs.flatMap((run) => run.serverCpuMs ?? []);
  return times.length > 0 ? medianOf(times) : undefined;
}

export function medianRequests(outcome: Measured): number | undefined {
  const counts = outcome.runs.flatMap((run) => run.requests ?? []);
  return counts.length > 0 ? medianOf(counts) : undefined;
}

function boundOf(target: Target): number {
  switch (target.kind) {
    case 'ratio':
      return target.atMost;
    case 'excess':
      return target.atMostMs;
    case 'peakRss':
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
  }
}

/** A bound on memory holds for every run, not for the middle one. */
function largestPeakRss(outcome: Measured): number | null {
  const peaks = outcome.runs.flatMap((run) => run.peakRssBytes ?? []);
  return peaks.length > 0 ? Math.max(...peaks) : null;
}
