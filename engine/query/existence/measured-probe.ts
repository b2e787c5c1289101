/** A probe that counts and times its requests, and bounds those in flight. */
import pLimit from 'p-limit';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { ExistenceProbe } from './existence-probe.ts';
import type { ListPages } from './list-page.ts';
import type { CostModel } from './plan-query.ts';

export interface MeasuredProbe {
  readonly head: (hash: BlobHash) => Promise<number | undefined>;
  readonly list: ListPages;
  readonly heads: () => number;
  readonly lists: () => number;
  /** The cost model with the measurements so far. */
  readonly costs: () => CostModel;
}

export interface MeasuredProbeOptions {
  readonly probe: ExistenceProbe;
  readonly costs: CostModel;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The fastest call counts as the latency: slower ones waited for a connection or for other calls, which the
 * plan accounts for itself. The geometric mean with the previous value keeps one odd call from deciding.
 */
export function createMeasuredProbe(options: MeasuredProbeOptions): MeasuredProbe {
  const { clock, costs, probe, signal } = options;
  const limit = pLimit(Math.max(1, Math.floor(costs.concurrency)));
  let heads = 0;
  let lists = 0;
  let fastestHeadMs: number | undefined;
  let fastestListMs: number | undefined;
  let failures = 0;
  let lastFailure: unknown;

  /** When a call fails, waiting calls fail with it, so that no more requests go to a remote that is gone. */
  const inTurn = async <T>(call: () => Promise<T>): Promise<T> => {
    const failuresBefore = failures;
    return limit(async () => {
      checkAborted(signal);
      if (failures > failuresBefore) throw lastFailure;
      try {
        return await call();
      } catch (error) {
        failures += 1;
        lastFailure = error;
        throw error;
      }
    });
  };

  return {
    head: (hash) =>
      inTurn(async () => {
        heads += 1;
        const startMs = clock.monotonicMs();
        const sizeBytes = await probe.head(hash, signal);
        fastestHeadMs = Math.min(fastestHeadMs ?? Number.POSITIVE_INFINITY, clock.monotonicMs() - startMs);
        return sizeBytes;
      }),
    list: (request) =>
      inTurn(async () => {
        lists += 1;
        const startMs = clock.monotonicMs();
        const page = await probe.list(request, signal);
        // A short page says little about a full one.
        if (page.isTruncated) {
          fastestListMs = Math.min(fastestListMs ?? Number.POSITIVE_INFINITY, clock.monotonicMs() - startMs);
        }
        return page;
      }),
    heads: () => heads,
    lists: () => lists,
    costs: () => ({
      ...costs,
      headMs: blend(costs.headMs, fastestHeadMs),
      listMs: blend(costs.listMs, fastestListMs),
    }),
  };
}

function blend(knownMs: number, measuredMs: number | undefined): number {
  return measuredMs === undefined ? knownMs : Math.sqrt(Math.max(0.01, knownMs) * Math.max(0.01, measuredMs));
}
