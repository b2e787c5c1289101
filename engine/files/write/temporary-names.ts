/**
 * Names of temporary files, and the removal of those that a killed run left behind. A name identifies its
 * maker: `dray-<host>-<pid>-<run>-<thread>.<number>`, so a sweep removes only Dray's files whose maker is
 * gone. Probes of a file system are folders of such a name, or files with `-probe-` and more after it.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { hostTag, isAlive } from '../../base/process-life.ts';

const NAME = /^dray-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}-\d+\.\d+(?:-probe-.*)?$/u;
/** Where the maker cannot be checked (another host, a reused process id), the age decides. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** A prefix that no other writer has, in this process or another; each thread appends its number. */
export function temporaryPrefix(folder: string): string {
  return `${folder}/dray-${hostTag()}-${process.pid}-${randomBytes(6).toString('hex')}-`;
}

/**
 * Removes the files of dead runs in the folder. Files that cannot be removed stay: the next sweep tries
 * again.
 */
export function sweepTemporaryFolder(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    const parts = NAME.exec(name);
    if (!parts) continue;
    try {
      if (isAbandoned(`${folder}/${name}`, { host: parts[1]!, pid: Number(parts[2]) }, nowMs)) {
        rmSync(`${folder}/${name}`, { recursive: true });
      }
    } catch {
      // Another Dray process removed it first, or it may not be removed.
    }
  }
}

function isAbandoned(file: string, maker: { host: string; pid: number }, nowMs: number): boolean {
  if (maker.host === hostTag() && !isAlive(maker.pid)) return true;
  // The change time: the modification time is that of the dataset. A large file's rises with every piece.
  return nowMs - lstatSync(file).ctimeMs > ABANDONED_AFTER_MS;
}
