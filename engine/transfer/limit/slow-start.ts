/**
 * How the limit of requests in flight finds its size in a few round trips, before the climb (climb.ts) takes over.
 *
 * As TCP does it, each answer opens the way for more, so the number grows with every round trip; and as HyStart has it (Ha and
 * Rhee 2011; RFC 9406), what ends it is not a loss but the answers' time. By Little's law the requests in flight are the rate of
 * answers times the time of one. The least time seen stands for a way with no queue on it; an answer that took twice as long spent
 * half of its time in queues, so there are twice as many in flight as the way can use. Thus a long way is filled with hundreds, and
 * a server next door, where all that answers wait for is a processor, keeps few. Answers that carry much are left to the climb:
 * their time tells of the bandwidth that they share. Nor does the number grow while this process is busy all the time, since then even the
 * quickest answer has waited for its turn here.
 */

export interface SlowStart {
  readonly leastMs: number;
  /** Of the answers since the last look: how many there were, and the quickest. */
  readonly lookAnswers: number;
  readonly lookLeastMs: number;
  readonly largeAnswers: number;
}

export interface Answer {
  readonly tookMs: number;
  readonly isLarge: boolean;
  /** The limit was reached when it came. */
  readonly isFull: boolean;
  /** This thread had nothing else to do: more requests would not only wait for it. */
  readonly hasIdleTime: boolean;
}

export type SlowStartStep =
  | { readonly is: 'going'; readonly start: SlowStart; readonly more: number }
  /** There is a queue: enough are in flight. */
  | { readonly is: 'queue' }
  /** Requests are large: their throughput must tell. */
  | { readonly is: 'large' };

/** Each answer makes room for its successor and so many more: four times as many after each round trip. */
const MORE_PER_ANSWER = 3;
/** Eight times as many where the quickest answer took so long: a round trip costs more than a few requests too many. */
const FAR_MS = 20;
const MORE_PER_FAR_ANSWER = 7;
/**
 * Of a round trip's answers, and of so many at least (RFC 9406), the quickest must have queued: some are held up by connections that
 * are being made, which passes.
 */
const LOOK_ANSWERS_MIN = 8;
const QUEUED = 2;
/** Large ones after which it is the climb's turn. */
const LARGE_ANSWERS = 4;

export const SLOW_START: SlowStart = {
  leastMs: Number.POSITIVE_INFINITY,
  lookAnswers: 0,
  lookLeastMs: Number.POSITIVE_INFINITY,
  largeAnswers: 0,
};

/** @param limit What may be in flight now. */
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
