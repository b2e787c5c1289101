/** How often transfers have ended. */
import type { Transfer } from '../../engine/api/host.ts';

/**
 * @returns What is given each list that is told, and says how many endings were seen since the first one. It
 * only grows: a list of which the oldest were forgotten, or that was cleared, tells of no ending; one that
 * ran again and ended tells of one more.
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
