/** Tracks the work that keeps Dray open without a window: transfers, and saved jobs that it starts. */
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { findJobEndings } from '../../engine/api/text/job-endings.ts';
import type { Ending } from '../../engine/api/text/transfer-endings.ts';
import { systemClock } from '../../engine/base/clock.ts';
import type { TrayJobs } from './window/tray.ts';

export interface Work {
  /** @returns The list before this one; undefined at first. */
  updateTransfers(now: readonly Transfer[]): readonly Transfer[] | undefined;
  /** @returns The endings for notifications, and the counts for the tray. */
  updateJobs(now: SavedJobList): { readonly endings: readonly Ending[]; readonly counts: TrayJobs };
  /** Called when the engine has stopped for good: no work is left. */
  forget(): void;
  hasTransfers(): boolean;
  hasJobs(): boolean;
  /** Called when the last window closes. From then on, an unread list of transfers keeps nothing open. */
  noteWindowsClosed(): void;
  /** True once the engine has reported its jobs and transfers. */
  isKnown(): boolean;
  /** False until the engine has reported its jobs, because some may wait. */
  mayQuit(): boolean;
}

const NO_JOBS: TrayJobs = { waiting: 0, running: 0 };

export function createWork(): Work {
  const startedMs = systemClock.nowMs();
  let transfers: readonly Transfer[] | undefined;
  let jobs: TrayJobs | undefined;
  let list: SavedJobList | undefined;
  let isClosed = false;
  const hasTransfers = () =>
    transfers?.some(
      ({ needs, state }) => state === 'running' || (state === 'waiting' && needs === undefined),
    ) ?? false;
  const hasJobs = () => jobs !== undefined && jobs.waiting + jobs.running > 0;
  return {
    updateTransfers(now) {
      const before = transfers;
      transfers = now;
      return before;
    },
    updateJobs(now) {
      const endings = findJobEndings(list, now, startedMs);
      list = now;
      jobs = countJobs(now);
      return { endings, counts: jobs };
    },
    forget() {
      transfers = undefined;
      jobs = NO_JOBS;
    },
    hasTransfers,
    hasJobs,
    noteWindowsClosed() {
      isClosed = true;
    },
    isKnown: () => (transfers !== undefined || isClosed) && jobs !== undefined,
    mayQuit: () => jobs !== undefined && !hasTransfers() && !hasJobs(),
  };
}

/** Jobs that another process starts need no tray icon here. */
function countJobs({ jobs, startedBy }: SavedJobList): TrayJobs {
  const waiting = jobs.filter(({ state, triggers }) => state === 'idle' && triggers.length > 0).length;
  const running = jobs.filter(({ state }) => state === 'running').length;
  return { waiting: startedBy === 'here' ? waiting : 0, running };
}
