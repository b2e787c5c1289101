/** Counts how many transfers have ended. */
import type { Transfer } from '../../engine/api/host/transfers.ts';

/**
 * @returns A function that takes each new list of ended transfers and returns the number of endings since the
 * first list. The number never falls. Removing transfers from the list adds nothing. A transfer that runs
 * again and ends adds one.
 */
export function createEndingCount(): (ended: readonly Transfer[] | undefined) => number {
  let known: ReadonlySet<string> | undefined;
  let count = 0;
  return (ended) => {
    if (!ended) return count;
    const now = new Set(ended.map(({ endedMs, id, state }) => `${id} ${state} ${endedMs}`));
    for (const ending of now) if (known && !known.has(ending)) count += 1;
    known = now;
    return count;
  };
}
