/**
 * Decides whether a transfer that ran when its host was killed resumes by itself. After two kills within
 * minutes, or three within a day, the transfer may be their cause, so it waits for the user.
 */
import type { TransferFacts } from './transfer-record.ts';

const TWICE_WITHIN_MS = 10 * 60_000;
/** Also catches a transfer that exhausts the memory slowly. */
const THRICE_WITHIN_MS = 24 * 60 * 60_000;

/** Called once, when the next host reads the queue. @returns True if the facts have changed. */
export function takeUpAfterKill(facts: TransferFacts, nowMs: number): boolean {
  if (facts.state !== 'running') return false;
  const { killedBeforeMs: first, killedMs: second } = facts;
  if (second !== undefined) facts.killedBeforeMs = second;
  facts.killedMs = nowMs;
  const isWithin = (killMs: number | undefined, spanMs: number) =>
    killMs !== undefined && Math.abs(nowMs - killMs) < spanMs;
  const isTwice = isWithin(second, TWICE_WITHIN_MS);
  if (isTwice || isWithin(first, THRICE_WITHIN_MS)) {
    facts.state = 'paused';
    facts.notice = killedAgain(isTwice ? 'twice within minutes' : 'three times within a day');
  } else {
    facts.state = 'waiting';
    facts.notice = KILLED;
  }
  return true;
}

const KILLED = 'Dray ended while this transfer ran. It resumes automatically.';

/** Resets the count of kills, because the user has resumed the transfer. */
export function forgetKills(facts: TransferFacts): void {
  delete facts.killedMs;
  delete facts.killedBeforeMs;
}

const killedAgain = (often: string) =>
  `Dray ended ${often} while this transfer ran, so it waits for you. Files that have arrived stay. Resume it to continue.`;
