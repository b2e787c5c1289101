/**
 * Loaded before a command (`--import`): ends the process by SIGKILL right before its n-th change to the file
 * system, n in DRAY_TEST_KILL_AT. With n = 0 it kills nothing and writes the number of changes to the file in
 * DRAY_TEST_STEPS.
 *
 * A step is a call on the main thread that creates, changes, renames or removes something. Writes of SQLite
 * and of worker threads are not counted.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const CHANGES = [
  'mkdir',
  'rmdir',
  'rm',
  'unlink',
  'rename',
  'link',
  'symlink',
  'copyFile',
  'truncate',
  'ftruncate',
];
const WRITES = [
  'write',
  'writev',
  'writeFile',
  'appendFile',
  'fsync',
  'chmod',
  'fchmod',
  'utimes',
  'futimes',
  'lutimes',
];

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

const killAt = Number(process.env.DRAY_TEST_KILL_AT ?? '0');
const stepsFile = process.env.DRAY_TEST_STEPS;
const writeAtEnd = fs.writeFileSync;
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
}

function wrap(
  holder: Record<string, unknown>,
  name: string,
  isStep: (values: readonly unknown[]) => boolean,
): void {
  const original = holder[name];
  if (typeof original !== 'function') return;
  const stepping: AnyFunction = function (this: unknown, ...values) {
    if (isStep(values)) step();
    return Reflect.apply(original, this, values);
  };
  holder[name] = Object.defineProperties(stepping, Object.getOwnPropertyDescriptors(original));
}

/** True when the call may create a file: text flags except 'r', or a number with O_CREAT. */
function creates([, flags]: readonly unknown[]): boolean {
  return typeof flags === 'number'
    ? (flags & fs.constants.O_CREAT) !== 0
    : flags !== undefined && flags !== 'r';
}

if (isMainThread) {
  const holders = [fs, fs.promises] as unknown as Record<string, unknown>[];
  for (const holder of holders)
    for (const ending of ['', 'Sync']) {
      for (const name of [...CHANGES, ...WRITES]) wrap(holder, name + ending, () => true);
      wrap(holder, `open${ending}`, creates);
    }
  syncBuiltinESMExports();
  process.on('exit', () => {
    if (stepsFile !== undefined && killAt === 0) writeAtEnd(stepsFile, `${steps}`);
  });
}
