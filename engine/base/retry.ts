/**
 * Repeats a call that failed for a temporary reason: exponential backoff with jitter, under a budget that
 * many calls share.
 *
 * Half of each pause is fixed and half is random ("equal jitter"; M. Brooker, AWS Architecture Blog, 2015). A
 * transfer fails with the first of its many calls that gives up; with fully random pauses one of them soon
 * would. A pause that the store asks for is kept. The error's own `retry` advice decides. Errors that are not
 * a DrayError, or advise `no`, are never repeated.
 */
import { DrayError } from '../api/error.ts';
import { checkAborted } from './abort.ts';
import type { Clock } from './clock.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  /** All calls, including the first; at least 1. */
  readonly attemptsMax: number;
  /**
   * The first pause is uniform in [base / 2, base), the next in [base, 2 base), and so on up to `maxDelayMs`.
   */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly budget: RetryBudget;
  /** Called with each failure that is about to be retried, which the caller never sees. Must not throw. */
  readonly onRetry?: (error: DrayError) => void;
}

/**
 * A token bucket, as in the AWS SDK's standard mode: each retry takes tokens and each success returns some. A
 * store that is down gets a trickle of retries from all calls together, not `attemptsMax` times the load.
 */
export interface RetryBudget {
  /** False when the bucket does not hold enough. */
  take(tokens: number): boolean;
  give(tokens: number): void;
}

/** Enough for 7 retries by each of 64 calls in flight: one outage that they all meet must not empty it. */
const CAPACITY = 2_240;
/** From the AWS SDK reference guide, "Retry behavior", standard mode. */
const RETRY_TOKENS = 5;
const SUCCESS_TOKENS = 1;

/** The longest pause that a store can ask for. */
const ASKED_MS_MAX = 60_000;

/** Multiplies the pause when the store asks for fewer requests. */
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

/** The earlier failures of a call, oldest first. */
export type Failures = readonly DrayError[];

/**
 * @param run Makes the call once. It gets the failures of its earlier attempts, which may have had effects
 * all the same.
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

/** The pause that the store asked for (Retry-After), from `data.retryAfterMs`. */
function askedForMs(error: DrayError): number {
  const { retryAfterMs } = error.data;
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0;
}
