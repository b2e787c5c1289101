/**
 * Finds the limit of requests in flight in a few round trips, before the climb (climb.ts) takes over.
 *
 * As in TCP, each answer permits more requests, so the number grows with every round trip. As in HyStart (Ha
 * and Rhee 2011; RFC 9406), not a loss but the answers' time ends it. By Little's law the requests in flight
 * are the rate of answers times the time of one. The least time seen is that of a path without a queue. An
 * answer that took twice as long spent half of its time in queues, so twice as many are in flight as the path
 * can use. So a long path is filled with hundreds, and a near server, whose answers wait only for a
 * processor, keeps few. Answers with much content are left to the climb: their time depends on the shared
 * bandwidth. The number does not grow while this process is always busy, since then even the fastest answer
 * has waited here.
 */

export interface SlowStart {
  readonly leastMs: number;
  /** The answers since the last check: their number, and the fastest. */
  readonly lookAnswers: number;
  readonly lookLeastMs: number;
  readonly largeAnswers: number;
}

export interface Answer {
  readonly tookMs: number;
  readonly isLarge: boolean;
  /** The limit was reached when it came. */
  readonly isFull: boolean;
  /** This thread was idle: more requests would not only wait for it. */
  readonly hasIdleTime: boolean;
}

export type SlowStartStep =
  | { readonly is: 'going'; readonly start: SlowStart; readonly more: number }
  /** There is a queue: enough are in flight. */
  | { readonly is: 'queue' }
  /** Requests are large: their throughput must decide. */
  | { readonly is: 'large' };

/** Each answer permits its successor and this many more: four times as many after each round trip. */
const MORE_PER_ANSWER = 3;
/**
 * From this time of the fastest answer on, eight times as many: a round trip costs more than a few requests
 * too many.
 */
const FAR_MS = 20;
const MORE_PER_FAR_ANSWER = 7;
/**
 * Even the fastest of a round trip's answers, and of at least this many (RFC 9406), must have queued: new
 * connections delay some only for a short time.
 */
const LOOK_ANSWERS_MIN = 8;
const QUEUED = 2;
/** After this many large answers the climb takes over. */
const LARGE_ANSWERS = 4;

export const SLOW_START: SlowStart = {
  leastMs: Number.POSITIVE_INFINITY,
  lookAnswers: 0,
  lookLeastMs: Number.POSITIVE_INFINITY,
  largeAnswers: 0,
};

/** @param limit The current limit of requests in flight. */
export function slowStartOn(
  start: SlowStart,
  { hasIdleTime, isFull, isLarge, tookMs }: Answer,
  limit: number,
): SlowStartStep {
  if (isLarge) {
    const largeAnswers = start.largeAnswers + 1;
    if (largeAnswers >= LARGE_ANSWERS) return { is: 'large' };
    return { is: 'going', start: { ...start, largeAnswers }, more: 0 };
  }
  const leastMs = Math.min(start.leastMs, tookMs);
  const lookLeastMs = Math.min(start.lookLeastMs, tookMs);
  const lookAnswers = start.lookAnswers + 1;
  const isLookOver = lookAnswers >= Math.max(LOOK_ANSWERS_MIN, limit);
  if (isLookOver && lookLeastMs > QUEUED * leastMs) return { is: 'queue' };
  return {
    is: 'going',
    start: isLookOver
      ? { ...start, leastMs, lookAnswers: 0, lookLeastMs: Number.POSITIVE_INFINITY }
      : { ...start, leastMs, lookAnswers, lookLeastMs },
    more: isFull && hasIdleTime && tookMs <= QUEUED * leastMs ? morePerAnswer(leastMs) : 0,
  };
}

function morePerAnswer(leastMs: number): number {
  return leastMs >= FAR_MS ? MORE_PER_FAR_ANSWER : MORE_PER_ANSWER;
}
