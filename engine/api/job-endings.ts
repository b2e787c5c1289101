/** The notifications for runs of saved jobs that failed, or worked again after a failure. Pure. */
import type { SavedJobCard, SavedJobList } from './host/saved.ts';
import type { Ending } from './transfer-endings.ts';

/** @param before Undefined for the first list. Runs that ended before it are not announced. */
export function findJobEndings(before: SavedJobList | undefined, now: SavedJobList): readonly Ending[] {
  if (!before) return [];
  const known = new Map(before.jobs.map((job) => [job.name, job]));
  return now.jobs.flatMap((job) => {
    const last = known.get(job.name);
    if (job.state === 'running' || isSameEnd(job, last)) return [];
    const body = job.lastMessage ?? '';
    if (isFailed(job)) return [{ title: `Job failed: ${job.name}`, body }];
    // While it ran, the card kept no result of the run before.
    return job.lastResult === 'done' && job.isRecovered
      ? [{ title: `Job works again: ${job.name}`, body }]
      : [];
  });
}

function isFailed({ lastResult }: SavedJobCard): boolean {
  return lastResult === 'failed' || lastResult === 'interrupted';
}

/** Of one run there is one end. A run that was killed has none, but its start. */
function isSameEnd(job: SavedJobCard, last: SavedJobCard | undefined): boolean {
  return (
    last !== undefined &&
    last.state !== 'running' &&
    job.lastRun === last.lastRun &&
    job.lastResult === last.lastResult
  );
}
