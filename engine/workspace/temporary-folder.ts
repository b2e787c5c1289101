/**
 * A folder of unfinished files: on the file system of the finished ones, under a name that no scan looks into.
 *
 * Every file that Dray writes gets its temporary name here, so that a killed run leaves nothing that a later scan could take for data.
 * Whoever opens the folder next removes what dead runs left in it.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { TEMPORARY_FOLDER_NAME } from '../model/unfinished-name.ts';
import { errnoOf, unsafePath, writeError } from './tree-writer-error.ts';
import { sweepTemporaryFolder, temporaryPrefix } from './tree-writer-temporary.ts';
import { sweepUnfinishedFiles } from './tree-writer-unfinished.ts';

export interface TemporaryFolder {
  readonly path: string;
  /** All names of this run begin with it. */
  readonly prefix: string;
  /** Makes the folder and sweeps it; called again it does nothing. @throws `io`, `diskFull`, `unsafePath` */
  prepare(): void;
  /** A name that nothing else has. Prepares the folder. */
  newName(): string;
  /** Sweeps again, and says that this run still works here. For runs of days. */
  tend(nowMs: number): void;
  /** Removes what this run left, and the folder where it is its own and empty. */
  close(): void;
}

/** @param isOwn The folder appears with the first file and vanishes with the last; otherwise it stays. */
export function openTemporaryFolder(path: string, { isOwn }: { readonly isOwn: boolean }): TemporaryFolder {
  const prefix = temporaryPrefix(path);
  // Threads number their files from 0, this thread under 9999.
  const holder = `${prefix}9998.0`;
  let isPrepared = false;
  let next = 0;
  const prepare = () => {
    if (isPrepared) return;
    if (isOwn) hold(path, holder);
    else makeFolder(path);
    isPrepared = true;
  };
  return {
    path,
    prefix,
    prepare,
    newName() {
      prepare();
      return `${prefix}9999.${next++}`;
    },
    tend(nowMs) {
      if (!existsSync(path)) return;
      sweep(path, nowMs);
      // As young as can be, so that no other writer takes it for a dead one's.
      if (isPrepared && isOwn) writeFileSync(holder, '');
    },
    close() {
      if (!isPrepared) return;
      removeOwn(path, prefix);
      if (isOwn) removeIfEmpty(path);
    },
  };
}

/** For one file that is written by itself: `.dray-tmp` beside it. */
export function openTemporaryFolderBeside(file: string): TemporaryFolder {
  const parent = dirname(file);
  const folder = openTemporaryFolder(join(parent, TEMPORARY_FOLDER_NAME), { isOwn: true });
  const prepare = () => {
    try {
      // A missing parent is an error, not something to make.
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
  try {
    if (!lstatSync(path).isDirectory()) return;
    sweep(path, systemClock.nowMs());
  } catch {
    // Gone meanwhile, or not ours to read: a later sweep tries again.
    return;
  }
  removeIfEmpty(path);
}

const HOLD_TRIES_MAX = 100;

/** With a file in it, the folder stays when another writer ends, which would remove it empty. */
function hold(folder: string, holder: string): void {
  for (let tries = 1; ; tries += 1) {
    // In a tree of somebody else's the name may be taken.
    if (lstatFor(folder)?.isSymbolicLink())
      throw unsafePath(folder, 'it is a symbolic link, and temporary files would go through it');
    makeFolder(folder);
    try {
      writeFileSync(holder, '', { flag: 'wx' });
      return;
    } catch (error) {
      // Removed in between.
      if (errnoOf(error) !== 'ENOENT' || tries === HOLD_TRIES_MAX) throw writeError(error, folder);
    }
  }
}

function lstatFor(folder: string): Stats | undefined {
  try {
    return lstatSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    throw writeError(error, folder);
  }
}

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
}

/** What a stop left between two steps of a task. */
function removeOwn(folder: string, prefix: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = `${folder}/${name}`;
    if (file.startsWith(prefix)) rmSync(file, { force: true });
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else's files are in it.
  }
}
