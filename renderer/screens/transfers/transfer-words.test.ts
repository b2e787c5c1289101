import { describe, expect, it } from 'vitest';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { createThroughput, roundSteps, SECONDS_AXIS, SECONDS_KEPT } from './throughput.ts';
import {
  actionsFor,
  describeBytes,
  describeFiles,
  describeTimeLeft,
  fractionDone,
  KIND_ICONS,
  roughDuration,
} from './transfer-words.ts';

describe('The text of a transfer', () => {
  it('shows no remaining time while it is unknown', () => {
    expect(describeTimeLeft(running({}))).toBe('remaining time not known yet');
    expect(
      describeTimeLeft(running({ bytesDone: 10, bytesTotal: 20, bytesPerSecond: 0, secondsLeft: 9 })),
    ).toBe('nothing is moving at the moment');
    expect(describeTimeLeft({ ...running({ secondsLeft: 9 }), state: 'paused' })).toBe('');
  });

  it('marks totals that are still being counted', () => {
    const counting = running({
      isCounting: true,
      secondsLeft: 90,
      bytesDone: 1024,
      bytesTotal: 2048,
      filesDone: 1,
      filesTotal: 2,
      bytesPerSecond: 10,
    });
    expect(describeTimeLeft(counting)).toBe('at least about 2 min left');
    expect(describeBytes(counting)).toBe('1.0 KiB of 2.0 KiB+');
    expect(describeFiles(counting)).toBe('1 of 2+ files');
    expect(fractionDone(counting)).toBeUndefined();
  });

  it('counts the bytes under way as moved', () => {
    const transfer = running({ bytesDone: 0, bytesTotal: 4096, bytesUnderWay: 3072 });
    expect(describeBytes(transfer)).toBe('3.0 KiB of 4.0 KiB');
  });

  it('rounds the remaining time, more coarsely the longer it is', () => {
    expect([3, 31, 90, 3599, 3700, 9000, 200_000].map(roughDuration)).toEqual([
      'a few seconds',
      'about 30 s',
      'about 2 min',
      'about 1 h',
      'about 1 h',
      'about 2 h 30 min',
      'about 2 days',
    ]);
  });

  it('counts by bytes, by files if bytes are unknown, and otherwise not at all', () => {
    expect(fractionDone(running({ bytesDone: 1, bytesTotal: 4 }))).toBe(0.25);
    expect(fractionDone(running({ filesDone: 1, filesTotal: 2 }))).toBe(0.5);
    expect(fractionDone(running({ filesDone: 1 }))).toBeUndefined();
  });

  it('of a collection counts what was listed and removed, and says what it freed', () => {
    const collecting = {
      ...running({ bytesDone: 4096, filesDone: 7 }),
      order: { kind: 'gc', root: '/w' },
    } as const;
    expect(describeFiles({ ...collecting, phase: 'mark' })).toBe('');
    expect(describeFiles({ ...collecting, phase: 'query' })).toBe('7 objects listed');
    expect(describeFiles({ ...collecting, phase: 'remove' })).toBe('7 objects removed');
    expect([describeBytes(collecting), describeTimeLeft(collecting)]).toEqual(['', '']);
    const done = {
      ...collecting,
      state: 'done',
      summary: { removedObjects: 1, removedBytes: 2048 },
    } as const;
    expect([describeBytes(done), describeFiles(done)]).toEqual(['2.0 KiB freed', '1 object removed']);
    expect(describeFiles({ ...done, summary: { ...done.summary, repackedPacks: 2 } })).toBe(
      '2 packs written anew',
    );
  });

  it('is not marked with a check, which a failed one would have too', () => {
    expect(KIND_ICONS.verify).toBe('search');
    expect(Object.values(KIND_ICONS)).not.toContain('check');
  });

  it('offers a retry only for failed or cancelled transfers', () => {
    expect(actionsFor(running({}))).toEqual(['pause', 'cancel']);
    expect(actionsFor({ ...running({}), state: 'failed' })).toContain('retry');
    expect(actionsFor({ ...running({}), state: 'done' })).not.toContain('retry');
  });
});

describe('The minute of throughput', () => {
  it('keeps the newest values, oldest first', () => {
    const throughput = createThroughput();
    for (let value = 1; value <= 100; value += 1) throughput.push(value);
    const values = throughput.read();
    expect(values).toHaveLength(SECONDS_KEPT + 1);
    expect(values).toHaveLength(SECONDS_AXIS.length);
    expect(values.at(0)).toBe(40);
    expect(values.at(-1)).toBe(100);
  });

  it('has grid lines at round values up to the top of its scale', () => {
    const mib = 1024 ** 2;
    expect(roundSteps(1.2 * mib)).toEqual([0, 500, 1000].map((value) => value * 1024));
    expect(roundSteps(8.5 * mib)).toEqual([0, 2, 4, 6, 8].map((value) => value * mib));
    expect(roundSteps(19 * mib)).toEqual([0, 5, 10, 15].map((value) => value * mib));
  });
});

function running(facts: Partial<Transfer>): Transfer {
  return {
    id: 't',
    order: { kind: 'push', root: '/w' },
    title: 'Push',
    state: 'running',
    filesDone: 0,
    bytesDone: 0,
    bytesPerSecond: 0,
    warnings: [],
    failed: 0,
    ...facts,
  };
}
