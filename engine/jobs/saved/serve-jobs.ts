/** Runs due jobs until it is stopped. Then running jobs are stopped, and continue when they run again. */
import { existsSync } from 'node:fs';
import { toDrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import type { RunDray } from './dray-process.ts';
import { jobsFolder, lockScheduler } from './job-folder.ts';
import { beginLogin } from './login-record.ts';
import type { RunStart } from './saved-job.ts';
import { runScheduler } from './scheduler.ts';
import { noticeStaleness } from './staleness.ts';

const PROBLEMS_MAX = 1_000;

export interface ServeJobsRequest {
  readonly run: RunDray;
  /** Started by a login: jobs that run at login are due. */
  readonly isLogin: boolean;
  /** Called with true once no other process can start jobs, and with false at the end of that. */
  readonly onServing?: (isServing: boolean) => void;
}

export interface ServedJobs {
  readonly runs: number;
  readonly failedRuns: number;
}

/** Nobody else starts jobs for this long before a window does. */
const WINDOW_PAUSE_MS = 30_000;
/** Between two looks whether there is a job at all. */
const EMPTY_PAUSE_MS = 2_000;

/**
 * Beside a window: does the same whenever no other process does, from the first job on. Resolves after the
 * signal; what fails is a warning.
 */
export async function serveJobsBeside(
  context: Pick<JobContext, 'emit' | 'environment' | 'signal'>,
  request: ServeJobsRequest,
): Promise<void> {
  const { emit, signal } = context;
  let told = '';
  let { isLogin } = request;
  while (!signal.aborted) {
    if (!existsSync(jobsFolder(context))) {
      isLogin = false;
      await systemClock.sleep(EMPTY_PAUSE_MS, signal).catch(() => {});
      continue;
    }
    try {
      await serveJobs(context, { ...request, isLogin });
      isLogin = false;
    } catch (error) {
      const { code, message } = toDrayError(error);
      // The process that starts jobs now has seen the login, too.
      if (code === 'locked') isLogin = false;
      // It may pass, as a full disk does. Jobs must not stay undone until the window is opened again.
      if (code !== 'locked' && message !== told) {
        told = message;
        emit({ type: 'warning', warning: 'savedJob', message });
      }
    }
    await systemClock.sleep(WINDOW_PAUSE_MS, signal).catch(() => {});
  }
}

/** @throws `locked` while another process does this */
export async function serveJobs(
  context: Pick<JobContext, 'emit' | 'environment' | 'signal'>,
  { isLogin, onServing, run: runDray }: ServeJobsRequest,
): Promise<ServedJobs> {
  const { emit, signal } = context;
  const folder = jobsFolder(context);
  const clock = systemClock;
  // Before the lock: whoever starts this one again after another process has ended is no login.
  const isFirst = isLogin && beginLogin(folder);
  const lock = await lockScheduler(folder, 'job serve');
  let runs = 0;
  let failedRuns = 0;
  const run = async (name: string, by: RunStart) => {
    runs += 1;
    emit({ type: 'jobRun', name, by, state: 'started' });
    // Read at each run: a window's keys may have changed.
    const { environment } = context;
    const words = ['job', 'run', name, '--by', by, '--quiet'];
    const { exitCode } = await runDray({ words, environment, signal, takesOutput: false });
    if (exitCode !== 0) failedRuns += 1;
    emit({ type: 'jobRun', name, by, state: 'ended', exitCode });
    return exitCode;
  };
  // Each look meets the same problem again; a person reads it once.
  const told = new Set<string>();
  const onProblem = (error: unknown) => {
    const { message } = toDrayError(error);
    if (told.has(message) || told.size >= PROBLEMS_MAX) return;
    told.add(message);
    emit({ type: 'warning', warning: 'savedJob', message });
  };
  const onLook = noticeStaleness({ folder, clock, environment: context.environment, signal });
  onServing?.(true);
  try {
    await runScheduler({ folder, clock, signal, run, isLogin: isFirst, onProblem, onLook });
  } finally {
    onServing?.(false);
    lock.release();
  }
  return { runs, failedRuns };
}
