/**
 * Allows one writer at a time in a workspace: a lock file names its holder, so that a waiter can name it too.
 *
 * A lock is abandoned when its holder is a process of this container (or of the host) whose id is unused or
 * was reused, or a process of an earlier boot. A process of another container or machine with the same host
 * name cannot be checked, nor can a thread of this process: its lock is abandoned when the holder, which
 * touches it regularly, has not done so for three minutes. A lock of a machine with another host name is
 * never taken over.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname, uptime } from 'node:os';
import { dirname } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { lacksHardLinks } from '../base/hard-links.ts';
import { bootId, lifeOf, type ProcessLife } from '../base/process-life.ts';
import { writeError } from '../files/write/write-error.ts';

export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  /** RFC 3339. */
  readonly since: string;
  /**
   * Distinguishes the process from earlier and later ones with its id; absent where the system does not
   * provide it.
   */
  readonly life?: ProcessLife;
}

/** Released by its end, by `using`, or before. */
export interface WorkspaceLock extends Disposable {
  /** Idempotent. */
  release(): void;
}

export interface LockOptions {
  readonly path: string;
  /** For messages: what is locked. Default: `The workspace`. */
  readonly what?: string;
  readonly command: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for another holder before giving up. */
  readonly patienceMs: number;
  /** Called once, when the wait begins. */
  readonly onWait: (holder: LockHolder | undefined) => void;
}

const POLL_MS = 100;
const FRAGMENT_AGE_MS = 5_000;
const TOUCHED_EVERY_MS = 2_000;
/** A new lock needs no touch: most commands end before this. */
const TOUCHED_FROM_MS = 60_000;
/** A holder may hang for long on a slow disk or a server. */
const SILENT_AGE_MS = 3 * 60_000;
/**
 * The lock must also stay untouched this long while a waiter watches: after sleep or a clock change, live
 * holders have old locks.
 */
const SILENT_SEEN_MS = 6_000;
/** How far clock steps can reverse two times that are really in order. */
const CLOCK_SLACK_MS = 1_000;

let ownGoneBeforeMs = Number.NEGATIVE_INFINITY;

/**
 * After a thread of this process that held locks has crashed: its locks from before this time are abandoned.
 */
export function forgetOwnLocks({ beforeMs }: { readonly beforeMs: number }): void {
  ownGoneBeforeMs = beforeMs;
}

/** Takes over a lock whose process is gone. @throws `locked`, naming the holder, when the wait times out. */
export async function lockWorkspace(options: LockOptions): Promise<WorkspaceLock> {
  const { path, clock, signal } = options;
  let deadlineMs = clock.monotonicMs() + options.patienceMs;
  const isSilent = silenceOf(path, clock);
  for (let isFirst = true; ; isFirst = false) {
    const written = tryLock(options);
    if (written !== undefined) return held(path, written, clock);
    const holder = readHolder(path);
    if (isAbandoned(path, holder, clock, isSilent)) {
      removeAbandoned(path, holder);
      continue;
    }
    if (isFirst) {
      // However short the patience, the wait must be long enough to see whether the holder touches the lock.
      if (isElsewhere(holder) && ageOf(path, clock) > SILENT_AGE_MS)
        deadlineMs = Math.max(deadlineMs, clock.monotonicMs() + SILENT_SEEN_MS + POLL_MS);
      options.onWait(holder);
    }
    if (clock.monotonicMs() >= deadlineMs) {
      const who = describeHolder(holder);
      throw new DrayError(
        'locked',
        `${options.what ?? 'The workspace'} is in use by ${who}. Wait for it to end; ` +
          `if it is gone, delete ${path}.`,
        {
          data: { path, holder },
        },
      );
    }
    await clock.sleep(POLL_MS, signal);
  }
}

export function describeHolder(holder: LockHolder | undefined): string {
  if (!holder) return 'another dray';
  return `"dray ${holder.command}" (process ${holder.pid} on ${holder.host}, since ${holder.since})`;
}

interface Written {
  readonly text: string;
  /** A waiter may need to see that the lock is touched. */
  readonly isWatched: boolean;
}

/** @returns undefined while another process holds it. */
function tryLock(options: LockOptions): Written | undefined {
  const life = lifeOf(process.pid);
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    command: options.command,
    since: new Date(options.clock.nowMs()).toISOString(),
    ...(life === undefined ? {} : { life }),
  };
  mkdirSync(dirname(options.path), { recursive: true });
  let file: number;
  try {
    file = openSync(options.path, 'wx', 0o644);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return undefined;
    throw writeError(cause, options.path);
  }
  const text = JSON.stringify(holder);
  try {
    writeSync(file, text);
  } catch (cause) {
    rmSync(options.path, { force: true });
    throw writeError(cause, options.path);
  } finally {
    closeSync(file);
  }
  return { text, isWatched: life !== undefined };
}

function held(path: string, { isWatched, text }: Written, clock: Clock): WorkspaceLock {
  const madeMs = clock.nowMs();
  let touchedMs = madeMs;
  /** A holder that was stopped for long (SIGSTOP, a hanging disk) may have lost its lock. */
  const isOwn = () => Math.abs(clock.nowMs() - touchedMs) < SILENT_AGE_MS || readText(path) === text;
  const touchOwn = () => {
    if (clock.nowMs() - madeMs < TOUCHED_FROM_MS || !isOwn()) return;
    touch(path);
    touchedMs = clock.nowMs();
  };
  const touching = isWatched ? setInterval(touchOwn, TOUCHED_EVERY_MS).unref() : undefined;
  const release = once(() => {
    clearInterval(touching);
    if (isOwn()) rmSync(path, { force: true });
  });
  return { release, [Symbol.dispose]: release };
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Deleted by hand, or the folder is unreachable at the moment.
  }
}

/**
 * Whether the lock was not touched for long. Call it repeatedly: it watches for a while before it returns
 * true.
 */
function silenceOf(path: string, clock: Clock): () => boolean {
  let touchedMs: number | undefined;
  let sinceMs = 0;
  return () => {
    const mtimeMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const nowMs = clock.monotonicMs();
    if (mtimeMs !== touchedMs) [touchedMs, sinceMs] = [mtimeMs, nowMs];
    if (mtimeMs === undefined) return false;
    return clock.nowMs() - mtimeMs > SILENT_AGE_MS && nowMs - sinceMs >= SILENT_SEEN_MS;
  };
}

function ageOf(path: string, clock: Clock): number {
  const mtimeMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return mtimeMs === undefined ? 0 : clock.nowMs() - mtimeMs;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readHolder(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  } catch {
    // Just released or being written: the next round reads it.
    return undefined;
  }
}

/** Only a process of this machine can be known to be gone. */
function isAbandoned(
  path: string,
  holder: LockHolder | undefined,
  clock: Clock,
  isSilent: () => boolean,
): boolean {
  if (!holder) return isStaleFragment(path, clock);
  if (holder.host !== hostname() || typeof holder.pid !== 'number') return false;
  if (isElsewhere(holder)) {
    const isOfEarlierStart = bootOf(holder.life) !== bootId() && isOlderThanBoot(path, clock);
    return isOfEarlierStart || isSilent();
  }
  const life = lifeOf(holder.pid);
  const isComparable = life !== undefined && life.numbering === holder.life?.numbering;
  if (isComparable && life.startTicks !== holder.life?.startTicks) return true;
  if (holder.pid === process.pid) {
    // A thread of this process that was terminated released nothing, and touches nothing.
    if (isComparable && isSilent()) return true;
    // In a container every run may have the same process id. Without better evidence the start time decides.
    const startedMs = isComparable ? 0 : clock.nowMs() - process.uptime() * 1000 - CLOCK_SLACK_MS;
    return Date.parse(holder.since) < Math.max(startedMs, ownGoneBeforeMs);
  }
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Whether the holder runs in another container, or on another machine with the same host name. */
function isElsewhere(holder: LockHolder | undefined): holder is LockHolder & { readonly life: ProcessLife } {
  if (holder?.life === undefined || holder.host !== hostname()) return false;
  const own = lifeOf(process.pid);
  return own !== undefined && own.numbering !== holder.life.numbering;
}

function bootOf({ numbering }: ProcessLife): string {
  return numbering.split(' ', 1)[0]!;
}

/** Whether the lock was last touched before this system started. */
function isOlderThanBoot(path: string, clock: Clock): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs < clock.nowMs() - uptime() * 1000 - CLOCK_SLACK_MS;
}

/** A lock is filled right after its creation; one that stays empty was left by a crash. */
function isStaleFragment(path: string, clock: Clock): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && clock.nowMs() - stat.mtimeMs > FRAGMENT_AGE_MS;
}

/**
 * If several processes find the same lock abandoned, one renames it. If the lock was replaced meanwhile, it
 * is put back.
 */
function removeAbandoned(path: string, seen: LockHolder | undefined): void {
  // Usually shows a replaced lock here already; almost no time passes between this check and the rename.
  if (JSON.stringify(readHolder(path)) !== JSON.stringify(seen)) return;
  const aside = `${path}.${process.pid}-${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw writeError(cause, path);
  }
  try {
    const taken = readHolder(aside);
    if (taken && JSON.stringify(taken) !== JSON.stringify(seen)) putBack(aside, path);
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Gives a lock its name back, unless somebody has taken the lock meanwhile. */
function putBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (!lacksHardLinks(code)) throw writeError(cause, path);
    try {
      writeFileSync(path, readFileSync(aside), { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw writeError(error, path);
    }
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
