/**
 * Makes the workspace match a commit, path by path: first deletions, so that a folder can take a file's
 * place, then files (`download-files.ts`), then folders and links.
 */

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { DrayError, toErrorRecord } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import { ifThere } from '../../base/if-there.ts';
import { createDiskRefusals } from '../../files/disk/disk-refusals.ts';
import { writtenStat } from '../../files/write/put-in-place.ts';
import { openTreeWriter } from '../../files/write/tree-writer.ts';
import type { TreeWriter, WrittenStat } from '../../files/write/tree-writer-types.ts';
import { writeError } from '../../files/write/write-error.ts';
import type { Entry, FileEntry } from '../../model/entry.ts';
import type { LocalKeeper } from '../kept/local-keeper.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import { warnOfNetworkDisk } from '../session/network-disk-warning.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { createProgress } from '../session/progress.ts';
import { createTraffic } from '../session/traffic.ts';
import { warnOfRefusals } from '../session/warn-of-refusals.ts';
import { type DownloadOptions, downloadFiles } from './download-files.ts';
import { noteOfWriting, type Writing } from './interrupted-writes.ts';
import type { LeavingOut } from './unheld-entries.ts';

export interface ApplyOptions {
  readonly session: Session;
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  /** Synced before the first file is written, for the command that runs after a power cut. */
  readonly writing: Writing;
  readonly totals: { readonly files: number; readonly bytes: number };
  /** The files and bytes that an interrupted run has already written. */
  readonly kept?: { readonly files: number; readonly bytes: number };
  /** Files, links and empty folders to delete. */
  readonly deletions: readonly string[];
  /** Entries to write; batches in any order. */
  readonly writes: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>;
  /** The workspace is new and empty: nothing can be in the way. */
  readonly isFresh?: boolean;
  /** Paths that the user gave up on purpose: whatever is there may be replaced. */
  readonly givenUp?: ReadonlySet<string>;
  /** Takes what this file system cannot hold. Without it such an entry fails. */
  readonly leavingOut?: LeavingOut;
  /** What the paths are based on stays: what is written and deleted counts as edits. */
  readonly asEdits?: boolean;
  /** Keeps the local files that are replaced. This job settles it. */
  readonly keeper?: LocalKeeper;
}

export interface Applied {
  readonly bytes: number;
  readonly failed: number;
  /** The result of the keeper: kept files and copies. */
  readonly keeping: ReturnType<LocalKeeper['settle']>;
}

/** Files fetched together, so that files of one pack take few requests. */
const WINDOW_ENTRIES = 65_536;
/** How many paths are handled between two checks for a stop. */
const PATHS_PER_TURN = 256;

export async function applyChanges(options: ApplyOptions): Promise<Applied> {
  let keeping: Applied['keeping'] = {};
  const written = await writeChanges(options).finally(() => {
    keeping = options.keeper?.settle() ?? {};
  });
  return { ...written, keeping };
}

async function writeChanges(options: ApplyOptions): Promise<Omit<Applied, 'keeping'>> {
  const { session, link } = options;
  const { store, limit, meter } = options.remote;
  const { context, workspace } = session;
  const refusals = createDiskRefusals();
  const writer = openTreeWriter({
    root: workspace.root,
    temporaryFolder: workspace.temporaryFolder,
    refusals,
    unsyncedNote: noteOfWriting(session, options.writing),
    signal: context.signal,
  });
  try {
    const mayReplace = options.isFresh
      ? () => true
      : (path: string) => {
          if (options.givenUp?.has(path) !== true) return isAsKnown(session, path);
          options.keeper?.keep(path);
          return true;
        };
    const guard: ReplaceGuard = {
      mayReplace,
      beforeReplacing: async () => options.keeper?.sync(),
    };
    let failed = await removeAll(options, writer, options.deletions, guard);
    const { totals } = options;
    const progress = createProgress(session, {
      phase: 'download',
      totals: () => ({ filesTotal: totals.files, bytesTotal: totals.bytes }),
      traffic: createTraffic([meter], [limit]),
    });
    if (options.kept && options.kept.files > 0) progress.keep(options.kept.files, options.kept.bytes);
    const others: Entry[] = [];
    const downloaded = await downloadFiles(
      {
        session,
        store,
        link,
        commit: options.writing.commit,
        writer,
        progress,
        limit,
        leavingOut: options.leavingOut,
        asEdits: options.asEdits,
        ...guard,
      },
      fileWindows(options.writes, (entry) => others.push(entry)),
    );
    failed += downloaded.failed + (await writeOthers(options, writer, others, guard));
    progress.end();
    if (downloaded.written > 0) warnOfNetworkDisk(context, workspace.root);
    warnOfRefusals(context, refusals, workspace.root);
    return { bytes: downloaded.bytes, failed };
  } finally {
    await writer.close();
  }
}

/**
 * Removes files that the index knows. One that has changed since stays.
 * @returns the number of those that stayed, an event for each
 */
export async function removePaths(
  session: Session,
  writing: Writing,
  paths: readonly string[],
): Promise<number> {
  const { context, workspace } = session;
  const writer = openTreeWriter({
    root: workspace.root,
    temporaryFolder: workspace.temporaryFolder,
    unsyncedNote: noteOfWriting(session, writing),
    signal: context.signal,
  });
  try {
    const mayReplace = (path: string) => isAsKnown(session, path);
    return await removeAll({ session }, writer, paths, { mayReplace, beforeReplacing: async () => {} });
  } finally {
    await writer.close();
  }
}

/**
 * Whether the path is as the index last saw it (absent, if the index has no row).
 * @throws DrayError `io` when the path cannot be checked
 */
export function isAsKnown(session: Session, path: string): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  const now = lstatIfThere(session.workspace.root, plain);
  const known = session.index.files.knownStat(path);
  if (!known || known.kind === 0) return !now || (path.endsWith('/') && now.isDirectory());
  if (!now) return true;
  return (
    now.size === known.sizeBytes &&
    now.mtimeMs === known.mtimeMs &&
    (known.inode === -1 || now.ino === known.inode)
  );
}

/** Undefined also for a path below a file. @throws DrayError `io` */
export function lstatIfThere(root: string, path: string): Stats | undefined {
  try {
    return ifThere(() => lstatSync(`${root}/${path}`, { throwIfNoEntry: false }));
  } catch (error) {
    throw writeError(error, path);
  }
}

type RowOptions = Pick<ApplyOptions, 'asEdits' | 'session'>;
type ReplaceGuard = Pick<DownloadOptions, 'mayReplace' | 'beforeReplacing'>;

async function removeAll(
  { asEdits = false, session }: RowOptions,
  writer: TreeWriter,
  paths: readonly string[],
  { beforeReplacing, mayReplace }: ReplaceGuard,
): Promise<number> {
  let failed = 0;
  /** As a written path, a deleted one becomes its own base. */
  const noteRemoved = (path: string) => {
    if (!asEdits) session.index.files.setBase(path, undefined);
    session.index.files.setAbsent(path);
  };
  /** Only its folder is still there, which is no edit of the user either. */
  const noteEmptied = (path: string) => {
    noteRemoved(path);
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    if (asEdits || folder === '' || !isEmptyFolder(session, folder)) return;
    session.index.files.setWritten({ kind: 'folder', path: folder }, statOfFolder(session, folder));
  };
  const fail = (path: string, error: unknown) => {
    const record = toErrorRecord(error);
    // A folder that is no longer empty remains.
    if (path.endsWith('/') && record.code === 'conflict') return session.index.files.setAbsent(path);
    failed += 1;
    session.context.emit({ type: 'fileFailed', path, error: record });
  };
  // Deepest first: a folder's content goes before the folder.
  const deepestFirst = paths.toReversed();
  for (let at = 0; at < deepestFirst.length; at += PATHS_PER_TURN) {
    await breathe();
    checkAborted(session.context.signal);
    const check = (path: string) => {
      if (!path.endsWith('/') && !mayReplace(path)) throw changedMeanwhile(path, 'it was not deleted');
    };
    const ready: string[] = [];
    for (const path of deepestFirst.slice(at, at + PATHS_PER_TURN)) {
      try {
        check(path);
        ready.push(path);
      } catch (error) {
        fail(path, error);
      }
    }
    await beforeReplacing();
    for (const path of ready) {
      checkAborted(session.context.signal);
      try {
        // Checked again, because the file may have changed during the sync.
        check(path);
        writer.remove(path);
        noteRemoved(path);
      } catch (error) {
        fail(path, error);
        if (isGone(session, path)) noteEmptied(path);
      }
    }
  }
  return failed;
}

/** The file may be gone, and only its empty folder still there: it would count as the user's deletion. */
function isGone({ workspace }: Session, path: string): boolean {
  if (path.endsWith('/')) return false;
  try {
    return lstatIfThere(workspace.root, path) === undefined;
  } catch {
    // What cannot be looked at is not known to be gone.
    return false;
  }
}

function isEmptyFolder({ workspace }: Session, path: string): boolean {
  try {
    return readdirSync(`${workspace.root}/${path}`).length === 0;
  } catch {
    return false;
  }
}

function changedMeanwhile(path: string, what: string): DrayError {
  const message = `${path} changed here during the pull; ${what}. Pull again.`;
  return new DrayError('conflict', message, { data: { path } });
}

async function* fileWindows(
  batches: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
  takeOther: (entry: Entry) => void,
): AsyncGenerator<readonly FileEntry[]> {
  const heap = createHeapBound();
  let window: FileEntry[] = [];
  for await (const batch of batches) {
    heap.check();
    for (const entry of batch) {
      if (entry.kind === 'file') window.push(entry);
      else takeOther(entry);
    }
    if (window.length < WINDOW_ENTRIES) continue;
    yield window;
    window = [];
  }
  if (window.length > 0) yield window;
}

/** Links come last, so that no file is ever written through one. */
async function writeOthers(
  { asEdits = false, leavingOut, session }: Pick<ApplyOptions, 'asEdits' | 'leavingOut' | 'session'>,
  writer: TreeWriter,
  entries: readonly Entry[],
  { beforeReplacing, mayReplace }: ReplaceGuard,
): Promise<number> {
  let failed = 0;
  const { files } = session.index;
  const note = (entry: Entry, stat: WrittenStat) =>
    asEdits
      ? session.index.transaction(() => files.setWrittenAsEdit(entry, stat))
      : files.setWritten(entry, stat);
  for (const [at, entry] of entries.entries()) {
    if (at % PATHS_PER_TURN === 0) await breathe();
    checkAborted(session.context.signal);
    try {
      if (entry.kind === 'folder') {
        writer.makeFolder(entry.path);
        note(entry, statOfFolder(session, entry.path));
      } else if (entry.kind === 'link') {
        if (!mayReplace(entry.path)) throw changedMeanwhile(entry.path, 'it was left as it is');
        await beforeReplacing();
        note(entry, writer.writeLink(entry.path, entry.target));
      }
    } catch (error) {
      const record = toErrorRecord(error);
      if (leavingOut?.takes(entry, record)) continue;
      failed += 1;
      session.context.emit({ type: 'fileFailed', path: entry.path, error: record });
    }
  }
  return failed;
}

function statOfFolder({ workspace }: Session, path: string): WrittenStat {
  return writtenStat(lstatSync(`${workspace.root}/${path.slice(0, -1)}`));
}
