/**
 * A worker outlives Temporal: while the server is away, at the start of the worker or later, it waits and
 * tries again, so it needs no supervisor to get over a restart of the server.
 */
import { type DrayError, messageWithoutAdvice } from '../../../engine/api/error.ts';
import { type Clock, systemClock } from '../../../engine/base/clock.ts';
import { fromTemporal } from '../temporal-errors.ts';
import type { TemporalOptions } from '../temporal-options.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface AnswerOptions {
  readonly temporal: TemporalOptions;
  readonly signal: AbortSignal;
  /** Called at the first failure in a row, the second, the fourth, and so on. */
  readonly onWait: (message: string) => void;
  readonly clock?: Pick<Clock, 'random' | 'sleep'>;
}

/**
 * @param serve Calls `onAnswer` when it has reached Temporal. Resolves when the worker was stopped.
 * @returns Also when the signal fires during a pause.
 * @throws What waiting does not mend, such as refused credentials
 */
export async function untilAnswered(
  serve: (onAnswer: () => void) => Promise<void>,
  { clock = systemClock, onWait, signal, temporal }: AnswerOptions,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      return await serve(() => {
        failures = 0;
      });
    } catch (cause) {
      const error = fromTemporal(cause, temporal);
      if (error.code !== 'unreachable') throw error;
      failures += 1;
      if (isPowerOfTwo(failures)) onWait(explain(error));
    }
    const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    await clock.sleep((longestMs * (1 + clock.random())) / 2, signal).catch(() => {});
  }
}

function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}

function explain(error: DrayError): string {
  return `${messageWithoutAdvice(error)} The worker waits, and tries again until it answers.`;
}
