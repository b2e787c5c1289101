/** Runs due jobs until it is stopped, which also stops running jobs. They resume at their next run. */
import { existsSync } from 'node:fs';
import { toDrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
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
  /** True if a login started it, so jobs that run at login are due. */
  readonly isLogin: boolean;
  /** Called with true when this process becomes the only one that starts jobs, and with false at the end. */
  readonly onServing?: (isServing: boolean) => void;
}

export interface ServedJobs {
  readonly runs: number;
  readonly failedRuns: number;
}

/** A window takes over after no other process has started jobs for this time. */
const WINDOW_PAUSE_MS = 30_000;
/** The pause between two checks for the first job. */
const EMPTY_PAUSE_MS = 2_000;

/**
 * The same beside a window: runs due jobs while no other process does, once there is a job. Resolves after
 * the signal. Errors become warnings.
 */
export async function serveJobsBeside(
  context: Pick<JobContext, 'emit' | 'environment' | 'signal'>,
  request: ServeJobsRequest,
): Promise<void> {
  const { emit, signal } = context;
  let reported = '';
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
      // The process that starts jobs now has handled the login too.
      if (code === 'locked') isLogin = false;
      // Other errors may be temporary, such as a full disk, so it tries again.
      if (code !== 'locked' && message !== reported) {
        reported = message;
        emit({ type: 'warning', warning: 'savedJob', message });
      }
    }
    await systemClock.sleep(WINDOW_PAUSE_MS, signal).catch(() => {});
  }
}

/** @throws `locked` while another process runs due jobs */
export async function serveJobs(
  context: Pick<JobContext, 'emit' | 'environment' | 'signal'>,
  { isLogin, onServing, run: runDray }: ServeJobsRequest,
): Promise<ServedJobs> {
  const { emit, signal } = context;
  const folder = jobsFolder(context);
  const clock = systemClock;
  // Recorded before the lock: a later start, once the other process has ended, does not count as a login.
  const isFirst = isLogin && beginLogin(folder);
  const lock = await lockScheduler(folder, 'job serve');
  let runs = 0;
  let failedRuns = 0;
  const run = async (name: string, by: RunStart) => {
    runs += 1;
    emit({ type: 'jobRun', name, by, state: 'started' });
    // A getter, so each run has the current keys of the window.
    const { environment } = context;
    const words = ['job', 'run', name, '--by', by, '--quiet'];
    const { exitCode } = await runDray({ words, environment, signal, takesOutput: false });
    if (exitCode !== 0) failedRuns += 1;
    emit({ type: 'jobRun', name, by, state: 'ended', exitCode });
    return exitCode;
  };
  // Each check meets the same problem, which is reported once.
  const reported = new Set<string>();
  const onProblem = (error: unknown) => {
    const { message } = toDrayError(error);
    if (reported.has(message) || reported.size >= PROBLEMS_MAX) return;
    reported.add(message);
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
