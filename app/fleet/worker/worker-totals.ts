/**
 * This worker's totals for each job since it started. Each heartbeat carries the total of its job, so
 * two heartbeats give the worker's rate, even when its steps are shorter than the time between them.
 */
import { type Clock, systemClock } from '../../../engine/base/clock.ts';
import type { WorkerTotal } from '../fleet-messages.ts';
import { filesOf } from './step-metrics.ts';

/** Totals are kept for this many jobs, the latest ones. */
const JOBS_MAX = 100;

export interface JobTotal {
  read(): WorkerTotal;
  /** For one step. */
  open(): StepTotal;
}

export interface StepTotal {
  /** @param soFar Of content, since the step began. */
  moved(soFar: { readonly bytes: number; readonly files: number }): void;
  ended(result: unknown): void;
}

export function createWorkerTotals(clock: Pick<Clock, 'nowMs'> = systemClock): (job: string) => JobTotal {
  const jobs = new Map<string, { steps: number; files: number; bytes: number }>();
  return (job) => {
    const sums = jobs.get(job) ?? { steps: 0, files: 0, bytes: 0 };
    jobs.delete(job);
    jobs.set(job, sums);
    for (const oldest of jobs.keys()) {
      if (jobs.size <= JOBS_MAX) break;
      jobs.delete(oldest);
    }
    return {
      read: () => ({ ...sums, atMs: clock.nowMs() }),
      open() {
        let known = { bytes: 0, files: 0 };
        return {
          moved({ bytes, files }) {
            // The engine takes bytes back that did not arrive, and counts files anew in each phase.
            const next = { bytes: Math.max(known.bytes, bytes), files: Math.max(known.files, files) };
            sums.bytes += next.bytes - known.bytes;
            sums.files += next.files - known.files;
            known = next;
          },
          ended(result) {
            sums.steps += 1;
            const files = Object.values(filesOf(result)).reduce((sum, count) => sum + count, 0);
            sums.files += files - known.files;
          },
        };
      },
    };
  };
}
