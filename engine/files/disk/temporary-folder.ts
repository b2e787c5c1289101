/**
 * A folder of unfinished files. It lies on the file system of the finished ones, under a name that no scan
 * enters.
 *
 * Every file that Dray writes has its temporary name here, so no scan takes the leftovers of a killed run for
 * data. The next run that opens the folder removes them.
 *
 * Other users may write to the tree around a temporary folder too. So it is held from its first file to its
 * end (`base/held-folders.ts`): nothing is swept or written through a link. A folder of another user is not
 * used.
 */

import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { createHeldFolders, type HeldFolder, type HeldFolders } from '../../base/held-folders.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { sweepTemporaryFolder, temporaryPrefix } from '../write/temporary-names.ts';
import { sweepUnfinishedFiles } from '../write/unfinished-files.ts';
import { attemptWrite, errnoOf, writeError } from '../write/write-error.ts';
import { sweepUnsyncedMarks } from './unsynced-mark.ts';

export interface TemporaryFolder {
  /** The folder's path, valid from `prepare` to `close`. */
  path(): string;
  /** The beginning of all paths of this run, valid from `prepare` to `close`. */
  prefix(): string;
  /** Creates the folder and sweeps it. Idempotent. @throws `io`, `diskFull`, `unsafePath`, `accessDenied` */
  prepare(): void;
  /** An unused path. Prepares the folder. */
  newName(): string;
  /** Sweeps again, and shows that this run is alive. For runs of days. */
  tend(nowMs: number): void;
  /** Removes the files of this run, and the folder if `isOwn` and it is empty. */
  close(): void;
}

/**
 * @param isOwn Creates the folder with the first file and removes it with the last; otherwise it stays.
 * @param parent Its parent folder, if the caller holds that.
 */
export function openTemporaryFolder(
  path: string,
  { isOwn, parent }: { readonly isOwn: boolean; readonly parent?: HeldFolders },
): TemporaryFolder {
  const own = temporaryPrefix('');
  let held: HeldFolder | undefined;
  let isPrepared = false;
  let next = 0;
  const here = () => held?.at('') ?? path;
  const prefix = () => here() + own;
  // Worker threads are numbered from 0 in file names; this thread is 9999.
  const holder = () => `${prefix()}9998.0`;
  const hold = () => {
    for (let tries = 1; ; tries += 1) {
      try {
        held = holdOwn(path, parent);
        sweep(here(), systemClock.nowMs());
        // A file in the folder keeps other writers from removing the folder when they end.
        writeFileSync(holder(), '', { flag: 'wx' });
        return;
      } catch (error) {
        held?.release();
        held = undefined;
        // Another writer removed the folder in the meantime.
        if (errnoOf(error) !== 'ENOENT' || tries === HOLD_TRIES_MAX) throw writeError(error, path);
      }
    }
  };
  const prepare = () => {
    if (isPrepared) return;
    if (isOwn) hold();
    else makeFolder(path);
    isPrepared = true;
  };
  return {
    path: here,
    prefix,
    prepare,
    newName() {
      prepare();
      return `${prefix()}9999.${next++}`;
    },
    tend(nowMs) {
      if (!isPrepared) {
        if (isOwn) sweepHeld(path, parent, nowMs);
        return;
      }
      if (!existsSync(here())) return;
      sweep(here(), nowMs);
      // A fresh time shows other writers that this run is alive.
      if (isOwn) writeFileSync(holder(), '');
    },
    close() {
      if (!isPrepared) return;
      isPrepared = false;
      removeOwn(here(), own.slice(1));
      held?.release();
      held = undefined;
      if (isOwn) removeIfEmpty(path, parent);
    },
  };
}

/**
 * Holds the folder, and creates it if it is missing. Follows links in the path of a parent that is not held,
 * because the user named that path.
 */
function holdOwn(path: string, parent: HeldFolders | undefined): HeldFolder {
  if (!parent) makeFolders(dirname(path));
  return parentOf(path, parent).holdSync(basename(path), { onMake: () => {} });
}

function parentOf(path: string, parent: HeldFolders | undefined): HeldFolders {
  return parent ?? createHeldFolders(realpathSync(dirname(path)));
}

/** The `.dray-tmp` beside a single file that is being written. */
export function openTemporaryFolderBeside(file: string): TemporaryFolder {
  const parent = dirname(file);
  const folder = openTemporaryFolder(join(parent, TEMPORARY_FOLDER_NAME), { isOwn: true });
  const prepare = () => {
    // A missing parent is an error; it is not created.
    attemptWrite(file, () => lstatSync(parent));
    folder.prepare();
  };
  return {
    ...folder,
    prepare,
    newName() {
      prepare();
      return folder.newName();
    },
  };
}

/**
 * Removes the files of dead runs from a `.dray-tmp`, and the folder if it is empty then. Leaves a link alone.
 */
export function sweepAbandoned(path: string): void {
  if (sweepHeld(path, undefined, systemClock.nowMs())) removeIfEmpty(path, undefined);
}

/** @returns Whether the folder was there and was swept. */
function sweepHeld(path: string, parent: HeldFolders | undefined, nowMs: number): boolean {
  try {
    using held = parentOf(path, parent).holdSync(basename(path));
    sweep(held.at(''), nowMs);
    return true;
  } catch {
    // It is gone, is a link, or belongs to another user.
    return false;
  }
}

const HOLD_TRIES_MAX = 100;

function makeFolder(folder: string): void {
  attemptWrite(folder, () => {
    makeFolders(folder);
    sweep(folder, systemClock.nowMs());
  });
}

function sweep(folder: string, nowMs: number): void {
  sweepTemporaryFolder(folder, nowMs);
  sweepUnfinishedFiles(folder, nowMs);
  sweepUnsyncedMarks(folder, nowMs);
}

/** Removes files that an abort left between two steps of a task. */
function removeOwn(folder: string, namePrefix: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name.startsWith(namePrefix)) rmSync(`${folder}/${name}`, { force: true });
}

function removeIfEmpty(path: string, parent: HeldFolders | undefined): void {
  const folders = parentOf(path, parent);
  try {
    using above = folders.holdSync('');
    rmdirSync(above.at(basename(path)));
  } catch {
    // It holds files of another writer.
  } finally {
    if (!parent) folders.close();
  }
}
