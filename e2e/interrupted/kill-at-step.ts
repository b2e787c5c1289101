/**
 * Loaded before a command (`--import`): ends the process by SIGKILL right before one of its changes to the
 * file system. Which one is in DRAY_TEST_KILL_AT: a number, from 1, or a regular expression for the text of
 * the step. With 0 it kills nothing. It adds the text of each step to the file in DRAY_TEST_STEPS.
 *
 * A step is a call on the main thread that creates, changes, renames or removes something. Its text is the
 * name of the call and its paths: `rename work/.dray/tmp/1-a work/a`. Writes of SQLite and of worker threads
 * are not counted. How many steps a command takes may differ from one run to the next.
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

const killAt = process.env.DRAY_TEST_KILL_AT ?? '0';
const killAtNumber = Number(killAt);
const killBefore = Number.isNaN(killAtNumber) ? new RegExp(killAt) : undefined;
const { DRAY_TEST_STEPS } = process.env;
const stepsFile =
  DRAY_TEST_STEPS === undefined || !isMainThread ? undefined : fs.openSync(DRAY_TEST_STEPS, 'a');
const writeNow = fs.writeSync;
let steps = 0;

function step(name: string, values: readonly unknown[]): void {
  steps += 1;
  const paths = values.filter((value) => typeof value === 'string' || value instanceof URL).slice(0, 2);
  const text = [name.replace(/Sync$/, ''), ...paths].join(' ').replaceAll('\\', '/').split('\n', 1)[0]!;
  if (stepsFile !== undefined) writeNow(stepsFile, `${text.slice(0, 500)}\n`);
  if (steps === killAtNumber || killBefore?.test(text)) process.kill(process.pid, 'SIGKILL');
}

function wrap(
  holder: Record<string, unknown>,
  name: string,
  isStep: (values: readonly unknown[]) => boolean,
): void {
  const original = holder[name];
  if (typeof original !== 'function') return;
  const stepping: AnyFunction = function (this: unknown, ...values) {
    if (isStep(values)) step(name, values);
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
}
