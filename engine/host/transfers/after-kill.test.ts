import { expect, it } from 'vitest';
import { takeUpAfterKill } from './after-kill.ts';
import type { TransferFacts } from './transfer-record.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Kills of a host at these times, with the same transfer running at each. @returns its states after them */
function statesAfter(...killsMs: readonly number[]): string[] {
  const facts = { state: 'running' } as TransferFacts;
  return killsMs.map((nowMs) => {
    facts.state = 'running';
    takeUpAfterKill(facts, nowMs);
    return facts.state;
  });
}

it('a transfer resumes after kills that are days apart', () => {
  expect(statesAfter(0, 30 * HOUR_MS, 60 * HOUR_MS)).toEqual(['waiting', 'waiting', 'waiting']);
});

it('a transfer that ran at two kills within minutes waits for the user', () => {
  expect(statesAfter(0, 9 * MINUTE_MS)).toEqual(['waiting', 'paused']);
});

it('a transfer that kills its host each time after a long run waits after the third kill of a day', () => {
  expect(statesAfter(0, 25 * MINUTE_MS, 50 * MINUTE_MS)).toEqual(['waiting', 'waiting', 'paused']);
});
