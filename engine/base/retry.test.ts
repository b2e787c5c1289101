import { describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import type { Clock } from './clock.ts';
import { createRetryBudget, type RetryPolicy, retrying } from './retry.ts';

const down = () => new DrayError('unreachable', 'down', { retry: 'retry' });

/** A policy on a clock that does not wait and records the pauses. */
function policyWith(more: Partial<RetryPolicy> = {}) {
  const pauses: number[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    random: () => 0.5,
    sleep: async (pauseMs) => {
      pauses.push(pauseMs);
    },
  };
  const policy = {
    clock,
    attemptsMax: 4,
    baseDelayMs: 100,
    maxDelayMs: 250,
    budget: createRetryBudget(),
    ...more,
  };
  return { policy, pauses };
}

/** Fails with each error in turn, then succeeds. */
function failing(...errors: readonly unknown[]) {
  const left = [...errors];
  return async () => {
    if (left.length > 0) throw left.shift();
    return 'done';
  };
}

describe('a retried call', () => {
  it('pauses longer each time, up to the longest pause', async () => {
    const { policy, pauses } = policyWith();
    await expect(retrying(policy, undefined, failing(down(), down(), down()))).resolves.toBe('done');
    expect(pauses).toEqual([75, 150, 187.5]);
  });

  it('gives up with the last error after the last attempt', async () => {
    const { policy, pauses } = policyWith();
    const last = down();
    await expect(retrying(policy, undefined, failing(down(), down(), down(), last))).rejects.toBe(last);
    expect(pauses).toHaveLength(3);
  });

  it('is made once when the error advises against a retry or is not a DrayError', async () => {
    const { policy, pauses } = policyWith();
    const final = new DrayError('accessDenied', 'no');
    await expect(retrying(policy, undefined, failing(final))).rejects.toBe(final);
    await expect(retrying(policy, undefined, failing(new TypeError('a bug')))).rejects.toThrow('a bug');
    expect(pauses).toEqual([]);
  });

  it('waits as long as the store asks, up to a bound', async () => {
    const { policy, pauses } = policyWith();
    const busy = (retryAfterMs: number) =>
      new DrayError('slowDown', 'busy', { retry: 'backoff', data: { retryAfterMs } });
    await retrying(policy, undefined, failing(busy(7_000), busy(3_600_000), busy(1)));
    expect(pauses).toEqual([7_000, 60_000, 187.5]);
  });

  it('is not repeated while the shared budget is empty; successes refill it', async () => {
    const { policy } = policyWith({ budget: createRetryBudget(5) });
    await expect(retrying(policy, undefined, failing(down(), down()))).rejects.toMatchObject({
      code: 'unreachable',
    });
    for (let success = 0; success < 5; success += 1) await retrying(policy, undefined, failing());
    await expect(retrying(policy, undefined, failing(down()))).resolves.toBe('done');
  });

  it('stops when it is aborted', async () => {
    const { policy } = policyWith();
    const stop = new AbortController();
    const run = async () => {
      stop.abort();
      throw down();
    };
    await expect(retrying(policy, stop.signal, run)).rejects.toMatchObject({ code: 'aborted' });
  });
});
