/** Counts how many transfers have ended. */
import type { Transfer } from '../../engine/api/host/transfers.ts';

/**
 * @param sinceMs Unix time in milliseconds. Earlier endings do not count. A transfer may end before the first
 * list arrives, after the page has requested data that the transfer changes.
 * @returns A function that takes each new list of ended transfers, undefined before the first one. It returns
 * the number of endings since its first call. The number never falls. Removing transfers from the list adds
 * nothing. A transfer that runs again and ends adds one.
 */
export function createEndingCount(sinceMs: number): (ended: readonly Transfer[] | undefined) => number {
  let known: ReadonlySet<string> | undefined;
  let hasWaited = false;
  let count = 0;
  return (ended) => {
    if (!ended) {
      hasWaited ||= !known;
      return count;
    }
    const now = new Set(ended.map(keyOf));
    const earlier = known ?? (hasWaited ? new Set(ended.filter(isBefore(sinceMs)).map(keyOf)) : now);
    for (const ending of now) if (!earlier.has(ending)) count += 1;
    known = now;
    return count;
  };
}

function keyOf({ endedMs, id, state }: Transfer): string {
  return `${id} ${state} ${endedMs}`;
}

function isBefore(sinceMs: number): (transfer: Transfer) => boolean {
  return ({ endedMs = 0 }) => endedMs < sinceMs;
}
