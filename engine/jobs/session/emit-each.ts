/** Emits many events, one for each item. */
import type { JobContext } from '../../api/jobs/jobs.ts';

/** Waits for a slow listener, so that a list of a million lines stays out of memory. */
export async function emitEach<T>(
  { drained }: Pick<JobContext, 'drained'>,
  items: Iterable<T>,
  emitOne: (item: T) => void,
): Promise<void> {
  for (const item of items) {
    emitOne(item);
    const isTaken = drained?.();
    if (isTaken) await isTaken;
  }
}
