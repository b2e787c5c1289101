import { describe, expect, it } from 'vitest';
import { type FleetCounts, type FleetKind, NO_FLEET_COUNTS } from '../../engine/api/jobs/fleet.ts';
import type { JobEnd, JobStatus, RangeStatus } from './fleet-messages.ts';
import { endedState, endedStatus, listedEnd, sumStatus } from './fleet-status.ts';
import type { RunningStep } from './worker/running-steps.ts';

const JOB: JobStatus = {
  kind: 'copy',
  phase: 'move',
  isPaused: false,
  startedMs: 0,
  ranges: 4,
  estimatedKeys: 400,
  rangesRunning: [1, 2],
  rangesDone: 1,
  partsDone: 10,
  failedParts: 0,
  counts: { ...NO_FLEET_COUNTS, files: 100, bytes: 1000 },
  limits: {},
  map: 'drrw',
};
const range = (number: number, files: number): RangeStatus => ({
  range: number,
  partsWaiting: 2,
  partsRunning: 1,
  partsDone: 3,
  partsAtOnce: 4,
  isListed: false,
  counts: { ...NO_FLEET_COUNTS, files, bytes: files * 10 },
  filesKnown: 90,
  bytesKnown: 900,
});
const step = (worker: string, of: number, files: number, atMs: number, type = 'runPart'): RunningStep => ({
  type,
  worker,
  pulse: {
    range: of,
    part: 4,
    files,
    bytes: files * 10,
    total: { steps: 7, files: 70, bytes: atMs, atMs },
  },
});

describe('the status of a fleet', () => {
  it('shows the progress of each running range, and which workers work on it', () => {
    const steps = [step('b:1', 1, 5, 9), step('a:1', 1, 3, 4), step('a:1', 2, 8, 6, 'cutRange')];
    const { running, workers } = sumStatus({
      id: 'x',
      job: JOB,
      ranges: [range(2, 30), range(1, 20)],
      steps,
      state: 'running',
      started: '2026-01-01T00:00:00Z',
    });
    expect(running).toMatchObject([
      { range: 1, files: 28, filesKnown: 90, workers: ['a:1', 'b:1'] },
      { range: 2, files: 30, filesKnown: 90, workers: ['a:1'] },
    ]);
    expect(workers).toMatchObject([
      { worker: 'a:1', steps: 2, ranges: [1, 2], total: { atMs: 6 } },
      { worker: 'b:1', steps: 1, ranges: [1], total: { atMs: 9 } },
    ]);
  });

  it('counts a part as waiting until a worker has begun it', () => {
    const status = sumStatus({
      ...{ id: 'x', job: JOB, state: 'running', started: '2026-01-01T00:00:00Z' },
      ranges: [range(1, 20), { ...range(2, 30), partsRunning: 3 }],
      steps: [step('a:1', 1, 6, 1, 'cutRange'), step('a:1', 2, 8, 6)],
    });
    expect(status).toMatchObject({ partsRunning: 1, partsWaiting: 7 });
    expect(status.running).toMatchObject([
      { range: 1, partsRunning: 0, partsWaiting: 3 },
      { range: 2, partsRunning: 1, partsWaiting: 4 },
    ]);
  });

  it('is read from the end of a job that has ended, with the ranges that never ran', () => {
    const { counts, estimatedKeys, limits } = JOB;
    const end: JobEnd = {
      ...{ counts, estimatedKeys, limits, ranges: 4, parts: 10, failedParts: 1, startedMs: 0, rests: [] },
      result: 'stopped',
      map: 'dfsw',
    };
    const status = endedStatus(end, { id: 'x', kind: 'copy', state: 'cancelled', started: 'now' });
    expect(status).toMatchObject({ phase: 'ended', rangesDone: 2, partsDone: 10, map: 'dfsw', running: [] });
  });

  it('is "done" only if the job found nothing wrong, refused nothing, and nothing failed', () => {
    const stateOf = (kind: FleetKind, counts: Partial<FleetCounts>, more: Partial<JobEnd> = {}) =>
      endedState(listedEnd(kind, { counts: { ...NO_FLEET_COUNTS, ...counts }, result: 'done', ...more }));
    expect(stateOf('verify', {})).toBe('done');
    expect(stateOf('verify', { missing: 1 })).toBe('found');
    expect(stateOf('verify', { damaged: 1 })).toBe('found');
    for (const name of ['differing', 'onlyInSource', 'onlyInDestination'] as const)
      expect(stateOf('check', { [name]: 1 })).toBe('found');
    expect(stateOf('check', { differing: 1, failed: 1 })).toBe('partial');
    expect(stateOf('sync', { onlyInDestination: 1 })).toBe('done');
    const refused = { code: 'tooManyDeletes', message: 'More than 2.' } as const;
    expect(stateOf('sync', { onlyInDestination: 3 }, { refused })).toBe('partial');
    expect(stateOf('check', { differing: 1 }, { result: 'stopped' })).toBe('cancelled');
    // Of a worker of before.
    expect(endedState({ result: 'done', failed: 0 })).toBe('done');
  });
});
