/**
 * Opens one file for reading and checks that it stays unchanged. Blocking calls: for worker threads and small
 * jobs.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { DrayError, type ErrorRecord, fromErrorRecord } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { describeWrongSize, hasUnstatedContent, WRONG_SIZE } from '../../base/wrong-size.ts';
import type { ReadStat } from './reader-types.ts';

export interface OpenFile {
  readonly descriptor: number;
  /** Taken before the first byte was read. */
  readonly stats: BigIntStats;
  /** Wall clock before the first byte was read. */
  readonly openedMs: number;
  /** `stat` says 0 bytes, and there is content: it is read until its end. */
  readonly isUnsized?: boolean;
}

/** A failure of this file only, to be reported as a result. */
export class FileFailure extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * O_NOFOLLOW refuses a link in the last place; O_NONBLOCK keeps a pipe in the file's place from blocking the
 * thread.
 */
const EXACT = { bigint: true } as const;
const OWNER_EXECUTES = 0o100n;
const INT64_MAX = 2n ** 63n - 1n;

const UNSIZED_PIECE_BYTES = 64 * 1024;

/** The step of the file system's own clock: 10 ms in the coarsest Linux kernels, doubled. */
const CLOCK_STEP_MS = 20;
/** FAT counts in steps of 2 s; others in 1 s. */
const WHOLE_SECONDS_STEP_MS = 2000;

/**
 * The caller closes `descriptor`. Throws `FileFailure` or the system's error.
 * @param mayBeUnsized The caller reads until the end, whatever size `stat` gives.
 */
export function openFile(path: string, { mayBeUnsized = false } = {}): OpenFile {
  const openedMs = systemClock.nowMs();
  const descriptor = openSync(path, OPEN_TO_READ);
  try {
    const stats = fstatSync(descriptor, EXACT);
    if (!stats.isFile()) throw new FileFailure('notAFile');
    const isUnsized = hasUnstatedContent(descriptor, stats.size);
    if (isUnsized && !mayBeUnsized) throw new FileFailure(WRONG_SIZE);
    return { descriptor, stats, openedMs, isUnsized };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Throws `FileFailure` when the file changed since it was opened, or has another size than `stat` says. */
export function checkUnchanged(file: OpenFile, readBytes: number): void {
  const after = fstatSync(file.descriptor, EXACT);
  checkSameState(file.stats, after);
  if (Number(after.size) !== readBytes && !file.isUnsized) throw new FileFailure(WRONG_SIZE);
}

/** Throws `FileFailure` when the file changed between the two. */
export function checkSameState(before: BigIntStats, after: BigIntStats): void {
  const isSame =
    before.mtimeNs === after.mtimeNs && before.ctimeNs === after.ctimeNs && before.size === after.size;
  if (!isSame) throw new FileFailure('changedWhileRead');
}

/**
 * Reads the whole file into the start of a buffer of its size. Throws as `checkUnchanged`. A buffer with a
 * byte more also shows content beyond that size, without another read.
 */
export function readWhole(file: OpenFile, into: Uint8Array): void {
  const sizeBytes = Number(file.stats.size);
  const room = into.subarray(0, sizeBytes + 1);
  let filled = 0;
  while (filled < sizeBytes) {
    const count = readSync(file.descriptor, room, filled, room.length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  checkUnchanged(file, filled);
}

/** Reads an unsized file until its end. Throws `FileFailure` when it is larger, or changes. */
export function readUnsized(file: OpenFile, bytesMax: number): Uint8Array {
  const pieces: Buffer[] = [];
  for (let filled = 0; ; ) {
    const piece = Buffer.allocUnsafe(UNSIZED_PIECE_BYTES);
    const count = readSync(file.descriptor, piece, 0, piece.length, filled);
    if (count === 0) break;
    pieces.push(piece.subarray(0, count));
    filled += count;
    if (filled > bytesMax) throw new FileFailure(WRONG_SIZE);
  }
  checkUnchanged(file, 0);
  return Buffer.concat(pieces);
}

export function readStatOf({ stats, openedMs }: OpenFile): ReadStat {
  const mtimeMs = toDouble(stats.mtimeMs, stats.mtimeNs);
  return {
    sizeBytes: Number(stats.size),
    mtimeMs,
    ctimeMs: toDouble(stats.ctimeMs, stats.ctimeNs),
    inode: Number(stats.ino),
    mtimeNs: stats.mtimeNs,
    executable: (stats.mode & OWNER_EXECUTES) !== 0n,
    isRacy: isRacy(mtimeMs, openedMs),
  };
}

/** Whether a change after `readMs` could keep an mtime of `mtimeMs`. True for mtimes in the future. */
export function isRacy(mtimeMs: number, readMs: number): boolean {
  return mtimeMs > readMs - (mtimeMs % 1000 === 0 ? WHOLE_SECONDS_STEP_MS : CLOCK_STEP_MS);
}

/** The nearest time that a dataset can store (1677 to 2262); file systems can have others. */
export function nearestTimeNs(mtimeNs: bigint): bigint {
  if (mtimeNs > INT64_MAX) return INT64_MAX;
  return mtimeNs < -INT64_MAX - 1n ? -INT64_MAX - 1n : mtimeNs;
}

/** Milliseconds exactly as in Node's `Stats`: whole seconds plus the rest, in doubles. */
function toDouble(wholeMs: bigint, ns: bigint): number {
  const milliseconds = Number(wholeMs);
  const seconds = Math.floor(milliseconds / 1000);
  const restNs = (milliseconds - seconds * 1000) * 1e6 + Number(ns - wholeMs * 1_000_000n);
  return seconds * 1000 + restNs / 1e6;
}

/** The error of the file at `path` (relative), for its `failed` result. */
export function describeFailure(path: string, cause: unknown): ErrorRecord {
  const errno = (cause as NodeJS.ErrnoException)?.code;
  const reason = cause instanceof FileFailure ? cause.reason : reasonOf(errno);
  const data = reason === 'failed' ? { path, reason, errno: errno ?? String(cause) } : { path, reason };
  return { code: 'io', message: messageOf(path, reason, errno ?? String(cause)), retry: 'no', data };
}

/** The error of a failed read. A `DrayError` is returned unchanged. */
export function readError(path: string, cause: unknown): DrayError {
  return cause instanceof DrayError ? cause : fromErrorRecord(describeFailure(path, cause));
}

export function attemptRead<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw readError(path, cause);
  }
}

function reasonOf(errno: string | undefined): string {
  switch (errno) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'vanished';
    case 'EACCES':
    case 'EPERM':
      return 'unreadable';
    case 'ELOOP':
    case 'EMLINK':
    case 'EISDIR':
    case 'ENXIO':
      return 'notAFile';
    default:
      return 'failed';
  }
}

function messageOf(path: string, reason: string, errno: string): string {
  switch (reason) {
    case 'vanished':
      return `${path} was deleted after the folder was scanned.`;
    case 'unreadable':
      return `${path} cannot be read by this user. Change its permissions or ignore it.`;
    case 'notAFile':
      return `${path} is no longer a regular file.`;
    case WRONG_SIZE:
      return describeWrongSize(path);
    case 'changedWhileRead':
      return `${path} changed while it was read. Run the command again when nothing writes to it.`;
    default:
      return `${path} could not be read (${errno}).`;
  }
}
