/** What goes to and fro between a job and its remotes, for its progress: asked with each event. */
import type { ProgressEvent } from '../api/events.ts';
import type { Meter } from '../remotes/with-meter.ts';
import type { AdaptiveLimit } from '../transfer/adaptive-limit.ts';
import type { TreeSide } from './tree-sides.ts';

export type Traffic = () => Pick<ProgressEvent, 'requests' | 'inFlight' | 'inFlightMax'>;

/** @param limits One that several connections share is counted once. */
export function createTraffic(meters: readonly Meter[], limits: readonly AdaptiveLimit[]): Traffic {
  const distinct = [...new Set(limits)];
  const sumOf = <T>(items: readonly T[], of: (item: T) => number) =>
    items.reduce((sum, item) => sum + of(item), 0);
  return () => ({
    requests: sumOf(meters, (meter) => meter.totals().total),
    ...(distinct.length === 0
      ? {}
      : {
          inFlight: sumOf(distinct, (limit) => limit.stats().inFlight),
          inFlightMax: sumOf(distinct, (limit) => limit.current),
        }),
  });
}

/** Between the two ends of a copy. */
export function trafficOf(pair: {
  readonly source: TreeSide;
  readonly destination: TreeSide;
  readonly meters: readonly Meter[];
}): Traffic {
  const { destination, meters, source } = pair;
  const limits = [source, destination].flatMap((side) => (side.kind === 'remote' ? [side.limit] : []));
  return createTraffic(meters, limits);
}
