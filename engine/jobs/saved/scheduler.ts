/**
 * Starts saved jobs when they are due: by their schedules, on changes of a folder, at the mount of a disk, or
 * at login. Each run is a process of its own (`dray job run`), which holds the job's lock.
 *
 * The wall clock is read every few seconds, so missed runs start once after the machine slept or its clock
 * was set. One scheduler runs at a time (`lockScheduler`).
 */
import type { Clock } from '../../base/clock.ts';
import { watchFolder } from '../../files/watch/watch-folder.ts';
import { nextDueMs } from './due-time.ts';
import { listJobs, readJobState } from './job-folder.ts';
import { type MountedDisk, readMountedDisk, wasMounted } from './mounted-disk.ts';
import type { RunStart, SavedJob } from './saved-job.ts';

export interface SchedulerOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Runs the job in a process of its own. Resolves to its exit code. */
  readonly run: (name: string, by: RunStart) => Promise<number>;
  /** True for the first scheduler after a login. */
  readonly isLogin: boolean;
  /** Called for a job that cannot be read or started. Other jobs are not affected. */
  readonly onProblem: (error: unknown) => void;
  /** Called at each check of a job, also while it runs, because a run may hang for days. */
  readonly onLook?: (job: SavedJob) => Promise<void>;
}

const LOOK_EVERY_MS = 5_000;
const RUNS_AT_ONCE = 4;
/** The pause before a run that could not start is retried. */
const FAILED_START_PAUSE_MS = 60_000;
/** The pause before a failed run on change is retried. It doubles each time. */
const RETRY_PAUSE_MS = 60_000;
const RETRY_PAUSE_MS_MAX = 3_600_000;

interface Watched {
  readonly key: string;
  readonly stopping: AbortController;
}

/** Resolves after the signal, when every run has ended. */
export async function runScheduler(options: SchedulerOptions): Promise<void> {
  const scheduler = new Scheduler(options);
  const { clock, signal } = options;
  while (!signal.aborted) {
    await scheduler.look();
    await Promise.race([clock.sleep(LOOK_EVERY_MS, signal).catch(() => {}), scheduler.news()]);
  }
  await scheduler.close();
}

class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** The jobs that an event has requested, not a schedule. */
  readonly #wanted = new Map<string, RunStart>();
  readonly #watched = new Map<string, Watched>();
  readonly #mounts = new Map<string, MountedDisk>();
  readonly #notBeforeMs = new Map<string, number>();
  readonly #retryAtMs = new Map<string, number>();
  /** The messages already reported. A damaged file fails each check, and is reported once. */
  readonly #reportedProblems = new Set<string>();
  #news = Promise.withResolvers<void>();
  #isFirst = true;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Resolves when something has happened that `look` should see at once. */
  news(): Promise<void> {
    return this.#news.promise;
  }

  async look(): Promise<void> {
    const { folder, isLogin, onLook, onProblem } = this.#options;
    this.#news = Promise.withResolvers();
    let jobs: SavedJob[];
    try {
      jobs = this.#listJobs(folder);
    } catch (error) {
      onProblem(error);
      return;
    }
    const names = new Set(jobs.map(({ name }) => name));
    for (const [key, { stopping }] of this.#watched) if (!names.has(key)) stopping.abort();
    for (const job of jobs) {
      try {
        this.#watch(job);
        this.#checkMounts(job);
        if (this.#isFirst && isLogin && job.triggers.some(({ on }) => on === 'login'))
          this.#want(job.name, 'login');
        await onLook?.(job);
        this.#startIfDue(job);
      } catch (error) {
        onProblem(error);
      }
    }
    this.#isFirst = false;
  }

  #listJobs(folder: string): SavedJob[] {
    const problems = new Map<string, unknown>();
    const jobs = listJobs(folder, (error) => problems.set(String(error), error));
    for (const [text, error] of problems)
      if (!this.#reportedProblems.has(text)) this.#options.onProblem(error);
    this.#reportedProblems.clear();
    for (const text of problems.keys()) this.#reportedProblems.add(text);
    return jobs;
  }

  async close(): Promise<void> {
    for (const { stopping } of this.#watched.values()) stopping.abort();
    await Promise.all(this.#running.values());
  }

  #want(name: string, by: RunStart): void {
    this.#wanted.set(name, by);
    this.#news.resolve();
  }

  #startIfDue(job: SavedJob): void {
    const { clock, folder } = this.#options;
    const { name } = job;
    if (job.isPaused || !isTrigger(job, this.#wanted.get(name))) this.#wanted.delete(name);
    if (!isTrigger(job, 'change')) this.#retryAtMs.delete(name);
    if (this.#running.has(name) || this.#running.size >= RUNS_AT_ONCE || job.isPaused) return;
    const nowMs = clock.nowMs();
    const notBeforeMs = this.#notBeforeMs.get(name) ?? 0;
    // A clock that was set back must not hold a job up.
    if (nowMs < notBeforeMs && notBeforeMs - nowMs <= FAILED_START_PAUSE_MS) return;
    const retryAtMs = this.#retryAtMs.get(name);
    if (retryAtMs !== undefined && (retryAtMs <= nowMs || retryAtMs - nowMs > RETRY_PAUSE_MS_MAX))
      this.#want(name, 'change');
    const dueMs = nextDueMs(job, readJobState(folder, name), nowMs);
    const by = this.#wanted.get(name) ?? (dueMs !== undefined && dueMs <= nowMs ? 'schedule' : undefined);
    if (by !== undefined) this.#start(name, by);
  }

  #start(name: string, by: RunStart): void {
    const { folder, onProblem, run } = this.#options;
    this.#wanted.delete(name);
    this.#retryAtMs.delete(name);
    const before = readJobState(folder, name).runs[0]?.startedMs;
    const ended = run(name, by)
      .catch(onProblem)
      .then(() => {
        this.#running.delete(name);
        this.#tryAgainLater(name, by, before);
        this.#news.resolve();
      })
      .catch(onProblem);
    this.#running.set(name, ended);
  }

  /**
   * A request is kept if its run could not start, such as while the user runs the job. A change is also kept
   * if the run failed, because no other change may follow. A schedule recurs by itself.
   */
  #tryAgainLater(name: string, by: RunStart, startedBeforeMs: number | undefined): void {
    const { clock, folder } = this.#options;
    const { runs } = readJobState(folder, name);
    if (runs[0]?.startedMs === startedBeforeMs) {
      this.#notBeforeMs.set(name, clock.nowMs() + FAILED_START_PAUSE_MS);
      if (by !== 'schedule' && !this.#wanted.has(name)) this.#wanted.set(name, by);
    } else if (by === 'change' && runs[0]?.result === 'failed') {
      const works = runs.findIndex(({ result }) => result !== 'failed');
      const failures = works < 0 ? runs.length : works;
      const pauseMs = Math.min(RETRY_PAUSE_MS_MAX, RETRY_PAUSE_MS * 2 ** (failures - 1));
      this.#retryAtMs.set(name, clock.nowMs() + pauseMs);
    }
  }

  /** Changes before the watch are unknown, so the job runs when the watch starts. */
  #watch(job: SavedJob): void {
    const trigger = job.triggers.find(({ on }) => on === 'change');
    const wanted = trigger?.on === 'change' && !job.isPaused ? trigger : undefined;
    const key = wanted ? `${wanted.settleMs} ${wanted.folder}` : '';
    const watched = this.#watched.get(job.name);
    if ((watched?.key ?? '') === key && !watched?.stopping.signal.aborted) return;
    watched?.stopping.abort();
    this.#watched.delete(job.name);
    if (!wanted) return;
    const stopping = new AbortController();
    this.#watched.set(job.name, { key, stopping });
    const begun = watchFolder({
      root: wanted.folder,
      settleMs: wanted.settleMs,
      onChange: () => this.#want(job.name, 'change'),
      onLost: (isWatched) => {
        if (isWatched) this.#want(job.name, 'change');
      },
      signal: stopping.signal,
    });
    void begun.then(() => {
      if (!stopping.signal.aborted) this.#want(job.name, 'change');
    });
  }

  #checkMounts(job: SavedJob): void {
    for (const trigger of job.triggers) {
      if (trigger.on !== 'mount') continue;
      const key = `${job.name} ${trigger.path}`;
      const now = readMountedDisk(trigger.path);
      if (wasMounted(this.#mounts.get(key), now)) this.#want(job.name, 'mount');
      this.#mounts.set(key, now);
    }
  }
}

/** The job may have been edited since its run was requested. */
function isTrigger({ triggers }: SavedJob, by: RunStart | undefined): boolean {
  return triggers.some(({ on }) => on === by);
}
