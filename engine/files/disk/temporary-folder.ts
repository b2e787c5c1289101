/**
 * A folder of unfinished files: on the file system of the finished ones, under a name that no scan looks
 * into.
 *
 * Every file that Dray writes gets its temporary name here, so that a killed run leaves nothing that a later
 * scan could take for data. The next run that opens the folder removes the files of dead runs.
 *
 * A temporary folder in the user's own tree may lie where other users write too. It is held from its first
 * file to its end (`base/held-folders.ts`), so nothing is swept or written through a link. It is not used if
 * it belongs to another user.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { createHeldFolders, type HeldFolder, type HeldFolders } from '../../base/held-folders.ts';
import { TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { sweepTemporaryFolder, temporaryPrefix } from '../write/temporary-names.ts';
import { sweepUnfinishedFiles } from '../write/unfinished-files.ts';
import { errnoOf, writeError } from '../write/write-error.ts';
import { sweepUnsyncedMarks } from './unsynced-mark.ts';

export interface TemporaryFolder {
  /** Leads to the folder, from `prepare` to `close`. */
  path(): string;
  /** All names of this run begin with it. From `prepare` to `close`. */
  prefix(): string;
  /**
   * Makes the folder and sweeps it; called again it does nothing. @throws `io`, `diskFull`, `unsafePath`,
   * `accessDenied`
   */
  prepare(): void;
  /** A name that nothing else has. Prepares the folder. */
  newName(): string;
  /** Sweeps again, and marks this run as alive. For runs of days. */
  tend(nowMs: number): void;
  /** Removes what this run left, and the folder where it is its own and empty. */
  close(): void;
}

/**
 * @param isOwn The folder appears with the first file and vanishes with the last; otherwise it stays.
 * @param parent The folder that it lies in, where that is held already.
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
        // A file in the folder keeps another writer, when it ends, from removing it.
        writeFileSync(holder(), '', { flag: 'wx' });
        return;
      } catch (error) {
        held?.release();
        held = undefined;
        // Another writer removed the folder in between.
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
      // Touched now, so that no other writer takes it for a dead run's.
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
 * Holds the folder and makes it if it is missing. Links in the path of a parent that is not held are
 * followed: the user named it.
 */
function holdOwn(path: string, parent: HeldFolders | undefined): HeldFolder {
  if (!parent) mkdirSync(dirname(path), { recursive: true });
  return parentOf(path, parent).holdSync(basename(path), { onMake: () => {} });
}

function parentOf(path: string, parent: HeldFolders | undefined): HeldFolders {
  return parent ?? createHeldFolders(realpathSync(dirname(path)));
}

/** The `.dray-tmp` beside a single file that is written. */
export function openTemporaryFolderBeside(file: string): TemporaryFolder {
  const parent = dirname(file);
  const folder = openTemporaryFolder(join(parent, TEMPORARY_FOLDER_NAME), { isOwn: true });
  const prepare = () => {
    try {
      // A missing parent is an error and is not made.
      lstatSync(parent);
    } catch (error) {
      throw writeError(error, file);
    }
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

/** Removes what dead runs left in a `.dray-tmp`, and the folder once it is empty. A link is left alone. */
export function sweepAbandoned(path: string): void {
  if (sweepHeld(path, undefined, systemClock.nowMs())) removeIfEmpty(path, undefined);
}

/** @returns Whether there was one to be swept. */
function sweepHeld(path: string, parent: HeldFolders | undefined, nowMs: number): boolean {
  try {
    using held = parentOf(path, parent).holdSync(basename(path));
    sweep(held.at(''), nowMs);
    return true;
  } catch {
    // It is gone, a link, or not ours: leave it alone.
    return false;
  }
}

const HOLD_TRIES_MAX = 100;

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    sweep(folder, systemClock.nowMs());
  } catch (error) {
    throw writeError(error, folder);
  }
}

function sweep(folder: string, nowMs: number): void {
  sweepTemporaryFolder(folder, nowMs);
  sweepUnfinishedFiles(folder, nowMs);
  sweepUnsyncedMarks(folder, nowMs);
}

/** Files that an abort left between two steps of a task. */
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
    // Somebody else's files are in it.
  } finally {
    if (!parent) folders.close();
  }
}
