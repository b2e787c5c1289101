import type { MetricMeter, MetricTags } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import { createStepMetrics } from './step-metrics.ts';

/** A meter that keeps sums by name and tags. */
function openSums() {
  const sums: Record<string, number> = {};
  const createCounter = (name: string) => ({
    add: (value: number, tags: MetricTags = {}) => {
      const key = [name, ...Object.values(tags)].join(' ');
      sums[key] = (sums[key] ?? 0) + value;
    },
  });
  return { sums, meter: { createCounter } as unknown as MetricMeter };
}

describe('the metrics of steps', () => {
  it('count bytes while they move, and never go back', () => {
    const { meter, sums } = openSums();
    const step = createStepMetrics(meter).open('runPart');
    for (const bytes of [10, 30, 20, 35]) step.moved(bytes);
    expect(sums).toEqual({ 'dray_fleet_bytes_total runPart': 35 });
  });

  it('count the files of a step by their result, wherever it lists them', () => {
    const { meter, sums } = openSums();
    const metrics = createStepMetrics(meter);
    const counts = { ...NO_FLEET_COUNTS, copiedFiles: 5, unchangedFiles: 2, failed: 1 };
    metrics.open('runPart').ended(counts);
    metrics.open('retryFailed').ended({ retried: 1, counts: { ...NO_FLEET_COUNTS, copiedFiles: 1 } });
    metrics.open('cutRange').ended({ parts: [], isLast: true });
    metrics.open('finish').ended(undefined);
    expect(sums).toEqual({
      'dray_fleet_files_total copied': 6,
      'dray_fleet_files_total unchanged': 2,
      'dray_fleet_files_total failed': 1,
      'dray_fleet_steps_total runPart done': 1,
      'dray_fleet_steps_total retryFailed done': 1,
      'dray_fleet_steps_total cutRange done': 1,
      'dray_fleet_steps_total finish done': 1,
    });
  });

  it('count failed steps apart from those given back, and throttled requests apart from others', () => {
    const { meter, sums } = openSums();
    const metrics = createStepMetrics(meter);
    metrics.open('runPart').failed();
    metrics.open('runPart').givenBack();
    metrics.onCall('put', 'a')();
    metrics.onCall('put', 'b')('notFound');
    metrics.onCall('put', 'c')('slowDown');
    expect(sums).toEqual({
      'dray_fleet_steps_total runPart failed': 1,
      'dray_fleet_steps_total runPart given_back': 1,
      dray_fleet_requests_total: 3,
      dray_fleet_throttled_total: 1,
    });
  });
});
