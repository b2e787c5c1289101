/**
 * Takes back what the base does not have: new files go to the bin, and renamed ones get their old names. Each
 * takes one step, so after a kill the content is at one of the two places.
 */
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toErrorRecord } from '../../api/error.ts';
import type { JobContext, KeptTotals } from '../../api/jobs/jobs.ts';
import { shellWord } from '../../base/shell-word.ts';
import { openDiskSync } from '../../files/disk/sync-disk.ts';
import { writeError } from '../../files/write/write-error.ts';
import { type Change, detectRenames, RENAMES_MAX, type Rename } from '../../model/diff.ts';
import { ensureBase, hasBaseRows } from '../session/base/base-commit.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { settleWorkingCopy, workingChanges } from '../working-copy/working-changes.ts';
import { type KeptRunFolder, makeRun, removeRun } from './kept-folder.ts';
import { checkParents } from './local-keeper.ts';
import { renameBack } from './undo-renames.ts';

export interface DiscardedNew {
  /** The run in the bin. Undefined if no file was moved; without files if files were only renamed. */
  readonly kept?: KeptTotals;
  /** Files that have their old names again. */
  readonly renamed: number;
  readonly failed: number;
  /** The paths at or below which a committed file has changed. */
  readonly committed: readonly string[];
}

/** @param paths As in rows: the path of a folder ends in a slash. */
export async function discardNew(context: JobContext, paths: readonly string[]): Promise<DiscardedNew> {
  using session = await openSession(context, 'discard');
  if (!hasBaseRows(session)) await readBase(session);
  await settleWorkingCopy(session);
  const found = findChanges(session, paths);
  if (found.created.length === 0) return { failed: 0, renamed: 0, committed: committedOf(found) };
  return await moveToBin(session, found, paths);
}

async function readBase(session: Session): Promise<void> {
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  await ensureBase(session, store, await linkRepository(session, store, session.state.branch));
}

interface Created {
  readonly path: string;
  readonly bytes: number;
  readonly isFolder: boolean;
}

interface FoundChanges {
  readonly created: readonly Created[];
  /** By the path of a change: that of the request, at or below which it is. */
  readonly committed: ReadonlyMap<string, string>;
  /** Renames to a created path, as a list of changes pairs them. */
  readonly renames: readonly Rename[];
}

function findChanges(session: Session, paths: readonly string[]): FoundChanges {
  const created: Created[] = [];
  const committed = new Map<string, string>();
  const moved: Change[] = [];
  for (const page of workingChanges(session))
    for (const change of page) {
      const { after, before, path } = change;
      if (!before !== !after && moved.length <= 2 * RENAMES_MAX) moved.push(change);
      const chosen = paths.find((one) => path === one.replace(/\/$/, '') || path.startsWith(slashed(one)));
      if (chosen === undefined) continue;
      if (before) committed.set(path, chosen);
      else if (after)
        created.push({
          path,
          bytes: after.kind === 'file' ? after.sizeBytes : 0,
          isFolder: after.kind === 'folder',
        });
    }
  const names = new Set(created.map(({ path }) => path));
  const renames = detectRenames(moved).renames.filter(({ toPath }) => names.has(toPath));
  return { created, committed, renames };
}

/** @param back Renames that were taken back in full. */
function committedOf({ committed }: FoundChanges, back: Iterable<Rename> = []): readonly string[] {
  const same = new Set([...back].map(({ fromPath }) => fromPath));
  return [...new Set([...committed].filter(([path]) => !same.has(path)).map(([, chosen]) => chosen))];
}

async function moveToBin(
  session: Session,
  found: FoundChanges,
  paths: readonly string[],
): Promise<DiscardedNew> {
  const { clock, context, workspace } = session;
  const run = makeRun(workspace, clock.nowMs(), ['discard', ...paths].map(shellWord).join(' '));
  const disk = openDiskSync(workspace.root);
  const back = await renameBack(session, run, found.renames, disk);
  const gone = new Map(found.renames.filter((one) => back.has(one)).map((one) => [one.toPath, one]));
  let failed = 0;
  let files = 0;
  let bytes = 0;
  // Empty folders come last: they are removed, since the bin holds only files.
  for (const one of found.created.toSorted((a, b) => Number(a.isFolder) - Number(b.isFolder))) {
    if (context.signal.aborted) break;
    try {
      if (!one.isFolder && !gone.has(one.path)) {
        disk.note(moveFile(run, workspace.root, one.path));
        files += 1;
        bytes += one.bytes;
      }
      removeEmptyFolders(session, one.isFolder ? one.path : dirname(one.path));
    } catch (error) {
      failed += 1;
      context.emit({ type: 'fileFailed', path: one.path, error: toErrorRecord(writeError(error, one.path)) });
    }
  }
  await disk.sync();
  // Another mode is left for the restore.
  const alike = [...gone.values()].filter(({ after, before }) => after.executable === before.executable);
  const done = { failed, renamed: gone.size, committed: committedOf(found, alike) };
  if (files + gone.size > 0) return { kept: { id: run.id, files, bytes }, ...done };
  removeRun(run);
  return done;
}

/** @returns The new absolute path. */
function moveFile({ files }: KeptRunFolder, root: string, path: string): string {
  checkParents(root, path);
  const to = join(files, path);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(root, path), to);
  return to;
}

/** An empty folder that the base does not have would be listed as a new change. */
function removeEmptyFolders({ index, workspace }: Session, first: string): void {
  for (let folder = first; folder !== '.'; folder = dirname(folder)) {
    if (index.files.find(slashed(folder), 0)?.before) return;
    try {
      rmdirSync(join(workspace.root, folder));
    } catch {
      return;
    }
  }
}

function slashed(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
