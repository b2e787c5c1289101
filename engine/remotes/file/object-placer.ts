/**
 * How an object comes to be: written to a temporary file, synced, then put in place in one atomic step.
 *
 * Which step makes the conditions hold among processes:
 * - Where there is no object, `link` puts the file there and fails if another writer was first. No lock.
 * - Over an object (an unconditional put, an etag), and for every removal, the key's lock is held around compare and rename,
 *   so nothing changes between the two.
 * - On file systems without hard links every put takes the lock.
 */

import { randomUUID } from 'node:crypto';
import { link, lstat, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectChecksums, PutOptions, PutOutcome, RemoteKey } from '../object-store.ts';
import { isAbsent, systemCode, translating } from './file-errors.ts';
import { etagOf, stamp } from './file-etag.ts';
import type { FileRoot } from './file-root.ts';
import { createFolderSync } from './folder-sync.ts';
import { withKeyLock } from './key-lock.ts';
import type { ReceivedFile } from './received-file.ts';

export interface ObjectPlacer {
  /**
   * @param fill Makes the file at the path given (`FileRoot.openNew`), all of its bytes, and returns it open, with what it computed of them. What it throws leaves nothing behind.
   */
  place(
    key: RemoteKey,
    options: PutOptions,
    fill: (path: string) => Promise<ReceivedFile>,
  ): Promise<PutOutcome>;
  /** Removes the object's file. False when there was none. */
  remove(key: RemoteKey, signal: AbortSignal | undefined): Promise<boolean>;
}

interface Staged {
  readonly path: string;
  readonly etag: string;
  readonly checksums: ObjectChecksums | undefined;
}

/** Answers of `link` where the file system has no hard links (exFAT, some network mounts). */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
/** A folder can be pruned by a removal between its making and the link: make it again, so often at most. */
const FOLDER_ATTEMPTS_MAX = 20;

/** @param hardLinks False to do without them. For tests: what the file system has is found out. */
export function createObjectPlacer(root: FileRoot, clock: Clock, hardLinks = true): ObjectPlacer {
  const folders = createFolderSync();
  let canLink = hardLinks;

  const stage = async (fill: (path: string) => Promise<ReceivedFile>, path: string): Promise<Staged> => {
    const { file, checksums } = await fill(path);
    try {
      await stamp(file, clock);
      await file.sync();
      return { path, etag: etagOf(await file.stat({ bigint: true })), checksums };
    } finally {
      await file.close();
    }
  };

  /** Undefined where there are no hard links. */
  const linkNew = async (staged: Staged, target: string): Promise<boolean | undefined> => {
    try {
      await link(staged.path, target);
      return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === 'EEXIST') return false;
      if (!NO_HARD_LINKS.has(code ?? '')) throw error;
      canLink = false;
      return undefined;
    }
  };

  const replace = (staged: Staged, key: RemoteKey, options: PutOptions): Promise<PutOutcome> =>
    withKeyLock({ root, key, clock, signal: options.signal }, async (lock) => {
      const target = root.pathOf(key);
      const present = await lstatIfAny(target);
      if (present?.isDirectory()) throw folderInTheWay(key, target);
      const { condition } = options;
      if (condition && 'absent' in condition && present) return { written: false };
      if (condition && 'etag' in condition && (!present || etagOf(present) !== condition.etag)) {
        return { written: false };
      }
      await lock.stillHeld();
      checkAborted(options.signal);
      await rename(staged.path, target);
      return writtenAs(staged);
    });

  const putInPlace = async (staged: Staged, key: RemoteKey, options: PutOptions): Promise<PutOutcome> => {
    const { condition } = options;
    const target = root.pathOf(key);
    checkAborted(options.signal);
    if (canLink && !(condition && 'etag' in condition)) {
      const linked = await linkNew(staged, target);
      if (linked) return writtenAs(staged);
      if (linked === false && condition) {
        if ((await lstatIfAny(target))?.isDirectory()) throw folderInTheWay(key, target);
        return { written: false };
      }
    }
    return replace(staged, key, options);
  };

  return {
    place: async (key, options, fill) =>
      translating(root.pathOf(key), async () => {
        checkAborted(options.signal);
        const target = root.pathOf(key);
        if (await cannotHold(target, options.condition)) return { written: false };
        const path = root.pathIn('writes', randomUUID());
        try {
          const staged = await stage(fill, path);
          const changed: string[] = [];
          const outcome = await withFolders(root, target, changed, () => putInPlace(staged, key, options));
          if (outcome.written) {
            await Promise.all([dirname(target), ...changed].map((folder) => folders.sync(folder)));
          }
          return outcome;
        } finally {
          await unlink(path).catch(() => {});
        }
      }),
    remove: async (key, signal) =>
      translating(root.pathOf(key), async () => {
        const target = root.pathOf(key);
        const present = await lstatIfAny(target);
        if (!present || present.isDirectory()) return false;
        await withKeyLock({ root, key, clock, signal }, async () => {
          checkAborted(signal);
          await unlink(target).catch((error) => {
            if (!isAbsent(error)) throw error;
          });
        });
        return true;
      }),
  };
}

function writtenAs({ etag, checksums }: Staged): PutOutcome {
  return { written: true, etag, ...(checksums ? { checksums } : {}) };
}

/** Spares the writing of bytes that the condition rules out already. */
async function cannotHold(target: string, condition: PutOptions['condition']): Promise<boolean> {
  if (!condition) return false;
  const present = await lstatIfAny(target);
  if ('absent' in condition) return present !== undefined && !present.isDirectory();
  return present === undefined || etagOf(present) !== condition.etag;
}

/** Runs the work, making the target's folders when it finds them missing. */
async function withFolders<T>(
  root: FileRoot,
  target: string,
  changed: string[],
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (attempt > 1) changed.push(...(await root.makeFolderOf(target)));
      return await work();
    } catch (error) {
      // ENOTDIR as well: Node's recursive mkdir says so when another writer removes the folder between its mkdir and its
      // stat. A file that really is in the way still is at the last attempt.
      const code = systemCode(error);
      const isPassing = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isPassing || attempt === FOLDER_ATTEMPTS_MAX) throw error;
    }
  }
}

async function lstatIfAny(path: string) {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function folderInTheWay(key: RemoteKey, path: string): DrayError {
  return new DrayError('unsafePath', `${path} is a folder, so ${key} cannot be stored there.`, {
    data: { key, path },
  });
}
