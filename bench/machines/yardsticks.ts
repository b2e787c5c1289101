/** The system's programs by which runs are measured: installed where that can be done without asking anyone. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findOrInstall } from '../../e2e/apt-package.ts';
import { findGnuTime, GNU_TIME } from './measure.ts';

interface Yardstick {
  /** What is not measured without it. */
  readonly measures: string;
  /** What of it is not there. */
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

/** A line for each that is missing and could not be had: what is not measured, why, and how to get it. */
export async function findMissingYardsticks(
  yardsticks = YARDSTICKS,
  find: typeof findOrInstall = findOrInstall,
): Promise<readonly string[]> {
  const missing: string[] = [];
  // One at a time: apt-get locks its lists.
  for (const { aptPackage, isThere, lack, measures } of yardsticks) {
    const found = await find(aptPackage, async () => (await isThere()) || undefined);
    if (!found) missing.push(`${measures}: ${lack}; apt-get install ${aptPackage}`);
  }
  return missing;
}
