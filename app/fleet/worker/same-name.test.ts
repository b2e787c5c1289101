import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isElsewhere, WORKER_IDENTITY } from './same-name.ts';

const NOW = 1_000_000;
/** Above the largest number of a process. */
const NO_PROCESS = 2 ** 30;

describe('the name of a worker', () => {
  it.each([
    ['is taken by one on another machine', 'other-machine:12', 60_000, true],
    ['is free once that one is silent', 'other-machine:12', 80_000, false],
    ['is taken by another process of this machine', `${hostname()}:${process.ppid}`, 1_000, true],
    ['is free when that process was killed', `${hostname()}:${NO_PROCESS}`, 1_000, false],
    ['is its own', WORKER_IDENTITY, 1_000, false],
  ])('%s', (_, identity, silentMs, expected) => {
    expect(isElsewhere({ identity, askedMs: NOW - silentMs }, NOW)).toBe(expected);
  });
});
