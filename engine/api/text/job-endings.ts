/**
 * The notifications of saved jobs: a run failed, or worked after a failure, or a job has had no success for
 * days. Pure.
 */
import type { SavedJobCard, SavedJobList } from '../host/saved.ts';
import { formatPlural } from './numbers.ts';
import type { Ending } from './transfer-endings.ts';

/**
 * @param before The list of the previous call. Without one, no ended run counts as new.
 * @param sinceMs The start of this window or app. A job counts as overdue if the schedule found it so later
 * than that.
 */
export function findJobEndings(
  before: SavedJobList | undefined,
  now: SavedJobList,
  sinceMs: number,
): readonly Ending[] {
  const known = new Map(before?.jobs.map((job) => [job.name, job]));
  const names = new Set(now.jobs.map(({ name }) => name));
  const gone = before?.jobs.filter(({ name }) => !names.has(name)) ?? [];
  return now.jobs.flatMap((job) => {
    if (job.notices?.desktop === false) return [];
    // A renamed job has the last run of one that is gone.
    const last =
      known.get(job.name) ?? gone.find(({ lastRun }) => lastRun !== undefined && lastRun === job.lastRun);
    return [...(before ? endingOf(job, last) : []), ...staleOf(job, last, sinceMs)];
  });
}

/** The notification that a person asks for, to see whether notifications arrive. */
export function testEnding(job: string): Ending {
  return { title: `Test notice: ${job}`, body: 'This is a test.' };
}

function endingOf(job: SavedJobCard, last: SavedJobCard | undefined): readonly Ending[] {
  if (job.state === 'running' || isSameEnd(job, last)) return [];
  const on = job.notices?.on ?? ['failure', 'recovery'];
  const body = job.lastMessage ?? '';
  if (isFailed(job)) return on.includes('failure') ? [{ title: `Job failed: ${job.name}`, body }] : [];
  // While it ran, the card kept no result of the run before.
  return job.lastResult === 'done' && job.isRecovered && on.includes('recovery')
    ? [{ title: `Job works again: ${job.name}`, body }]
    : [];
}

/** The schedule has recorded it, in whichever process it runs. */
function staleOf(
  { name, notices, staleNotice }: SavedJobCard,
  last: SavedJobCard | undefined,
  sinceMs: number,
): readonly Ending[] {
  const days = notices?.days;
  if (days === undefined || staleNotice === undefined || staleNotice === last?.staleNotice) return [];
  if (Date.parse(staleNotice) < sinceMs) return [];
  return [
    { title: `Job without success: ${name}`, body: `No run has worked for ${formatPlural(days, 'day')}.` },
  ];
}

function isFailed({ lastResult }: SavedJobCard): boolean {
  return lastResult === 'failed' || lastResult === 'interrupted';
}

/** A run has one end. A killed run has none, so its start counts. */
function isSameEnd(job: SavedJobCard, last: SavedJobCard | undefined): boolean {
  return (
    last !== undefined &&
    last.state !== 'running' &&
    job.lastRun === last.lastRun &&
    job.lastResult === last.lastResult
  );
}
