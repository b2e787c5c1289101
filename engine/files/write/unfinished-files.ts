/**
 * Unfinished large files, kept for a later run to resume.
 *
 * `unfinished-<host>-<pid>-<run>-<content>.part`, with the writer's notes beside it (`.notes`). The name
 * identifies the owner, so that nobody resumes a file that is still being written. A rename takes ownership,
 * and only one process can succeed in it.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { hostTag, isAlive } from '../../base/process-life.ts';

const NAME = /^unfinished-([0-9a-f]{8})-(\d+)-([0-9a-f]{12})-([0-9a-f]{32})\.(part|notes)$/;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Where the maker cannot be checked, the age decides. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/** Runs of this process whose writers are not closed yet. */
const runsHere = new Set<string>();

export interface UnfinishedFile {
  readonly temporary: string;
  readonly notesPath: string;
  /** Open for reading and writing; undefined when no earlier run left one. */
  readonly fd: number | undefined;
}

export interface UnfinishedFiles {
  /** Takes over what an ended run left of this content, if it has this size. */
  claim(content: string, sizeBytes: number): UnfinishedFile;
  /** Lets later runs take over what is left. Idempotent. */
  end(): void;
}

export function openUnfinishedFiles(folder: string, nowMs: () => number): UnfinishedFiles {
  const runs: string[] = [];
  return {
    claim(content, sizeBytes) {
      const run = randomBytes(6).toString('hex');
      runs.push(run);
      runsHere.add(run);
      const id = createHash('sha256').update(content).digest('hex').slice(0, 32);
      const base = `${folder}/unfinished-${hostTag()}-${process.pid}-${run}-${id}`;
      const mine = { temporary: `${base}.part`, notesPath: `${base}.notes` };
      for (const name of readdirSync(folder)) {
        const parts = NAME.exec(name);
        if (!parts || parts[4] !== id || parts[5] !== 'part' || !isLeft(folder, parts, nowMs())) continue;
        const fd = takeOver(`${folder}/${name.slice(0, -'.part'.length)}`, base, sizeBytes);
        if (fd !== undefined) return { ...mine, fd };
      }
      return { ...mine, fd: undefined };
    },
    end() {
      for (const run of runs) runsHere.delete(run);
    },
  };
}

/** Removes files that nobody resumed within a week. */
export function sweepUnfinishedFiles(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    const parts = NAME.exec(name);
    if (!parts) continue;
    try {
      const isOld = nowMs - lstatSync(`${folder}/${name}`).ctimeMs > WEEK_MS;
      if (isOld && isLeft(folder, parts, nowMs)) unlinkSync(`${folder}/${name}`);
    } catch {
      // Another Dray process was faster, or it may not be removed.
    }
  }
}

function isLeft(folder: string, [name, host, pid, run]: RegExpExecArray, nowMs: number): boolean {
  if (host === hostTag() && Number(pid) === process.pid) return !runsHere.has(run!);
  if (host === hostTag() && !isAlive(Number(pid))) return true;
  const stat = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
  return stat !== undefined && nowMs - stat.ctimeMs > ABANDONED_AFTER_MS;
}

/** Undefined when another run was faster, or when it is not a file of this size: then it is removed. */
function takeOver(from: string, to: string, sizeBytes: number): number | undefined {
  try {
    renameSync(`${from}.part`, `${to}.part`);
  } catch {
    return undefined;
  }
  try {
    renameSync(`${from}.notes`, `${to}.notes`);
    const fd = openSync(`${to}.part`, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
    const stat = fstatSync(fd);
    if (stat.isFile() && stat.size === sizeBytes) return fd;
    closeSync(fd);
  } catch {
    // Without notes it is useless.
  }
  for (const path of [`${to}.part`, `${to}.notes`]) unlinkIfThere(path);
  return undefined;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It does not exist.
  }
}
