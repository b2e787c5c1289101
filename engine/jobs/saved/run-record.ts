/**
 * One run of a saved job: its lock, its place in the state, its log. The run is recorded as running before
 * the command starts. A process that is killed leaves that record and a lock that the next run takes over.
 */
import type { ErrorRecord } from '../../api/error.ts';
import type { JobEvent } from '../../api/events.ts';
import type { Clock } from '../../base/clock.ts';
import { folderOf, lockJob, readJob, readJobState, writeJobState } from './job-folder.ts';
import { openRunLog } from './run-log.ts';
import { type JobRun, type JobState, type RunStart, type SavedJob, versionOf } from './saved-job.ts';

const RUNS_MAX = 50;
const PROGRESS_EVERY_MS = 5_000;
/** Bounds the lines of one run, so the log keeps earlier runs. */
const LOGGED_PROBLEMS_MAX = 200;
const MESSAGE_CHARACTERS_MAX = 500;

export interface RunEnd {
  readonly exitCode: number;
  readonly isStopped: boolean;
  /** The command's summary, or its error. */
  readonly message: string;
}

export interface RunRecord {
  readonly job: SavedJob;
  /** The runs before this one, the newest first. */
  readonly before: readonly JobRun[];
  note(event: JobEvent): void;
  /** Releases the lock. Idempotent. */
  end(end: RunEnd): JobState;
}

/** @throws `notFound`, or `locked` when the job runs already */
export async function beginRun(
  folder: string,
  name: string,
  { by, clock }: { readonly by: RunStart; readonly clock: Clock },
): Promise<RunRecord> {
  // Checked first, because the lock would create the folder of a missing job.
  readJob(folder, name);
  const lock = await lockJob(folder, name, `job run ${name}`);
  try {
    const job = readJob(folder, name);
    const log = openRunLog(folderOf(folder, name), clock);
    const earlier = readJobState(folder, name);
    const before = earlier.runs.map((run) => (run.result === 'running' ? interrupted(run) : run));
    const run: JobRun = { startedMs: clock.nowMs(), result: 'running', by, version: versionOf(job) };
    const { lastSuccessMs } = earlier;
    const known = lastSuccessMs === undefined ? {} : { lastSuccessMs };
    let state: JobState = { ...known, runs: [run, ...before].slice(0, RUNS_MAX) };
    writeJobState(folder, name, state);
    log.write('started', `Started by ${by}: dray ${job.arguments.join(' ')}`);
    const notes = createNotes(clock, {
      log: (kind, text) => log.write(kind, text),
      progress: (progress) => writeJobState(folder, name, { ...state, progress }),
    });
    let isEnded = false;
    return {
      job,
      before,
      note: notes.take,
      end({ exitCode, isStopped, message }) {
        if (isEnded) return state;
        isEnded = true;
        const result = isStopped ? 'stopped' : exitCode === 0 ? 'done' : 'failed';
        const text = message.slice(0, MESSAGE_CHARACTERS_MAX);
        const ended: JobRun = { ...run, result, exitCode, endedMs: clock.nowMs(), message: text };
        const success = result === 'done' ? { lastSuccessMs: clock.nowMs() } : known;
        state = { ...success, runs: [ended, ...before].slice(0, RUNS_MAX) };
        try {
          writeJobState(folder, name, state);
          log.write('ended', `${result}, exit code ${exitCode}. ${text}`);
        } finally {
          lock.release();
        }
        return state;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The result of a run whose process was killed, or whose machine stopped. */
function interrupted(run: JobRun): JobRun {
  return { ...run, result: 'failed', message: 'The process ended before the run did.' };
}

type Progress = NonNullable<JobState['progress']>;

function createNotes(
  clock: Clock,
  to: {
    readonly log: (kind: 'warning' | 'error', text: string) => void;
    readonly progress: (progress: Progress) => void;
  },
) {
  let problems = 0;
  let writtenMs = clock.monotonicMs();
  let last: { readonly atMs: number; readonly bytes: number } | undefined;
  const problem = (kind: 'warning' | 'error', text: string) => {
    problems += 1;
    if (problems <= LOGGED_PROBLEMS_MAX) to.log(kind, text);
    else if (problems === LOGGED_PROBLEMS_MAX + 1) to.log(kind, 'There are more; they are left out here.');
  };
  return {
    take(event: JobEvent): void {
      if (event.type === 'warning') problem('warning', event.message);
      else if (event.type === 'fileFailed') problem('error', describeFailure(event.path, event.error));
      if (event.type !== 'progress') return;
      const nowMs = clock.monotonicMs();
      last ??= { atMs: nowMs, bytes: event.wireBytes ?? event.bytesDone };
      if (nowMs - writtenMs < PROGRESS_EVERY_MS) return;
      writtenMs = nowMs;
      const { bytesDone, bytesTotal, filesDone, filesTotal, isCounting, phase, underWay, wireBytes } = event;
      const moved = (wireBytes ?? bytesDone) - last.bytes;
      const bytesPerSecond = Math.max(0, (moved * 1000) / Math.max(1, nowMs - last.atMs));
      last = { atMs: nowMs, bytes: wireBytes ?? bytesDone };
      try {
        to.progress({
          ...{ phase, filesDone, bytesDone, bytesPerSecond },
          ...(filesTotal === undefined ? {} : { filesTotal }),
          ...(bytesTotal === undefined ? {} : { bytesTotal }),
          ...(isCounting ? { isCounting } : {}),
          ...(underWay?.[0] ? { path: underWay[0].path } : {}),
        });
      } catch {
        // A full disk must not end a run that works.
      }
    },
  };
}

function describeFailure(path: string, { message }: ErrorRecord): string {
  return message.includes(path) ? message : `${path}: ${message}`;
}
