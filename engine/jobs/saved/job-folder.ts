/**
 * Saved jobs on disk: a folder for each in `jobs/` beside the user's settings. `job.json` is the definition,
 * `state.json` the runs, `log.jsonl` the log, `lock` the run in progress. Files are replaced whole.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts';
import { lockWorkspace, type WorkspaceLock } from '../../workspace/workspace-lock.ts';
import { userConfigPath } from '../session/user-remotes.ts';
import { checkJobName, isJobName, JOB_STATE, type JobState, SAVED_JOB, type SavedJob } from './saved-job.ts';

const JOBS_MAX = 1_000;
const SCHEDULER_LOCK = '.scheduler.lock';
const CHANGE_LOCK = '.change.lock';
const CHANGE_PATIENCE_MS = 10_000;

export function jobsFolder(context: Pick<JobContext, 'environment'>): string {
  return join(dirname(userConfigPath(context)), 'jobs');
}

export function folderOf(folder: string, name: string): string {
  checkJobName(name);
  return join(folder, name);
}

/**
 * In the order of their names. A job that cannot be read is left out, so that it stops no other; `onProblem`
 * gets its error. @throws `io` for the folder of all
 */
export function listJobs(folder: string, onProblem: (error: unknown) => void = () => {}): SavedJob[] {
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isJobName(entry.name))
      .map(({ name }) => name);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new DrayError('io', `${folder} cannot be read.`, { data: { path: folder }, cause });
  }
  return names.sort().flatMap((name) => {
    try {
      return findJob(folder, name) ?? [];
    } catch (error) {
      onProblem(error);
      return [];
    }
  });
}

/**
 * Undefined if there is none. Its folder names it: a copied folder is another job.
 * @throws `usage` when its file is damaged, or others can write it
 */
export function findJob(folder: string, name: string): SavedJob | undefined {
  const path = join(folderOf(folder, name), 'job.json');
  const job = readJsonFile(path, SAVED_JOB, { check: checkWriters, onDamaged: refuseDamaged });
  return job && { ...job, name };
}

/** Anyone who can write the file decides what this user runs. @throws `usage` if others can */
function checkWriters(path: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  const own = process.getuid?.();
  if (own === undefined || ((uid === own || uid === 0) && (mode & 0o022) === 0)) return;
  const message = `The file of a job can be changed by other users: ${path}. Check it, then make it your own with "chown" and "chmod 600".`;
  throw new DrayError('usage', message, { data: { path } });
}

/** To set the file aside would remove the job silently. @throws `usage` */
function refuseDamaged(path: string, cause: unknown): never {
  const message = `The file of a job is damaged: repair ${path}, or delete it.`;
  throw new DrayError('usage', message, { data: { path }, cause });
}

/** @throws `notFound` */
export function readJob(folder: string, name: string): SavedJob {
  const job = findJob(folder, name);
  if (job) return job;
  throw new DrayError('notFound', `There is no job "${name}".`, {
    data: { name },
    advice: '"dray job list" shows them.',
  });
}

/**
 * Definitions are changed one after the other, also by several processes: a change reads the one before.
 * @throws `locked`
 */
export async function changeJobs<T>(folder: string, change: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const waits = { what: 'The list of jobs', command: 'job', patienceMs: CHANGE_PATIENCE_MS };
  using _lock = await lockPath(join(folder, CHANGE_LOCK), waits);
  return change();
}

/** @throws `usage` if the name is taken */
export function addJob(folder: string, job: SavedJob): void {
  if (findJob(folder, job.name))
    throw new DrayError('usage', `The job "${job.name}" exists.`, {
      advice: 'Use another name, or replace it with "--replace".',
    });
  if (listJobs(folder).length >= JOBS_MAX)
    throw new DrayError('usage', `There are ${JOBS_MAX} jobs. Remove one first.`);
  writeJob(folder, job);
}

export function writeJob(folder: string, job: SavedJob): void {
  writeJsonFile(join(folderOf(folder, job.name), 'job.json'), job);
}

/** Not while it runs. @throws `notFound`, `locked` */
export async function removeJob(folder: string, name: string): Promise<void> {
  readJob(folder, name);
  const lock = await lockJob(folder, name, 'job remove');
  // In one step, so that a kill in between leaves no half of a job.
  const aside = join(folder, `.removed-${randomUUID()}`);
  try {
    await changeJobs(folder, () => renameSync(join(folder, name), aside));
  } finally {
    lock.release();
  }
  rmSync(aside, { recursive: true, force: true });
}

/**
 * Its folder is its name, and takes runs, log and notices along in one step. Not while it runs, because the
 * run writes into that folder.
 * @param prepare Runs before, under both locks.
 * @throws `notFound`, `locked`, or `usage` if the new name is taken
 */
export async function renameJob(
  folder: string,
  { from, to, prepare = () => {} }: { readonly from: string; readonly to: string; prepare?: () => void },
): Promise<void> {
  checkJobName(to);
  readJob(folder, from);
  using lock = await lockJob(folder, from, 'job rename');
  await changeJobs(folder, () => {
    refuseTaken(folder, to);
    prepare();
    renameSync(join(folder, from), join(folder, to));
    // The lock has moved along, so its release would not find it.
    rmSync(join(folder, to, 'lock'), { force: true });
    lock.release();
  });
}

/** Files without a definition, as of a job that was taken away by hand, would mix with those of the job. */
function refuseTaken(folder: string, name: string): void {
  const path = join(folder, name);
  const isFree = !existsSync(path) || readdirSync(path).length === 0;
  if (isFree) return;
  const message = findJob(folder, name)
    ? `There is a job "${name}" already. Choose another name.`
    : `${path} holds files of a job that is gone. Delete it, or choose another name.`;
  throw new DrayError('usage', message, { data: { name, path } });
}

/** A damaged state counts as none: it is history, and must not stop the job. */
export function readJobState(folder: string, name: string): JobState {
  const path = join(folderOf(folder, name), 'state.json');
  return readJsonFile(path, JOB_STATE, { onDamaged: () => undefined }) ?? { runs: [] };
}

export function writeJobState(folder: string, name: string, state: JobState): void {
  writeJsonFile(join(folderOf(folder, name), 'state.json'), state);
}

/** One run at a time, also between processes. @throws `locked` */
export function lockJob(folder: string, name: string, command: string): Promise<WorkspaceLock> {
  return lockPath(join(folderOf(folder, name), 'lock'), { what: `The job "${name}"`, command });
}

/** One scheduler at a time. @throws `locked` */
export function lockScheduler(folder: string, command: string): Promise<WorkspaceLock> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return lockPath(join(folder, SCHEDULER_LOCK), { what: 'The schedule of jobs', command });
}

/** Whether a run of the job is in progress, in any process. */
export async function isJobRunning(folder: string, name: string): Promise<boolean> {
  return isHeld(join(folderOf(folder, name), 'lock'), () => lockJob(folder, name, 'job list'));
}

export async function isSchedulerRunning(folder: string): Promise<boolean> {
  return isHeld(join(folder, SCHEDULER_LOCK), () => lockScheduler(folder, 'job list'));
}

/** Takes no free lock: a run that starts at this moment would find it held. */
async function isHeld(path: string, lock: () => Promise<WorkspaceLock>): Promise<boolean> {
  if (!existsSync(path)) return false;
  try {
    (await lock()).release();
    return false;
  } catch (error) {
    if (error instanceof DrayError && error.code === 'locked') return true;
    throw error;
  }
}

function lockPath(
  path: string,
  options: { readonly what: string; readonly command: string; readonly patienceMs?: number },
): Promise<WorkspaceLock> {
  const signal = new AbortController().signal;
  return lockWorkspace({ path, signal, clock: systemClock, patienceMs: 0, onWait: () => {}, ...options });
}
