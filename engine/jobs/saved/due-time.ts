/** Computes the next run of a job by its schedule. */
import { nextCronMs, parseCron } from './cron.ts';
import type { JobState, SavedJob, Trigger } from './saved-job.ts';

/** A time server sets a clock back by less than this. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The time of the next run. It is in the past if runs were missed; all missed runs together give one time.
 * Undefined if the job is paused or has no schedule. If the clock was set back, the last run lies in the
 * future, and it is unknown what was missed: the job is due at once. From then on the record of that new run
 * decides alone, even if `sinceMs` still lies in the future.
 */
export function nextDueMs(job: SavedJob, { runs }: JobState, nowMs: number): number | undefined {
  if (job.isPaused) return undefined;
  const startedMs = runs[0]?.startedMs;
  const isFuture = (timeMs: number) => timeMs > nowMs + CLOCK_SLACK_MS;
  const sinceMs = isFuture(job.sinceMs) ? (startedMs ?? job.sinceMs) : Math.max(job.sinceMs, startedMs ?? 0);
  const times = job.triggers.flatMap((trigger) => nextOf(trigger, sinceMs) ?? []);
  if (times.length === 0) return undefined;
  return isFuture(sinceMs) ? nowMs : Math.min(...times);
}

function nextOf(trigger: Trigger, sinceMs: number): number | undefined {
  switch (trigger.on) {
    case 'every':
      return sinceMs + trigger.everyMs;
    case 'cron':
      return nextCronMs(parseCron(trigger.expression), sinceMs);
    case 'change':
    case 'mount':
    case 'login':
      return undefined;
  }
}
