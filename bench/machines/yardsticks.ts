/** The system's programs that measure runs, installed where that works without asking anyone. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findOrInstall } from '../../e2e/servers/apt-package.ts';
import { findGnuTime, GNU_TIME } from './measure.ts';

interface Yardstick {
  /** The measurements that need it. */
  readonly measures: string;
  /** The missing part. */
  readonly lack: string;
  readonly aptPackage: string;
  isThere(): Promise<boolean>;
}

const YARDSTICKS: readonly Yardstick[] = [
  {
    measures: 'CPU and memory',
    lack: `GNU time is not at ${GNU_TIME}`,
    aptPackage: 'time',
    isThere: findGnuTime,
  },
  {
    measures: 'bytes sent and received',
    lack: 'ss is not on the PATH',
    aptPackage: 'iproute2',
    isThere: () =>
      promisify(execFile)('ss', ['--version']).then(
        () => true,
        () => false,
      ),
  },
];

/**
 * Returns a line for each missing program that could not be installed: what is not measured, why, and how to
 * get it.
 */
export async function findMissingYardsticks(
  yardsticks = YARDSTICKS,
  find: typeof findOrInstall = findOrInstall,
): Promise<readonly string[]> {
  const missing: string[] = [];
  // In turn, because apt-get locks its lists.
  for (const { aptPackage, isThere, lack, measures } of yardsticks) {
    const found = await find(aptPackage, async () => (await isThere()) || undefined);
    if (!found) missing.push(`${measures}: ${lack}; apt-get install ${aptPackage}`);
  }
  return missing;
}
