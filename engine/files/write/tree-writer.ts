/** Writes the entries of a commit into a folder, safely and fast. `tree-writer-types.ts` has the contract. */
import assert from 'node:assert';
import { existsSync, lstatSync, rmSync, type Stats, symlinkSync, unlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type DrayError, type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { createHeldFolders, type HeldFolders } from '../../base/held-folders.ts';
import { checkEntryPath } from '../../model/safe-path.ts';
import { type DiskSync, openDiskSync } from '../disk/sync-disk.ts';
import { openTemporaryFolder } from '../disk/temporary-folder.ts';
import { markUnsynced } from '../disk/unsynced-mark.ts';
import { heldReach, plainReach, type TreeReach } from '../scan/tree-reach.ts';
import { cutBatches, type FileBatch } from './cut-batches.ts';
import { openLargeFile } from './large-file.ts';
import { type PlaceOutcome, putInPlace, statWritten } from './put-in-place.ts';
import type { FileOutcome } from './small-files.ts';
import type {
  FileMeta,
  LargeFile,
  OpenLargeOptions,
  PackedFile,
  TreeWriter,
  TreeWriterOptions,
  WriteResult,
  WrittenStat,
} from './tree-writer-types.ts';
import { openUnfinishedFiles, type UnfinishedFile, type UnfinishedFiles } from './unfinished-files.ts';
import { attemptWrite, errnoOf, folderInTheWay, unsafePath, writeError } from './write-error.ts';
import { type Folders, openFolders, parentOf } from './writer-folders.ts';
import { openWriteThreads, type WriteThreads } from './writer-threads.ts';

const THREADS_MAX = 8;

/** Opens a writer and removes the temporary files of killed runs. Throws `io` or `diskFull`. Close it. */
export function openTreeWriter(options: TreeWriterOptions): TreeWriter {
  const { isWatchful = false, refusals, root, signal } = options;
  const held = isWatchful ? createHeldFolders(root) : undefined;
  const disk = openDiskSync(root);
  const temporaries = openTemporaries(options, { disk, held });
  const reach = held ? heldReach(held) : plainReach(root);
  const folders = openFolders(root, isWatchful ? reach : undefined, options.folderModeOf);
  const limit = options.threads ?? Math.min(availableParallelism(), THREADS_MAX);
  const { newTemporary, prefix } = temporaries;
  const threads = openWriteThreads({
    ...{ root, isWatchful, refusals, signal },
    ...{ temporaryPrefix: prefix, threads: limit },
  });
  const context: WriterContext = {
    reach,
    folders,
    threads,
    onPlaced: (path) => disk.note(`${root}/${path}`),
  };
  const large = createLargeFiles(context, temporaries, signal);
  let closing: Promise<void> | undefined;
  const checkUsable = () => {
    checkAborted(signal);
    assert(!closing, 'the writer is closed');
  };

  async function close(): Promise<void> {
    await large.leaveAll();
    await threads.close();
    large.close();
    try {
      await temporaries.close();
    } finally {
      held?.close();
    }
  }

  return {
    writeMany: async (bytes, items) => {
      checkUsable();
      temporaries.prepareWrite();
      return writeMany(context, bytes, items);
    },
    openLarge: async (meta, wish = {}) => {
      checkUsable();
      return large.open(meta, wish);
    },
    newTemporary() {
      checkAborted(signal);
      return newTemporary();
    },
    writeLink(path, target) {
      checkAborted(signal);
      return writeLink(context, { path, target, newTemporary });
    },
    makeFolder(path) {
      checkAborted(signal);
      checkPath(path);
      folders.make(withoutSlash(path));
    },
    remove(path) {
      checkAborted(signal);
      remove(context, path);
    },
    sync: () => disk.sync(),
    tend(nowMs) {
      if (!closing) temporaries.tend(nowMs);
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

interface Temporaries {
  readonly prefix: () => string;
  /** Call it before the first file of the tree. */
  readonly prepareWrite: () => void;
  readonly newTemporary: () => string;
  claimUnfinished(content: string, sizeBytes: number): UnfinishedFile;
  tend(nowMs: number): void;
  /** Syncs the files if there is a mark of unsynced ones, and removes the mark. */
  close(): Promise<void>;
}

/** The temporary folder with its unfinished files, and the mark of files that are not synced. */
function openTemporaries(
  options: TreeWriterOptions,
  { disk, held }: { readonly disk: DiskSync; readonly held: HeldFolders | undefined },
): Temporaries {
  const { isSweptLate = false, isTemporaryFolderOwn = false, temporaryFolder, unsyncedNote } = options;
  const folder = openTemporaryFolder(temporaryFolder, {
    isOwn: isTemporaryFolderOwn,
    ...(held ? { parent: held } : {}),
  });
  let unmark: ((isSynced: boolean) => void) | undefined;
  let unfinishedFiles: UnfinishedFiles | undefined;
  if (!isSweptLate && (!isTemporaryFolderOwn || existsSync(temporaryFolder))) folder.prepare();

  const translated = <T>(work: () => T) => attemptWrite(temporaryFolder, work);
  const prepareWrite = () => {
    folder.prepare();
    if (unsyncedNote === undefined || unmark) return;
    unmark = translated(() => markUnsynced(folder.path(), unsyncedNote));
  };
  return {
    prefix: folder.prefix,
    prepareWrite,
    newTemporary() {
      prepareWrite();
      disk.noteAny();
      return folder.newName();
    },
    claimUnfinished(content, sizeBytes) {
      prepareWrite();
      unfinishedFiles ??= openUnfinishedFiles(folder.path(), systemClock.nowMs);
      const files = unfinishedFiles;
      return translated(() => files.claim(content, sizeBytes));
    },
    tend: folder.tend,
    async close() {
      unfinishedFiles?.end();
      let isSynced = false;
      try {
        if (unmark) await disk.sync();
        isSynced = true;
      } finally {
        unmark?.(isSynced);
        folder.close();
      }
    },
  };
}

/** The large files that are open. A signal leaves all of them. */
function createLargeFiles(context: WriterContext, temporaries: Temporaries, signal: AbortSignal) {
  const { folders, threads } = context;
  const open = new Set<LargeFile>();
  let nextStream = 0;
  const leaveAll = () => Promise.allSettled([...open].map((file) => file.leave()));
  signal.addEventListener('abort', leaveAll, { once: true });
  return {
    leaveAll,
    close: () => signal.removeEventListener('abort', leaveAll),
    open(meta: FileMeta, { content, isOpenEnded }: OpenLargeOptions): LargeFile {
      checkPath(meta.path, 'file');
      const { hold, errors } = folders.holdParents([meta.path]);
      for (const error of errors.values()) throw error;
      try {
        const unfinished =
          content === undefined
            ? undefined
            : temporaries.claimUnfinished(`${meta.path}\0${content}`, meta.sizeBytes);
        const file = openLargeFile({
          meta,
          temporary: unfinished?.temporary ?? temporaries.newTemporary(),
          ...(unfinished ? { unfinished } : {}),
          ...(isOpenEnded ? { isOpenEnded } : {}),
          nextStream: () => nextStream++,
          threads,
          signal,
          finish: (path, outcome) => finish(context, path, outcome),
          onEnd: () => {
            folders.release(hold);
            open.delete(file);
          },
        });
        open.add(file);
        return file;
      } catch (error) {
        folders.release(hold);
        throw error;
      }
    },
  };
}

interface WriterContext {
  readonly reach: TreeReach;
  readonly folders: Folders;
  readonly threads: WriteThreads;
  readonly onPlaced: (path: string) => void;
}

async function writeMany(
  context: WriterContext,
  bytes: Uint8Array,
  items: readonly PackedFile[],
): Promise<readonly WriteResult[]> {
  const { folders, threads } = context;
  const outcomes = new Map<PackedFile, FileOutcome>();
  const safe = items.filter((item) => {
    const reason = checkEntryPath(item.path, { kind: 'file' });
    if (reason !== undefined) outcomes.set(item, failed(unsafePath(item.path, `it ${reason}`)));
    return reason === undefined;
  });
  const { hold, errors } = folders.holdParents(safe.map((item) => item.path));
  try {
    const writable = errors.size === 0 ? safe : safe.filter((item) => !errors.has(item.path));
    for (const item of safe) if (errors.has(item.path)) outcomes.set(item, failed(errors.get(item.path)!));
    threads.expect(writable.length, bytes.length);
    await writeBatches(context, cutBatches(bytes, writable), outcomes);
    return items.map((item) => toResult(context, item.path, outcomes.get(item)!));
  } finally {
    folders.release(hold);
  }
}

async function writeBatches(
  { threads }: WriterContext,
  batches: readonly FileBatch[],
  outcomes: Map<PackedFile, FileOutcome>,
): Promise<void> {
  const work = batches.map(async (batch) => {
    const written = await threads.run('files', { kind: 'files', ...batch });
    for (const [at, item] of batch.items.entries()) outcomes.set(item, written[at]!);
  });
  // All batches must end before the folders are released, even when one fails.
  for (const settled of await Promise.allSettled(work))
    if (settled.status === 'rejected') throw settled.reason;
}

function toResult(context: WriterContext, path: string, outcome: FileOutcome): WriteResult {
  if ('error' in outcome) return { path, error: outcome.error };
  try {
    return { path, stat: finish(context, path, outcome) };
  } catch (error) {
    return { path, error: toErrorRecord(error) };
  }
}

/** Replaces an empty folder in the way: only here, in the thread that owns the folders. */
function finish(context: WriterContext, path: string, outcome: PlaceOutcome): WrittenStat {
  const { folders, onPlaced, reach } = context;
  onPlaced(path);
  if ('stat' in outcome) return outcome.stat;
  const temporary = outcome.folderInTheWay;
  try {
    folders.remove(path);
    const again = putInPlace(temporary, reach.absoluteOf(path));
    if ('stat' in again) return again.stat;
    throw folderInTheWay(path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(error, path);
  } finally {
    reach.release();
  }
}

function writeLink(
  context: WriterContext,
  link: { path: string; target: string | Uint8Array; newTemporary: () => string },
): WrittenStat {
  const { path } = link;
  const target = typeof link.target === 'string' ? link.target : Buffer.from(link.target);
  checkPath(path, 'link');
  if (target.length === 0 || target.includes('\0')) throw unsafePath(path, 'no link can have its target');
  context.folders.make(parentOf(path));
  const { reach } = context;
  try {
    const absolute = reach.absoluteOf(path);
    symlinkSync(target, absolute);
    return statWritten(absolute);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw writeError(error, path);
  } finally {
    reach.release();
  }
  const temporary = link.newTemporary();
  try {
    symlinkSync(target, temporary);
    return finish(context, path, putInPlace(temporary, reach.absoluteOf(path)));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(error, path);
  }
}

function remove(context: WriterContext, path: string): void {
  const { folders, reach } = context;
  checkPath(path);
  const name = withoutSlash(path);
  const parent = parentOf(name);
  if (!folders.exists(parent)) return;
  let isFolder: boolean;
  try {
    const absolute = reach.absoluteOf(name);
    const stat = lstatFor(absolute, path);
    if (stat === undefined) return;
    isFolder = stat.isDirectory();
    // A folder was to be removed, and something else is there: the folder does not exist.
    if (!isFolder && name !== path) return;
    if (!isFolder) unlinkIfThere(absolute, path);
  } finally {
    reach.release();
  }
  if (isFolder) folders.remove(name);
  folders.prune(parent);
}

function lstatFor(absolute: string, path: string): Stats | undefined {
  return attemptWrite(path, () => lstatSync(absolute, { throwIfNoEntry: false }));
}

function unlinkIfThere(absolute: string, path: string): void {
  try {
    unlinkSync(absolute);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw writeError(error, path);
  }
}

function checkPath(path: string, kind?: 'file' | 'link' | 'folder'): void {
  const reason = checkEntryPath(path, kind ? { kind } : {});
  if (reason !== undefined) throw unsafePath(path, `it ${reason}`);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function failed(error: DrayError): { readonly error: ErrorRecord } {
  return { error: toErrorRecord(error) };
}
