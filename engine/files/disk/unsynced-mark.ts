/**
 * A mark is a file `unsynced-<host>-<pid>-<run>` in the temporary folder of a run that writes into a tree. It
 * is on the disk before the run writes its first file, and the run removes it once all files are synced. So a
 * mark without a living run means: the power may have been cut, and files that the run wrote may have their
 * size and time but not their content.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import * as v from 'valibot';
import { hostTag, isAlive, lifeOf } from '../../base/process-life.ts';

export interface UnsyncedMark {
  readonly path: string;
  /** The run's own text: which command it is. */
  readonly note: string;
  /** The time of the mark by the file system's clock. No file of the run is older. */
  readonly madeMs: number;
}

const NAME = /^unsynced-([0-9a-f]{8})-(\d+)-([0-9a-f]{12})$/;
const NOTE_BYTES_MAX = 64 * 1024;
/** As long as unfinished downloads are kept. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** A file's time is the kernel's last tick, which may lie before the mark's. */
const TICK_MS = 20;

const CONTENT = v.object({
  note: v.string(),
  /** Distinguishes the process from others with the same id. */
  life: v.optional(v.object({ numbering: v.string(), startTicks: v.string() })),
});
type Content = v.InferOutput<typeof CONTENT>;

/** Runs of this process that are still writing. */
const runsHere = new Set<string>();

/**
 * Makes a mark. It is on the disk when this returns.
 * @returns A function that ends the run, and removes the mark if all files of the run are synced.
 */
export function markUnsynced(folder: string, note: string): (isSynced: boolean) => void {
  const run = randomBytes(6).toString('hex');
  const path = `${folder}/unsynced-${hostTag()}-${process.pid}-${run}`;
  runsHere.add(run);
  const file = openSync(path, 'wx', 0o600);
  try {
    const life = lifeOf(process.pid);
    writeFileSync(file, JSON.stringify({ note, ...(life ? { life } : {}) } satisfies Content));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(folder);
  return (isSynced) => {
    runsHere.delete(run);
    if (isSynced) rmSync(path, { force: true });
  };
}

/** The marks of runs that have ended without a sync. */
export function findUnsyncedMarks(folder: string): readonly UnsyncedMark[] {
  return namesIn(folder).flatMap((name): UnsyncedMark[] => {
    const parts = NAME.exec(name);
    const read = parts && readMark(`${folder}/${name}`);
    return !read || isWriting(parts, read) ? [] : [read.mark];
  });
}

/** For trees that are complete again, and for marks that have expired. */
export function removeUnsyncedMarks(marks: readonly UnsyncedMark[]): void {
  for (const { path } of marks) rmSync(path, { force: true });
}

export function sweepUnsyncedMarks(folder: string, nowMs: number): void {
  removeUnsyncedMarks(findUnsyncedMarks(folder).filter(({ madeMs }) => nowMs - madeMs > KEPT_MS));
}

/**
 * In doubt false. To take a living run for a dead one only costs a check of its files. To take a dead run for
 * a living one would hide damaged files.
 */
function isWriting([, host, number, run]: RegExpExecArray, { content, mark }: ReadMark): boolean {
  if (host !== hostTag()) return false;
  const pid = Number(number);
  if (pid === process.pid) return runsHere.has(run!);
  if (!isAlive(pid)) return false;
  // Another process may have this number by now, for instance after a reboot.
  const life = lifeOf(pid);
  if (life && content.life)
    return life.numbering === content.life.numbering && life.startTicks === content.life.startTicks;
  return mark.madeMs > Date.now() - uptime() * 1000;
}

interface ReadMark {
  readonly mark: UnsyncedMark;
  readonly content: Content;
}

function readMark(path: string): ReadMark | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size > NOTE_BYTES_MAX) return undefined;
      const content = contentOf(readFileSync(file, 'utf8'));
      return { content, mark: { path, note: content.note, madeMs: stat.mtimeMs - TICK_MS } };
    } finally {
      closeSync(file);
    }
  } catch {
    // Another run removed it.
    return undefined;
  }
}

/** A mark with damaged content is still a mark. */
function contentOf(text: string): Content {
  try {
    return v.parse(CONTENT, JSON.parse(text));
  } catch {
    return { note: '' };
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Syncs the names in the folder. Windows does that by itself. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // Some network file systems cannot sync folders.
  } finally {
    closeSync(fd);
  }
}
