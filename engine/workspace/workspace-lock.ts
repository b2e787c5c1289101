/**
 * One writer at a time in a workspace: a lock file that says who holds it, so that a waiter can say so too.
 *
 * Who is gone: a process of this container (or outside of all) whose number nobody has, or another one has now; one of an earlier start
 * of this system. A process of another container, or another machine, under this one's name cannot be asked for: it is gone when its
 * lock, which a holder touches all the time, was not touched for three minutes. One of a machine of another name is never taken for gone.
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
  writeSync,
} from 'node:fs';
import { hostname, uptime } from 'node:os';
import { dirname } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { bootId, lifeOf, type ProcessLife } from '../base/process-life.ts';
import { writeError } from '../files/write/write-error.ts';

export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  /** RFC 3339. */
  readonly since: string;
  /** Tells the process from others that had or will have its number; absent where the system does not say it. */
  readonly life?: ProcessLife;
}

export interface WorkspaceLock {
  /** Idempotent. */
  release(): void;
}

export interface LockOptions {
  readonly path: string;
  /** For people: what it is that is locked. Default: `The workspace`. */
  readonly what?: string;
  readonly command: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for another holder before giving up. */
  readonly patienceMs: number;
  /** Told once, when the wait begins. */
  readonly onWait: (holder: LockHolder | undefined) => void;
}

const POLL_MS = 100;
const FRAGMENT_AGE_MS = 5_000;
const TOUCHED_EVERY_MS = 2_000;
/** A new lock is young by itself: most commands end before they touch it. */
const TOUCHED_FROM_MS = 60_000;
/** A holder may hang on a slow disk or a server for long. */
const SILENT_AGE_MS = 3 * 60_000;
/** And so long while a waiter looks on: a machine that slept, or whose clock was set, has old locks with live holders. */
const SILENT_SEEN_MS = 6_000;
/** How far apart the clock's steps may make two times that are really in order. */
const CLOCK_SLACK_MS = 1_000;

let ownGoneBeforeMs = Number.NEGATIVE_INFINITY;

/** A thread of this process that took locks has crashed: those that it took before this time are nobody's. */
export function forgetOwnLocks({ beforeMs }: { readonly beforeMs: number }): void {
  ownGoneBeforeMs = beforeMs;
}

/** @throws `locked`, naming the holder, when the wait was in vain. A lock whose process is gone is taken over. */
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
      // No patience is too short to see whether anybody touches it.
      if (isElsewhere(holder) && ageOf(path, clock) > SILENT_AGE_MS)
        deadlineMs = Math.max(deadlineMs, clock.monotonicMs() + SILENT_SEEN_MS + POLL_MS);
      options.onWait(holder);
    }
    if (clock.monotonicMs() >= deadlineMs) {
      const who = describeHolder(holder);
      throw new DrayError(
        'locked',
        `${options.what ?? 'The workspace'} is in use by ${who}. Wait for it to end; if it is gone, delete ${path}.`,
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
  /** Who waits may have to look whether it is touched. */
  readonly isWatched: boolean;
}

/** @returns undefined while there is another. */
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
  /** Whoever was stopped for long (SIGSTOP, a disk that hung) may have been taken for gone. */
  const isOwn = () => Math.abs(clock.nowMs() - touchedMs) < SILENT_AGE_MS || readText(path) === text;
  const touchOwn = () => {
    if (clock.nowMs() - madeMs < TOUCHED_FROM_MS || !isOwn()) return;
    touch(path);
    touchedMs = clock.nowMs();
  };
  const touching = isWatched ? setInterval(touchOwn, TOUCHED_EVERY_MS).unref() : undefined;
  return {
    release: once(() => {
      clearInterval(touching);
      if (isOwn()) rmSync(path, { force: true });
    }),
  };
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Deleted by hand, or the folder cannot be reached just now.
  }
}

/** Whether the lock has not been touched for long. To be asked again and again: it looks on for a while before it says so. */
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
    // Just released, or just being written: the next round sees it.
    return undefined;
  }
}

/** Only of a process of this machine can it be known that it is gone. */
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
    // In a container every run may have the same number. Which of them it was, the time tells, where nothing better does.
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

/** In another container, or on another machine, under this one's name. */
function isElsewhere(holder: LockHolder | undefined): holder is LockHolder & { readonly life: ProcessLife } {
  if (holder?.life === undefined || holder.host !== hostname()) return false;
  const own = lifeOf(process.pid);
  return own !== undefined && own.numbering !== holder.life.numbering;
}

function bootOf({ numbering }: ProcessLife): string {
  return numbering.split(' ', 1)[0]!;
}

/** A holder under this name that lives somewhere else has touched it since. */
function isOlderThanBoot(path: string, clock: Clock): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs < clock.nowMs() - uptime() * 1000 - CLOCK_SLACK_MS;
}

/** A lock is filled at once after it is made; one that stays without a holder was left by a crash. */
function isStaleFragment(path: string, clock: Clock): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && clock.nowMs() - stat.mtimeMs > FRAGMENT_AGE_MS;
}

/** Of several who find the same lock abandoned one renames it; a lock that was new meanwhile is put back. */
function removeAbandoned(path: string, seen: LockHolder | undefined): void {
  // Mostly told already here; between this look and the rename there is no time to speak of.
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
    if (taken && JSON.stringify(taken) !== JSON.stringify(seen)) linkSync(aside, path);
  } finally {
    rmSync(aside, { force: true });
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
