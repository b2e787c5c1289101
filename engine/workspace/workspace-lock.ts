/** One writer at a time in a workspace: a lock file that says who holds it, so that a waiter can say so too. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';

export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  /** RFC 3339. */
  readonly since: string;
}

export interface WorkspaceLock {
  /** Idempotent. */
  release(): void;
}

export interface LockOptions {
  readonly path: string;
  readonly command: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for another holder before giving up. */
  readonly patienceMs: number;
  /** Told once, when the wait begins. */
  readonly onWait: (holder: LockHolder | undefined) => void;
}

const POLL_MS = 100;

/** @throws `locked`, naming the holder, when the wait was in vain. A lock whose process is gone is taken over. */
export async function lockWorkspace(options: LockOptions): Promise<WorkspaceLock> {
  const { path, clock, signal } = options;
  const deadlineMs = clock.monotonicMs() + options.patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    if (tryLock(options)) return { release: once(() => rmSync(path, { force: true })) };
    const holder = readHolder(path);
    if (holder && isGone(holder)) {
      rmSync(path, { force: true });
      continue;
    }
    if (isFirst) options.onWait(holder);
    if (clock.monotonicMs() >= deadlineMs) {
      const who = describeHolder(holder);
      throw new DrayError(
        'locked',
        `The workspace is in use by ${who}. Wait for it to end; if it is gone, delete ${path}.`,
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

function tryLock(options: LockOptions): boolean {
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    command: options.command,
    since: new Date(options.clock.nowMs()).toISOString(),
  };
  mkdirSync(dirname(options.path), { recursive: true });
  let file: number;
  try {
    file = openSync(options.path, 'wx', 0o644);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return false;
    throw new DrayError('io', `Cannot write ${options.path}: ${(cause as Error).message}.`, { cause });
  }
  try {
    writeSync(file, JSON.stringify(holder));
  } finally {
    closeSync(file);
  }
  return true;
}

function readHolder(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  } catch {
    // Just released, or just being written: the next round sees it.
    return undefined;
  }
}

/** Only a process of this machine can be known to be gone. */
function isGone(holder: LockHolder): boolean {
  if (holder.host !== hostname() || typeof holder.pid !== 'number') return false;
  if (holder.pid === process.pid) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
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
