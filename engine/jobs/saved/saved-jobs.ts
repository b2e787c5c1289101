/** Adds, lists, changes and removes saved jobs. */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { DrayError, toDrayError } from '../../api/error.ts';
import type { SavedJobEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { formatSpan } from '../../api/text/numbers.ts';
import { systemClock } from '../../base/clock.ts';
import { requireWorkspace } from '../../workspace/workspace-folder.ts';
import { allowedBy } from '../session/user-remotes.ts';
import { parseCron } from './cron.ts';
import { nextDueMs } from './due-time.ts';
import {
  addJob,
  changeJobs,
  findJob,
  folderOf,
  isJobRunning,
  isSchedulerRunning,
  jobsFolder,
  listJobs,
  readJob,
  readJobState,
  removeJob,
  renameJob,
  writeJob,
} from './job-folder.ts';
import { readRunLog } from './run-log.ts';
import {
  checkJobName,
  type JobState,
  type Notices,
  refuseSecrets,
  type SavedJob,
  type Trigger,
  versionOf,
} from './saved-job.ts';

type Context = Pick<JobContext, 'environment' | 'emit'>;
export type JobDefinition = Pick<
  SavedJob,
  'name' | 'kind' | 'places' | 'arguments' | 'directory' | 'triggers'
>;

export interface SaveOptions {
  /** A job of this name is replaced. Its runs, pause and notices stay; a run under way keeps its settings. */
  readonly isReplacing?: boolean;
  /** The job that is replaced must still have this version (`versionOf`). */
  readonly version?: string;
  /** The present name of the job that is replaced, if it is renamed. Then it must not run. */
  readonly from?: string;
  /** Default: those that it has. Null: none. */
  readonly notices?: Notices | null;
}

/**
 * @throws `usage` for a name that is taken, a bad schedule, or a secret; `conflict` for another version;
 * `locked` when a job that runs is renamed
 */
export async function saveJob(
  context: Context,
  definition: JobDefinition,
  { from, isReplacing = false, notices: given, version }: SaveOptions = {},
): Promise<SavedJobEvent> {
  checkDefinition(definition);
  const name = from ?? definition.name;
  const folder = jobsFolder(context);
  const save = (): void => {
    const sinceMs = systemClock.nowMs();
    const before = version === undefined ? findJob(folder, name) : readJob(folder, name);
    if (!before || !isReplacing) {
      addJob(folder, { ...definition, isPaused: false, sinceMs, ...(given ? { notices: given } : {}) });
      return;
    }
    if (version !== undefined && versionOf(before) !== version) throw changedMeanwhile(name);
    // A new schedule begins now: what it would have started earlier was not missed.
    const isSameSchedule = isDeepStrictEqual(before.triggers, definition.triggers);
    const { isPaused } = before;
    const notices = given === undefined ? before.notices : given;
    writeJob(folder, {
      ...definition,
      name,
      isPaused,
      sinceMs: isSameSchedule ? before.sinceMs : sinceMs,
      ...(notices ? { notices } : {}),
    });
  };
  if (name === definition.name) await changeJobs(folder, save);
  else await renameJob(folder, { from: name, to: definition.name, prepare: save });
  return eventOf(folder, readJob(folder, definition.name));
}

/** @throws `notFound`, `locked` while it runs, or `usage` if the new name is bad or taken */
export async function renameSavedJob(context: Context, name: string, to: string): Promise<SavedJobEvent> {
  const folder = jobsFolder(context);
  await renameJob(folder, { from: name, to });
  return eventOf(folder, readJob(folder, to));
}

/** @throws `usage` for a bad name, a bad schedule, or a secret */
export function checkDefinition({ arguments: words, name, triggers }: JobDefinition): void {
  checkJobName(name);
  refuseSecrets(words);
  for (const trigger of triggers) if (trigger.on === 'cron') parseCron(trigger.expression);
}

/**
 * Checks that a command that works in a workspace has one. A folder that is missing may be on a disk that is
 * mounted later. @throws `notAWorkspace`
 */
export function checkWorkspace(
  context: Context,
  { directory, name }: { readonly directory: string; readonly name: string },
): void {
  if (!['copy', 'sync', 'check'].includes(name) && existsSync(directory))
    requireWorkspace(directory, allowedBy(context));
}

function changedMeanwhile(name: string): DrayError {
  return new DrayError('conflict', `The job "${name}" was changed meanwhile. Nothing was saved.`, {
    data: { name, reason: 'jobChanged' },
  });
}

/** Emits each job. */
export async function listSavedJobs(context: Context): Promise<{ jobs: number; isScheduled: boolean }> {
  const folder = jobsFolder(context);
  const onProblem = (error: unknown) =>
    context.emit({ type: 'warning', warning: 'savedJob', message: toDrayError(error).message });
  const jobs = listJobs(folder, onProblem);
  for (const job of jobs) {
    try {
      context.emit(await eventOf(folder, job));
    } catch (error) {
      onProblem(error);
    }
  }
  return { jobs: jobs.length, isScheduled: await isSchedulerRunning(folder) };
}

export interface KnownJob {
  readonly job: SavedJob;
  readonly state: JobState;
  readonly shown: SavedJobEvent;
}

/** All jobs at this moment. `problems` are sentences about those that cannot be read. */
export async function readSavedJobs(
  context: Pick<Context, 'environment'>,
): Promise<{ readonly jobs: readonly KnownJob[]; readonly problems: readonly string[] }> {
  const folder = jobsFolder(context);
  const problems: string[] = [];
  const onProblem = (error: unknown) => void problems.push(toDrayError(error).message);
  const jobs: KnownJob[] = [];
  for (const job of listJobs(folder, onProblem)) {
    try {
      const state = readJobState(folder, job.name);
      jobs.push({ job, state, shown: describe(job, state, await isJobRunning(folder, job.name)) });
    } catch (error) {
      onProblem(error);
    }
  }
  return { jobs, problems };
}

/** @throws `notFound` */
export async function showSavedJob(context: Context, name: string): Promise<SavedJobEvent> {
  const folder = jobsFolder(context);
  return eventOf(folder, readJob(folder, name));
}

/** Emits the newest lines. @throws `notFound` */
export function showJobLog(context: Context, name: string, linesMax: number): { lines: number } {
  const folder = jobsFolder(context);
  readJob(folder, name);
  const lines = readRunLog(folderOf(folder, name), linesMax);
  for (const line of lines) context.emit({ type: 'jobLog', ...line });
  return { lines: lines.length };
}

/** @throws `notFound`, or `locked` while it runs */
export async function removeSavedJob(context: Context, name: string): Promise<{ name: string }> {
  await removeJob(jobsFolder(context), name);
  return { name };
}

/** A paused job does not catch up missed runs. @throws `notFound` */
export function pauseSavedJob(context: Context, name: string, isPaused: boolean): Promise<SavedJobEvent> {
  return changeSavedJob(context, name, (job) => {
    const sinceMs = job.isPaused && !isPaused ? systemClock.nowMs() : job.sinceMs;
    return { ...job, isPaused, sinceMs };
  });
}

/** @throws `notFound` */
export function setNotices(
  context: Context,
  name: string,
  notices: Notices | undefined,
): Promise<SavedJobEvent> {
  return changeSavedJob(context, name, ({ notices: _, ...job }) => (notices ? { ...job, notices } : job));
}

async function changeSavedJob(
  context: Context,
  name: string,
  change: (job: SavedJob) => SavedJob,
): Promise<SavedJobEvent> {
  const folder = jobsFolder(context);
  const changed = await changeJobs(folder, () => {
    const job = change(readJob(folder, name));
    writeJob(folder, job);
    return job;
  });
  return describe(changed, readJobState(folder, name), false);
}

async function eventOf(folder: string, job: SavedJob): Promise<SavedJobEvent> {
  return describe(job, readJobState(folder, job.name), await isJobRunning(folder, job.name));
}

function describe(job: SavedJob, state: JobState, isRunning: boolean): SavedJobEvent {
  const nextMs = nextDueMs(job, state, systemClock.nowMs());
  const [last] = state.runs;
  const moment = (timeMs: number) => new Date(timeMs).toISOString();
  const lastResult = last?.result === 'running' ? (isRunning ? undefined : 'interrupted') : last?.result;
  return {
    type: 'job',
    name: job.name,
    arguments: job.arguments,
    directory: job.directory,
    triggers: job.triggers.map(describeTrigger),
    state: isRunning ? 'running' : job.isPaused ? 'paused' : 'idle',
    waits: isRunning ? '' : whyItWaits(job, nextMs),
    ...(nextMs === undefined || isRunning ? {} : { nextRun: moment(nextMs) }),
    ...(last ? { lastRun: moment(last.startedMs) } : {}),
    ...(lastResult ? { lastResult } : {}),
    ...(last?.message === undefined ? {} : { lastMessage: last.message }),
    ...(state.lastSuccessMs === undefined ? {} : { lastSuccess: moment(state.lastSuccessMs) }),
    ...(isRunning && state.progress ? { progress: state.progress } : {}),
  };
}

function whyItWaits({ isPaused, triggers }: SavedJob, nextMs: number | undefined): string {
  if (isPaused) return 'It is paused.';
  if (triggers.length === 0) return 'It runs by "dray job run".';
  return nextMs === undefined ? `It waits: ${triggers.map(describeTrigger).join(', ')}.` : 'It is not due.';
}

function describeTrigger(trigger: Trigger): string {
  switch (trigger.on) {
    case 'every':
      return `every ${formatSpan(trigger.everyMs)}`;
    case 'cron':
      return `cron ${trigger.expression}`;
    case 'change':
      return `on change of ${trigger.folder}`;
    case 'mount':
      return `on mount of ${trigger.path}`;
    case 'login':
      return 'at login';
  }
}
