import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchStopSignals } from './stop-signals.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a job that was asked to stop', () => {
  it.each([
    [{}, 900],
    [{ graceMs: 10_000 }, 10_000],
  ])('has its grace time (%o) before the process ends anyway', (options, graceMs) => {
    const exits: number[] = [];
    using stops = open({ ...options, exit: (code) => exits.push(code), onFirst: () => {} });
    process.emit('SIGTERM', 'SIGTERM');
    expect(stops.signal.aborted).toBe(true);
    vi.advanceTimersByTime(graceMs - 1);
    expect(exits).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(exits).toEqual([143]);
  });

  it('ends at once when asked again', () => {
    const exits: number[] = [];
    using stops = open({ graceMs: 10_000, exit: (code) => exits.push(code), onFirst: () => {} });
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect([exits, stops.exitCode()]).toEqual([[130], 130]);
  });
});

function open(options: Parameters<typeof watchStopSignals>[0]) {
  const stops = watchStopSignals(options);
  return { ...stops, [Symbol.dispose]: stops.dispose };
}
