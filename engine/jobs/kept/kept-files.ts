/** `dray kept`: lists, restores and removes the local files that pulls and restores overwrote. */
import { renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError, toErrorRecord } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { KeptFilesSummary, KeptRun, PutBackSummary } from '../../api/jobs/kept-files.ts';
import { openTreeWriter } from '../../files/write/tree-writer.ts';
import { errnoOf, writeError } from '../../files/write/write-error.ts';
import { requireWorkspace, type WorkspaceFolder } from '../../workspace/workspace-folder.ts';
import { openSession } from '../session/open-workspace.ts';
import { allowedBy } from '../session/user-remotes.ts';
import { filesOfRun, KEPT_DAYS, type KeptRunFolder, listRuns, removeRun, wordsOfRun } from './kept-folder.ts';
import { openLocalKeeper, statIfThere } from './local-keeper.ts';
import { renameAgain } from './undo-renames.ts';

const RUNS_LISTED_MAX = 1_000;
const PATHS_LISTED_MAX = 1_000;
const PATHS_PER_SYNC = 256;

/** The newest run first. */
export async function listKept(context: JobContext): Promise<KeptFilesSummary> {
  const workspace = requireWorkspace(context.directory, allowedBy(context));
  const runs = listRuns(workspace).map((run) => describeRun(workspace, run));
  const filled = runs.filter(({ files }) => files > 0);
  return {
    runs: filled.slice(0, RUNS_LISTED_MAX),
    files: filled.reduce((sum, { files }) => sum + files, 0),
    bytes: filled.reduce((sum, { bytes }) => sum + bytes, 0),
    days: KEPT_DAYS,
  };
}

function describeRun({ root }: WorkspaceFolder, run: KeptRunFolder): KeptRun {
  const paths: string[] = [];
  let files = 0;
  let bytes = 0;
  for (const path of filesOfRun(run)) {
    const stat = statIfThere(join(run.files, path));
    const live = statIfThere(join(root, path));
    // The same file under both names: the run was killed before it replaced the file.
    if (!stat || (live?.ino === stat.ino && live.dev === stat.dev)) continue;
    files += 1;
    bytes += Number(stat.size);
    if (paths.length < PATHS_LISTED_MAX) paths.push(path);
  }
  return {
    id: run.id,
    time: new Date(run.atMs).toISOString(),
    command: wordsOfRun(run),
    files,
    bytes,
    paths,
  };
}

/** Moves files of a run back to their paths. The files that they replace go to the bin. */
export async function putBackKept(
  context: JobContext,
  { id, paths }: { readonly id: string; readonly paths?: readonly string[] },
): Promise<PutBackSummary> {
  using session = await openSession(context, 'kept restore');
  const { workspace } = session;
  const run = findRun(workspace, id);
  const wanted = paths === undefined ? undefined : new Set(paths);
  const found = [...filesOfRun(run)].filter((path) => !wanted || wanted.has(path));
  const missing = paths?.find((path) => !found.includes(path));
  if (missing !== undefined) throw notKept(`${missing} is not among the files of ${id}`);
  const keeper = openLocalKeeper({ session, words: `kept restore ${id}` });
  const { root, temporaryFolder } = workspace;
  const writer = openTreeWriter({ root, temporaryFolder, signal: context.signal });
  let failed = 0;
  try {
    const tryEach = (paths: readonly string[], work: (path: string) => void): readonly string[] =>
      paths.filter((path) => {
        try {
          work(path);
          return true;
        } catch (error) {
          if (context.signal.aborted) throw error;
          failed += 1;
          context.emit({ type: 'fileFailed', path, error: toErrorRecord(writeError(error, path)) });
          return false;
        }
      });
    for (let at = 0; at < found.length; at += PATHS_PER_SYNC) {
      const ready = tryEach(found.slice(at, at + PATHS_PER_SYNC), (path) => {
        if (path.includes('/')) writer.makeFolder(`${dirname(path)}/`);
        keeper.keep(path);
      });
      await keeper.sync();
      tryEach(ready, (path) => {
        renameSync(join(run.files, path), join(root, path));
        removeEmptyAbove(run, path);
      });
    }
  } finally {
    await writer.close();
  }
  const settled = keeper.settle();
  const again = paths === undefined ? renameAgain(session, run) : { renamed: 0, failed: 0 };
  failed += again.failed;
  const restored = found.length - failed + again.renamed + again.failed;
  if (filesOfRun(run).next().done && again.failed === 0) removeRun(run);
  return { restored, failed, ...(settled.kept ? { kept: settled.kept } : {}) };
}

/** Empties the bin, or removes one run of it. */
export async function clearKept(
  context: JobContext,
  { id }: { readonly id?: string } = {},
): Promise<{ readonly removed: number }> {
  using session = await openSession(context, 'kept clear');
  const runs = id === undefined ? listRuns(session.workspace) : [findRun(session.workspace, id)];
  for (const run of runs) removeRun(run);
  return { removed: runs.length };
}

function findRun(workspace: WorkspaceFolder, id: string): KeptRunFolder {
  const run = listRuns(workspace).find((one) => one.id === id);
  if (run) return run;
  throw notKept(`No run of the kept files has the id ${id}`);
}

function notKept(what: string): DrayError {
  return new DrayError('notFound', `${what}.`, { advice: '"dray kept" lists them.' });
}

function removeEmptyAbove({ files }: KeptRunFolder, path: string): void {
  try {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) rmdirSync(join(files, folder));
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
  }
}
