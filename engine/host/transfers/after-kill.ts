/**
 * What becomes of a transfer that ran when its host was killed. It goes on by itself. If hosts were killed
 * twice in a row within minutes while it ran, it may have killed them, so it waits for its user.
 */
import type { TransferFacts } from './transfer-record.ts';

const TWICE_WITHIN_MS = 10 * 60_000;

/** Call once, when the next host reads the queue. @returns True if the facts have changed. */
export function takeUpAfterKill(facts: TransferFacts, nowMs: number): boolean {
  if (facts.state !== 'running') return false;
  const before = facts.killedMs;
  facts.killedMs = nowMs;
  if (before !== undefined && Math.abs(nowMs - before) < TWICE_WITHIN_MS) {
    facts.state = 'paused';
    facts.notice = KILLED_TWICE;
  } else {
    facts.state = 'waiting';
    facts.notice = KILLED;
  }
  return true;
}

const KILLED = 'Dray ended while this transfer ran. It goes on by itself.';
const KILLED_TWICE =
  'Dray ended twice within minutes while this transfer ran, so it waits for you. Files that have arrived stay. Resume it to continue.';
