/**
 * Moves local files that the base does not have to the bin: what "discard" means for a new file. A rename
 * takes each one out of the workspace in one step, so after a kill its content is at one of the two places.
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
  /** The bin's run, unless nothing was new. */
  readonly kept?: KeptTotals;
  readonly failed: number;
  /** Those of the paths at or below which the base has something that differs here. */
  readonly committed: readonly string[];
}

/** @param paths In the form of rows: a folder's ends in a slash. */
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
  // Empty folders last: the bin holds files alone.
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

/** @returns Where it is now. */
function moveFile({ files }: KeptRunFolder, root: string, path: string): string {
  checkParents(root, path);
  const to = join(files, path);
  mkdirSync(dirname(to), { recursive: true });
  renameSync(join(root, path), to);
  return to;
}

/** A folder that the base does not have would be a new change once it is empty. */
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
