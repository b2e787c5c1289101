/** Telling of many things, one by one. */
import type { JobContext } from '../../api/jobs.ts';

/** No faster than who listens takes them: a list of a million lines for a slow reader stays out of memory. */
export async function tellAll<T>(
  { drained }: Pick<JobContext, 'drained'>,
  items: Iterable<T>,
  tell: (item: T) => void,
): Promise<void> {
  for (const item of items) {
    tell(item);
    const isTaken = drained?.();
    if (isTaken) await isTaken;
  }
}
