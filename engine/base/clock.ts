/** Provides time, randomness and timers, so that tests control them. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start; never decreases. */
  monotonicMs(): number;
  /** Resolves after the pause, or rejects with `aborted` when the signal fires. */
  sleep(pauseMs: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

import { setTimeout as pause } from 'node:timers/promises';
import { DrayError } from '../api/error.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (pauseMs, signal) => {
    try {
      await pause(pauseMs, undefined, signal ? { signal } : undefined);
    } catch (cause) {
      throw new DrayError('aborted', 'Stopped on request.', { cause });
    }
  },
  random: () => Math.random(),
};
