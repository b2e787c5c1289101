/**
 * Repeats a call that failed for a passing reason: exponential backoff with jitter, under a budget shared by many calls.
 *
 * Half of each pause is fixed and half is random ("equal jitter"; M. Brooker, AWS Architecture Blog, 2015). A transfer fails with the
 * first of its many calls that gives up, and with pauses that are random from 0 on, one of them always gives up soon.
 * A pause that the store asked for is kept. The error's own `retry` advice decides; what is not a DrayError, or advises `no`, is never repeated.
 */
import { DrayError } from '../api/error.ts';
import { checkAborted } from './abort.ts';
import type { Clock } from './clock.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  /** Calls in all, the first one included; at least 1. */
  readonly attemptsMax: number;
  /** The first pause is uniform in [base / 2, base), the next in [base, 2 base), and so on up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly budget: RetryBudget;
  /** Told of each failure that is about to be repeated, which the caller will not see. Must not throw. */
  readonly onRetry?: (error: DrayError) => void;
}

/**
 * A token bucket, as in the AWS SDK's standard mode: each retry takes tokens, each success gives some back, so that a store
 * that is down sees a trickle of retries from all the calls together and not `attemptsMax` times the load.
 */
export interface RetryBudget {
  /** False when the bucket does not hold enough. */
  take(tokens: number): boolean;
  give(tokens: number): void;
}

/** Enough for 64 calls in flight to make 7 retries each: an outage met by all of them at once must not use it up. */
const CAPACITY = 2_240;
/** From the AWS SDK reference guide, "Retry behavior", standard mode. */
const RETRY_TOKENS = 5;
const SUCCESS_TOKENS = 1;

/** A store that asks for a longer pause than this is asked again all the same. */
const ASKED_MS_MAX = 60_000;

/** How much longer the pause is when the store asked for fewer requests. */
const BACKOFF_FACTOR = 4;

export function createRetryBudget(capacity = CAPACITY): RetryBudget {
  let tokens = capacity;
  return {
    take(wanted) {
      if (wanted > tokens) return false;
      tokens -= wanted;
      return true;
    },
    give(returned) {
      tokens = Math.min(capacity, tokens + returned);
    },
  };
}

/** Failures so far of the call that is about to be made, oldest first. */
export type Failures = readonly DrayError[];

/**
 * @param run Makes the call once. It is told how its earlier attempts failed, to judge what they may have done all the same.
 * @throws The last attempt's error, or `aborted`.
 */
export async function retrying<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  run: (failures: Failures) => Promise<T>,
): Promise<T> {
  const failures: DrayError[] = [];
  for (;;) {
    checkAborted(signal);
    try {
      const value = await run(failures);
      policy.budget.give(failures.length > 0 ? RETRY_TOKENS : SUCCESS_TOKENS);
      return value;
    } catch (error) {
      if (!(error instanceof DrayError) || error.retry === 'no') throw error;
      failures.push(error);
      if (failures.length >= policy.attemptsMax || !policy.budget.take(RETRY_TOKENS)) throw error;
      policy.onRetry?.(error);
      await policy.clock.sleep(pauseMs(policy, failures.length, error), signal);
    }
  }
}

function pauseMs(policy: RetryPolicy, failed: number, error: DrayError): number {
  const base = policy.baseDelayMs * (error.retry === 'backoff' ? BACKOFF_FACTOR : 1);
  const longestMs = Math.min(policy.maxDelayMs, base * 2 ** (failed - 1));
  const ownMs = (longestMs * (1 + policy.clock.random())) / 2;
  return Math.max(ownMs, Math.min(askedForMs(error), ASKED_MS_MAX));
}

/** What the store itself asked for (Retry-After), in `data.retryAfterMs`. */
function askedForMs(error: DrayError): number {
  const { retryAfterMs } = error.data;
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0;
}
