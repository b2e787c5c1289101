/**
 * Allows one writer at a time for a key, among processes and machines. The lock is a file made with O_EXCL
 * that names its maker.
 *
 * It is held for a compare and a rename, so for milliseconds. A lock that outlives its maker is taken over:
 * - made on this machine (and in this process id namespace) by a process that is gone: at once;
 * - otherwise when it stays unchanged for 30 s by the waiting writer's own clock, so the clocks of machines
 *   need not agree.
 *
 * A second file guards the breaking of a lock. Otherwise of two waiters the later one could break a fresh
 * lock. A holder asks `stillHeld` right before its rename, so one that was suspended past its time does
 * nothing.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import { absoluteIn, type HeldFolder } from '../../base/held-folders.ts';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { isAlive } from '../../base/process-life.ts';
import type { RemoteKey } from '../object-store.ts';
import { systemCode } from './file-errors.ts';
import { areaPath, type FileRoot } from './file-root.ts';

/** How long a lock of unknown state may stay unchanged, and how long a writer waits in total. */
const STALE_AFTER_MS = 30_000;
const WAIT_MAX_MS = 120_000;
const POLL_MS = 10;
const GUARD_END = '.break';
/** How often others may remove the empty folder of locks before our lock is in it. */
const TIDIED_MAX = 3;

export interface HeldLock {
  /** Throws `remoteFailed` (retryable) if another writer took the lock over. */
  stillHeld(): Promise<void>;
}

interface LockOptions {
  readonly root: FileRoot;
  readonly key: RemoteKey;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writers of this thread queue here, so they do not poll the file against each other. Bounded by the calls in
 * flight.
 */
const queues = new Map<string, Promise<void>>();

export async function withKeyLock<T>(options: LockOptions, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const name = createHash('sha256').update(options.key).digest('hex').slice(0, 32);
  const queue = `${options.root.path}\0${name}`;
  const before = queues.get(queue);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  queues.set(queue, released);
  await before;
  try {
    return await holding(name, options, work);
  } finally {
    if (queues.get(queue) === released) queues.delete(queue);
    release();
  }
}

async function holding<T>(
  name: string,
  options: LockOptions,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const mine = JSON.stringify({ process: process.pid, host: hostIdentity(), id: randomUUID() });
  const taken = await take(name, mine, options);
  const { path } = taken;
  try {
    return await work({
      async stillHeld() {
        if ((await readLock(path)) === mine) return;
        throw new DrayError('remoteFailed', `Another writer of ${options.key} took over the lock.`, {
          retry: 'retry',
        });
      },
    });
  } finally {
    if ((await readLock(path)) === mine) await unlink(path).catch(() => {});
    taken.release();
  }
}

/** The path leads to the lock while the folder of locks is held. */
interface LockPath {
  readonly path: string;
  release(): void;
}

async function take(name: string, mine: string, options: LockOptions): Promise<LockPath> {
  const patience = patienceOf(name, mine, options);
  for (let tidied = 0; ; ) {
    const folder = await options.root.area('locks');
    const path = folder.at(name);
    let isTaken = false;
    try {
      if (options.root.found.delete('locks')) await breakDeadLocks(folder, mine);
      await writeFile(path, mine, { flag: 'wx' });
      isTaken = true;
      return { path, release: () => folder.release() };
    } catch (error) {
      const code = systemCode(error);
      // ENOENT: another process removed the empty folder.
      if (code === 'ENOENT' && tidied < TIDIED_MAX) tidied += 1;
      else if (code === 'EEXIST') await patience(path);
      else throw error;
    } finally {
      if (!isTaken) folder.release();
    }
  }
}

/** Call whenever another writer has the lock: waits for a moment, or breaks the lock of a dead one. */
function patienceOf(name: string, mine: string, { clock, key, root, signal }: LockOptions) {
  const startMs = clock.monotonicMs();
  let seen: string | undefined;
  let seenSinceMs = startMs;
  return async (path: string): Promise<void> => {
    const theirs = await readLock(path);
    const nowMs = clock.monotonicMs();
    if (theirs !== seen) [seen, seenSinceMs] = [theirs, nowMs];
    if (theirs !== undefined && (isDead(theirs) || nowMs - seenSinceMs > STALE_AFTER_MS)) {
      await breakLock(path, theirs, mine);
      return;
    }
    if (nowMs - startMs > WAIT_MAX_MS) {
      const shown = absoluteIn(root.path, areaPath('locks', name));
      throw new DrayError('remoteFailed', `Another writer holds the lock ${shown}.`, {
        retry: 'backoff',
        data: { path: shown, key },
      });
    }
    await clock.sleep(POLL_MS * (0.5 + clock.random()), signal);
  };
}

/** Removes locks of killed processes, also on keys that are not used again. Best effort. */
async function breakDeadLocks(folder: HeldFolder, mine: string): Promise<void> {
  for (const name of await readdir(folder.at('')).catch(() => [])) {
    const path = folder.at(name);
    const theirs = await readLock(path).catch(() => undefined);
    if (theirs === undefined || !isDead(theirs)) continue;
    if (name.endsWith(GUARD_END)) await unlink(path).catch(() => {});
    else await breakLock(path, theirs, mine).catch(() => {});
  }
}

/** Removes `path` if it still says `stale`. Only the maker of the guard file may, one at a time. */
async function breakLock(path: string, stale: string, mine: string): Promise<void> {
  const guard = `${path}${GUARD_END}`;
  try {
    await writeFile(guard, mine, { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    const theirs = await readLock(guard);
    // The breaker died within these few calls. Rare enough to accept the small race of removing it.
    if (theirs !== undefined && isDead(theirs)) await unlink(guard).catch(() => {});
    return;
  }
  try {
    if ((await readLock(path)) === stale) await unlink(path);
  } finally {
    await unlink(guard).catch(() => {});
  }
}

async function readLock(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, { encoding: 'utf8', flag: OPEN_TO_READ });
  } catch (error) {
    // A network disk says ESTALE of a file that was removed after it was opened.
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESTALE') return undefined;
    throw error;
  }
}

/**
 * True only if its maker certainly no longer runs. Text that does not parse was cut off by a crash, or is
 * being written.
 */
function isDead(record: string): boolean {
  let maker: { readonly process?: unknown; readonly host?: unknown };
  try {
    maker = JSON.parse(record);
  } catch {
    return false;
  }
  if (maker.host !== hostIdentity() || typeof maker.process !== 'number') return false;
  return !isAlive(maker.process);
}

let identity: string | undefined;

/**
 * Containers may share a host name and a folder but not process ids, so the namespace is part of the
 * identity.
 */
function hostIdentity(): string {
  if (identity !== undefined) return identity;
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux: one namespace per host.
  }
  identity = `${hostname()} ${namespace}`;
  return identity;
}
