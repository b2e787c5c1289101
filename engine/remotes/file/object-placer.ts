/**
 * Stores an object: writes a temporary file, syncs it, then puts it in place in one atomic step.
 *
 * This step also makes conditions hold among processes:
 * - Where there is no object, `link` puts the file there and fails if another writer was first. No lock.
 * - Over an object (an unconditional put, an etag), and for every removal, the key's lock is held around
 *   compare and rename, so nothing changes between the two.
 * - Where `link` fails, every put takes the lock. So conditions hold among writers that all cannot link, and
 *   among those that all can. On a union of disks that links in some of its folders only, there is a race
 *   window between the compare and the rename of a writer that cannot link: one that can may put the same key
 *   there meanwhile.
 */

import type { BigIntStats } from 'node:fs';
import { link, lstat, rename, unlink } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { lacksHardLinks } from '../../base/hard-links.ts';
import { folderAbove } from '../../base/held-folders.ts';
import { sourceChanged } from '../copy-source.ts';
import type { DeleteOptions, ObjectChecksums, PutOptions, PutOutcome, RemoteKey } from '../object-store.ts';
import { isAbsent, systemCode, translating } from './file-errors.ts';
import { etagOf, stamp, stampAfter } from './file-etag.ts';
import { type FileRoot, keyOfPath, type TemporaryFile } from './file-root.ts';
import { createFolderSync, syncHeld } from './folder-sync.ts';
import { withKeyLock } from './key-lock.ts';

export interface ObjectPlacer {
  /**
   * @param fill Writes all bytes into the new file, leaves it open, and returns the checksum if one was
   * requested. If it throws, nothing is left behind.
   */
  place(key: RemoteKey, options: PutOptions, fill: FillFile): Promise<PutOutcome>;
  /** Removes the object's file. False if there was none. @throws `conflict` if it has another etag */
  remove(key: RemoteKey, options: DeleteOptions | undefined): Promise<boolean>;
}

export type FillFile = (temporary: TemporaryFile) => Promise<ObjectChecksums | undefined>;

interface Staged {
  readonly path: string;
  readonly stats: BigIntStats;
  readonly checksums: ObjectChecksums | undefined;
}

interface Placing {
  readonly staged: Staged;
  readonly key: RemoteKey;
  readonly options: PutOptions;
  /** In the key's folder, which is held. */
  readonly target: string;
}

/**
 * Another writer may remove the empty folder before the link is made. The folder is created again at most
 * this often.
 */
const FOLDER_ATTEMPTS_MAX = 20;

/** @param hardLinks False to do without them. For tests: normally the file system decides. */
export function createObjectPlacer(root: FileRoot, clock: Clock, hardLinks = true): ObjectPlacer {
  const folders = createFolderSync((folder) => syncHeld(root, folder));
  let canLink = hardLinks;

  /** Undefined if there are no hard links. */
  const linkNew = async (staged: Staged, target: string): Promise<boolean | undefined> => {
    try {
      await link(staged.path, target);
      return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === 'EEXIST') return false;
      if (!lacksHardLinks(code)) throw error;
      canLink = false;
      return undefined;
    }
  };

  const replace = ({ key, options, staged, target }: Placing): Promise<PutOutcome> =>
    withKeyLock({ root, key, clock, signal: options.signal }, async (lock) => {
      const present = await lstatIfAny(target);
      if (present?.isDirectory()) throw folderInTheWay(key, root.pathOf(key));
      const { condition } = options;
      if (condition && 'absent' in condition && present) return { written: false };
      if (condition && 'etag' in condition && (!present || etagOf(present) !== condition.etag)) {
        return { written: false };
      }
      await lock.stillHeld();
      checkAborted(options.signal);
      const later = present && (await stampAfter(staged.path, { staged: staged.stats, present }));
      await rename(staged.path, target);
      return writtenAs(later ? { ...staged, stats: later } : staged);
    });

  const putInPlace = async (placing: Placing): Promise<PutOutcome> => {
    const { key, options, staged, target } = placing;
    const { condition } = options;
    checkAborted(options.signal);
    if (canLink && !(condition && 'etag' in condition)) {
      const linked = await linkNew(staged, target);
      if (linked) return writtenAs(staged);
      if (linked === false && condition) {
        if ((await lstatIfAny(target))?.isDirectory()) throw folderInTheWay(key, root.pathOf(key));
        return { written: false };
      }
    }
    return replace(placing);
  };

  return {
    place: async (key, options, fill) =>
      translating(root.pathOf(key), async () => {
        checkAborted(options.signal);
        if (await cannotHold(root, key, options.condition)) return { written: false };
        await using temporary = await root.newTemporary();
        const staged = await stage(fill, temporary, clock);
        const changed: string[] = [];
        const outcome = await inItsFolder(root, key, changed, (target) =>
          putInPlace({ staged, key, options, target }),
        );
        if (outcome.written) {
          await Promise.all([folderAbove(key), ...changed].map((folder) => folders.sync(folder)));
        }
        return outcome;
      }),
    remove: (key, options) => removeObject(root, clock, key, options),
  };
}

function removeObject(
  root: FileRoot,
  clock: Clock,
  key: RemoteKey,
  { ifMatch, signal }: DeleteOptions = {},
): Promise<boolean> {
  return translating(root.pathOf(key), async () => {
    try {
      return await root.within(key, async (target) => {
        const present = await lstatIfAny(target);
        if (!present || present.isDirectory()) return false;
        return await withKeyLock({ root, key, clock, signal }, async (lock) => {
          if (ifMatch !== undefined) {
            const current = await lstatIfAny(target);
            if (!current) return false;
            if (etagOf(current) !== ifMatch) throw sourceChanged(key);
            await lock.stillHeld();
          }
          checkAborted(signal);
          await unlink(target);
          return true;
        });
      });
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  });
}

function writtenAs({ checksums, stats }: Staged): PutOutcome {
  return { written: true, etag: etagOf(stats), ...(checksums ? { checksums } : {}) };
}

/** Fills the temporary file, gives it a time of its own, and syncs it. */
async function stage(fill: FillFile, temporary: TemporaryFile, clock: Clock): Promise<Staged> {
  const { file, path } = temporary;
  try {
    const checksums = await fill(temporary);
    await stamp(file, clock);
    await file.sync();
    return { path, stats: await file.stat({ bigint: true }), checksums };
  } finally {
    await file.close();
  }
}

/** Avoids writing bytes that the condition already rules out. */
async function cannotHold(
  root: FileRoot,
  key: RemoteKey,
  condition: PutOptions['condition'],
): Promise<boolean> {
  if (!condition) return false;
  const present = await root.within(key, lstatIfAny).catch((error) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  if ('absent' in condition) return present !== undefined && !present.isDirectory();
  return present === undefined || etagOf(present) !== condition.etag;
}

/** Runs the work while the key's folder is held, created if missing. */
async function inItsFolder<T>(
  root: FileRoot,
  key: RemoteKey,
  changed: string[],
  work: (target: string) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      using folder = await root.holdMade(folderAbove(key), changed);
      return await work(folder.at(keyOfPath(key)));
    } catch (error) {
      // Another writer removed the empty folder.
      if (systemCode(error) !== 'ENOENT' || attempt === FOLDER_ATTEMPTS_MAX) throw error;
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
