/** The traffic between a job and its remotes, read for each progress event. */
import type { ProgressEvent } from '../../api/events.ts';
import type { RequestTotals } from '../../api/jobs/jobs.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import type { TreeSide } from '../trees/sides.ts';

export interface Traffic {
  read(): Pick<ProgressEvent, 'requests' | 'inFlight' | 'inFlightMax' | 'wireBytes'>;
  /** Calls `listener` whenever bytes went over the wire. One listener: that of the current phase. */
  watch(listener: () => void): void;
}

/** @param limits A limit that several connections share is counted once. */
export function createTraffic(meters: readonly Meter[], limits: readonly AdaptiveLimit[]): Traffic {
  const distinct = [...new Set(limits)];
  return {
    read() {
      const wireBytes = sumOf(meters, (meter) => meter.wireBytes());
      return {
        requests: sumOf(meters, (meter) => meter.totals().total),
        ...(wireBytes > 0 ? { wireBytes } : {}),
        ...(distinct.length === 0
          ? {}
          : {
              inFlight: sumOf(distinct, (limit) => limit.stats().inFlight),
              inFlightMax: sumOf(distinct, (limit) => limit.current),
            }),
      };
    },
    watch(listener) {
      for (const meter of meters) meter.watchWire(listener);
    },
  };
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

/** The traffic between the two sides of a copy. */
export function trafficOf(pair: {
  readonly source: TreeSide;
  readonly destination: TreeSide;
  readonly meters: readonly Meter[];
}): Traffic {
  const { destination, meters, source } = pair;
  const limits = [source, destination].flatMap((side) => (side.kind === 'remote' ? [side.limit] : []));
  return createTraffic(meters, limits);
}

/** The totals of a command that used several stores. */
export function addTotals(meters: readonly Meter[]): RequestTotals {
  const totals = meters.map((meter) => meter.totals());
  const sum = (of: keyof RequestTotals) => totals.reduce((total, each) => total + each[of], 0);
  return {
    reads: sum('reads'),
    writes: sum('writes'),
    lists: sum('lists'),
    deletes: sum('deletes'),
    total: sum('total'),
    sentBytes: sum('sentBytes'),
    receivedBytes: sum('receivedBytes'),
    dollars: sum('dollars'),
  };
}
