/**
 * Runs the commands of the adversary's tests, counts their outcomes, and looks for items that no attacker may
 * create.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { DrayError, exitCodeOf } from '../../engine/api/error.ts';
import type { JobEvent } from '../../engine/api/events.ts';
import { checkAborted } from '../../engine/base/abort.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import type { Canary } from './canary.ts';

/** The length limit of a message: a longer one shows more of the attacker's text than anybody reads. */
const MESSAGE_LENGTH_MAX = 4_010;

/** Counts how often each command ended in which way. */
export function createOutcomes() {
  const counts = new Map<string, number>();
  return {
    /** @throws Any error without a code of Dray's. */
    async run(name: string, command: () => Promise<unknown>): Promise<void> {
      const outcome = `${name}: ${await outcomeOf(command)}`;
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    },
    counts: () => [...counts].sort().map(([outcome, count]) => `${outcome} ${count}`),
    /**
     * Expects each command to have succeeded, because a run that only refuses proves nothing; in a slice,
     * some command.
     */
    expectDone(commands: object): void {
      const names = Object.keys(commands);
      const done = names.filter((name) => counts.has(`${name}: done`));
      if (runBudget({ short: false, long: true })) expect(done).toEqual(names);
      else expect(done).not.toEqual([]);
    },
  };
}

/** @returns `done`, or the code of the failure. */
async function outcomeOf(command: () => Promise<unknown>): Promise<string> {
  try {
    await command();
    return 'done';
  } catch (error) {
    if (!(error instanceof DrayError) || error.code === 'internal') throw error;
    expect(exitCodeOf(error.code), error.code).toBeGreaterThan(0);
    expect(error.message.length, error.message).toBeLessThan(MESSAGE_LENGTH_MAX);
    JSON.stringify(error.data);
    return error.code;
  }
}

/** An `emit` that throws when a file failed with an error without a code of Dray's. */
export function refuseUnforeseen(event: JobEvent): void {
  if (event.type !== 'fileFailed' || event.error.code !== 'internal') return;
  const { data, message } = event.error;
  throw new DrayError('internal', `${event.path}: ${message} ${JSON.stringify(data)}`);
}

export function printRun(what: string, { seesReads }: Canary, counts: readonly string[]): void {
  const blind = seesReads ? '' : ' (this file system does not record reads: only changes were checked)';
  console.log(`${what}${blind}; ${counts.join(', ')}`);
}

/** Makes retries wait no time, since these tests need their number and not their delays. */
export function skipPauses(): Disposable {
  return vi.spyOn(systemClock, 'sleep').mockImplementation(async (_pauseMs, signal) => {
    checkAborted(signal);
    await setImmediate();
  });
}

/**
 * Lists items that no attacker may create: with set-uid, set-gid or sticky bits, or with the name of Dray's
 * own folders.
 */
export function findForbidden(folder: string): string[] {
  return namesBelow(folder).filter((name) => {
    const isOurs = name.split('/').some((part) => part.toLowerCase() === '.dray');
    return isOurs || hasSpecialMode(join(folder, name));
  });
}

export function hasSpecialMode(path: string): boolean {
  const stats = lstatSync(path);
  return !stats.isSymbolicLink() && (stats.mode & 0o7000) !== 0;
}

/** Lists names without entering links; Node's own recursive listing enters them. */
export function namesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((item) => {
    const inner = item.isDirectory() ? namesBelow(join(folder, item.name)) : [];
    return [item.name, ...inner.map((name) => `${item.name}/${name}`)];
  });
}
