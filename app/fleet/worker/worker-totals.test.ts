import { describe, expect, it } from 'vitest';
import { NO_FLEET_COUNTS } from '../../../engine/api/jobs/fleet.ts';
import { createWorkerTotals } from './worker-totals.ts';

describe('the totals of a worker', () => {
  it('add up all steps of a job, whichever runs now, and keep jobs apart', () => {
    const totals = createWorkerTotals({ nowMs: () => 5 });
    const first = totals('one').open();
    const second = totals('one').open();
    for (const bytes of [10, 30, 20]) first.moved({ bytes, files: 4 });
    second.moved({ bytes: 7, files: 1 });
    expect(totals('one').read().files).toBe(5);
    first.ended({ ...NO_FLEET_COUNTS, copiedFiles: 3, unchangedFiles: 2 });
    totals('two').open().moved({ bytes: 1, files: 0 });
    expect(totals('one').read()).toEqual({ steps: 1, files: 6, bytes: 37, atMs: 5 });
    expect(totals('two').read()).toEqual({ steps: 0, files: 0, bytes: 1, atMs: 5 });
  });

  it('keep the hundred jobs that the worker met last', () => {
    const totals = createWorkerTotals({ nowMs: () => 0 });
    totals('old').open().moved({ bytes: 1, files: 0 });
    totals('often').open().moved({ bytes: 1, files: 0 });
    for (let job = 0; job < 99; job += 1) {
      totals(`job ${job}`);
      totals('often');
    }
    expect(totals('often').read().bytes).toBe(1);
    expect(totals('old').read().bytes).toBe(0);
  });
});
