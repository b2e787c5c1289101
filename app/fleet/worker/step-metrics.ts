/**
 * Counts the steps of a worker for Prometheus, beside the metrics of Temporal's SDK. Without `--metrics`
 * nothing is exported. Each tag has a small fixed set of values: no job, no place, no file name.
 */
import type { MetricMeter } from '@temporalio/common';
import type { FleetCounts } from '../../../engine/api/jobs/fleet.ts';
import type { CallListener } from '../../../engine/api/jobs/jobs.ts';

export interface StepMetrics {
  /** Counts requests, and answers that ask for fewer of them. */
  readonly onCall: CallListener;
  /** For one step. */
  open(step: string): StepMeter;
}

export interface StepMeter {
  /** @param bytes Of content, since the step began. */
  moved(bytes: number): void;
  ended(result: unknown): void;
  failed(): void;
  /** The worker stopped, or the job was paused or cancelled. */
  givenBack(): void;
}

export function createStepMetrics(meter: MetricMeter): StepMetrics {
  const steps = meter.createCounter('dray_fleet_steps_total', '', 'Steps that ended');
  const files = meter.createCounter('dray_fleet_files_total', '', 'Files of the steps that ended');
  const bytes = meter.createCounter('dray_fleet_bytes_total', 'By', 'Bytes of content, counted as they move');
  const requests = meter.createCounter(
    'dray_fleet_requests_total',
    '',
    'Requests to the stores, including repeats',
  );
  const throttled = meter.createCounter(
    'dray_fleet_throttled_total',
    '',
    'Requests answered with "slow down"',
  );
  return {
    onCall: () => {
      requests.add(1);
      return (failure) => {
        if (failure === 'slowDown') throttled.add(1);
      };
    },
    open(step) {
      let known = 0;
      const end = (state: string) => steps.add(1, { step, end: state });
      return {
        moved(soFar) {
          // The engine subtracts bytes that did not arrive; a counter cannot decrease.
          if (soFar <= known) return;
          bytes.add(soFar - known, { step });
          known = soFar;
        },
        ended(result) {
          for (const [state, count] of Object.entries(filesOf(result)))
            if (count > 0) files.add(count, { result: state });
          end('done');
        },
        failed: () => end('failed'),
        givenBack: () => end('given_back'),
      };
    },
  };
}

/** The files of a step, by their result. */
export function filesOf(result: unknown): Readonly<Record<string, number>> {
  const counts = countsOf(result);
  if (counts === undefined) return {};
  const { copiedFiles, deletedFiles, differing, failed, onlyInSource, unchangedFiles } = counts;
  return {
    copied: copiedFiles,
    unchanged: unchangedFiles,
    deleted: deletedFiles,
    differing: differing + onlyInSource,
    failed,
  };
}

/** The counts of a step's result. Some steps return them, some have them in a field, some have none. */
function countsOf(result: unknown): FleetCounts | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if ('copiedFiles' in result) return result as FleetCounts;
  return 'counts' in result ? countsOf(result.counts) : undefined;
}
