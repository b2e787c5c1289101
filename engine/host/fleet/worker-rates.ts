/**
 * The throughput of each worker, from the totals that its heartbeats carry. A rate is the difference of two
 * totals over the time between them by the worker's own clock, so late heartbeats and clocks that differ
 * change nothing.
 */
import { FLEET_WORKERS_MAX, type FleetWorkerCard } from '../../api/host/fleet.ts';
import type { FleetWorkerLook } from '../../api/host/fleet-link.ts';

/** A rate covers about this time. */
const RATE_MS = 10_000;
const RATES_MAX = 60;
/** A worker without work keeps its row for this time. */
const KEPT_MS = 60_000;
/** After this time without a new total, a worker's rate is zero. */
const STILL_MS = 8_000;

type Total = NonNullable<FleetWorkerLook['total']>;

interface Known {
  look: FleetWorkerLook;
  /** The oldest first; all are younger than `RATE_MS`, but for the first. */
  totals: Total[];
  rates: number[];
  /** When it last had a step. */
  seenMs: number;
  /** When its last total arrived. */
  heardMs: number;
}

export interface WorkerRates {
  /** @returns The workers of now and of the last minute, by name. */
  look(
    workers: readonly FleetWorkerLook[],
    nowMs: number,
  ): { readonly workers: readonly FleetWorkerCard[]; readonly workersMore: number };
}

export function createWorkerRates(): WorkerRates {
  const known = new Map<string, Known>();
  return {
    look(workers, nowMs) {
      const present = new Set(workers.map(({ worker }) => worker));
      for (const look of workers) {
        const { worker } = look;
        const one = known.get(worker) ?? { look, totals: [], rates: [], seenMs: nowMs, heardMs: nowMs };
        known.set(worker, one);
        one.look = look;
        one.seenMs = nowMs;
        if (look.total && addTotal(one.totals, look.total)) one.heardMs = nowMs;
      }
      for (const [worker, one] of known) {
        if (nowMs - one.seenMs > KEPT_MS) known.delete(worker);
        const rate = rateOf(one, nowMs);
        if (rate) one.rates = [...one.rates, rate.bytes].slice(-RATES_MAX);
      }
      const names = [...known.keys()].sort();
      return {
        workers: names
          .slice(0, FLEET_WORKERS_MAX)
          .map((name) => cardOf(known.get(name)!, present.has(name), nowMs)),
        workersMore: Math.max(0, names.length - FLEET_WORKERS_MAX),
      };
    },
  };
}

/** @returns False for a heartbeat that is known already. */
function addTotal(totals: Total[], total: Total): boolean {
  const last = totals.at(-1);
  if (last && total.atMs <= last.atMs) return false;
  totals.push(total);
  while (totals.length > 2 && totals[1]!.atMs <= total.atMs - RATE_MS) totals.shift();
  return true;
}

function rateOf({ heardMs, totals }: Known, nowMs: number): { bytes: number; files: number } | undefined {
  const [first] = totals;
  const last = totals.at(-1);
  if (!first || !last || first === last) return undefined;
  if (nowMs - heardMs > STILL_MS) return { bytes: 0, files: 0 };
  const seconds = (last.atMs - first.atMs) / 1000;
  return {
    bytes: Math.max(0, last.bytes - first.bytes) / seconds,
    files: Math.max(0, last.files - first.files) / seconds,
  };
}

function cardOf(known: Known, isPresent: boolean, nowMs: number): FleetWorkerCard {
  const { look, rates, totals } = known;
  const rate = rateOf(known, nowMs);
  const total = totals.at(-1);
  return {
    name: look.worker,
    steps: isPresent ? look.steps : 0,
    ranges: isPresent ? look.ranges : [],
    ...(total && { files: total.files, bytes: total.bytes }),
    ...(rate && { bytesPerSecond: rate.bytes, filesPerSecond: rate.files }),
    rates,
  };
}
