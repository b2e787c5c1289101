/**
 * Discards new files: moves local files that the base does not have to the bin. Each move is one rename, so
 * after a kill the file is at one of the two places.
 */
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toErrorRecord } from '../../api/error.ts';
import type { JobContext, KeptTotals } from '../../api/jobs.ts';
import { shellWord } from '../../base/shell-word.ts';
import { openDiskSync } from '../../files/disk/sync-disk.ts';
import { writeError } from '../../files/write/write-error.ts';
import { ensureBase, hasBaseRows } from '../session/base-commit.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { openSession, type Session } from '../session/session.ts';
import { refreshIndex } from '../working-copy/refresh-index.ts';
import { type KeptRunFolder, makeRun, removeRun } from './kept-folder.ts';
import { checkParents } from './local-keeper.ts';

export interface DiscardedNew {
  /** The run in the bin. Undefined if no file was moved. */
  readonly kept?: KeptTotals;
  readonly failed: number;
  /** The paths at or below which a committed file has changed. */
  readonly committed: readonly string[];
}

/** @param paths As in rows: the path of a folder ends in a slash. */
export async function discardNew(context: JobContext, paths: readonly string[]): Promise<DiscardedNew> {
  const session = await openSession(context, 'discard');
  try {
    if (!hasBaseRows(session)) await readBase(session);
    await refreshIndex(session);
    const { committed, created } = findChanges(session, paths);
    if (created.length === 0) return { failed: 0, committed };
    return { ...(await moveToBin(session, created, paths)), committed };
  } finally {
    session.close();
  }
}

async function readBase(session: Session): Promise<void> {
  const { store } = await openSessionRemote(session);
  try {
    await ensureBase(session, store, await linkRepository(session, store, session.state.branch));
  } finally {
    await store.close();
  }
}

interface Created {
  readonly path: string;
  readonly bytes: number;
  readonly isFolder: boolean;
}

function findChanges(session: Session, paths: readonly string[]) {
  const created: Created[] = [];
  const committed = new Set<string>();
  for (const page of session.index.files.changes(0))
    for (const { after, before, path } of page) {
      const chosen = paths.find((one) => path === one.replace(/\/$/, '') || path.startsWith(slashed(one)));
      if (chosen === undefined) continue;
      if (before) committed.add(chosen);
      else if (after) created.push({ path, bytes: after.sizeBytes, isFolder: after.kind === 'folder' });
    }
  return { created, committed: [...committed] };
}

async function moveToBin(
  session: Session,
  created: readonly Created[],
  paths: readonly string[],
): Promise<Pick<DiscardedNew, 'kept' | 'failed'>> {
  const { clock, context, workspace } = session;
  const run = makeRun(workspace, clock.nowMs(), ['discard', ...paths].map(shellWord).join(' '));
  const disk = openDiskSync(workspace.root);
  let failed = 0;
  let files = 0;
  let bytes = 0;
  // Empty folders come last: they are removed, since the bin holds only files.
  for (const one of created.toSorted((a, b) => Number(a.isFolder) - Number(b.isFolder))) {
    if (context.signal.aborted) break;
    try {
      if (!one.isFolder) {
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
  if (files > 0) return { kept: { id: run.id, files, bytes }, failed };
  removeRun(run);
  return { failed };
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
