/** Counts a query's work while it runs. */
import type { Clock } from '../../base/clock.ts';

export interface QueryTally {
  noteWanted(count: number): void;
  noteRemovedByIndex(count: number): void;
  /** A batch begins; call the result when it ends. */
  begin(): () => void;
  add(asked: number, found: number): void;
  read(): QueryCounts;
}

export interface QueryCounts {
  readonly wanted: number;
  readonly removedByIndex: number;
  /** Resolved hashes, without repetitions within a batch. */
  readonly candidates: number;
  readonly present: number;
  readonly seconds: number;
}

/** Measures the time during which at least one batch was in flight. */
export function createQueryTally(clock: Clock): QueryTally {
  let wanted = 0;
  let removedByIndex = 0;
  let candidates = 0;
  let present = 0;
  let underWay = 0;
  let busySinceMs = 0;
  let busyMs = 0;
  return {
    noteWanted: (count: number) => {
      wanted += count;
    },
    noteRemovedByIndex: (count: number) => {
      removedByIndex += count;
    },
    begin: () => {
      if (underWay === 0) busySinceMs = clock.monotonicMs();
      underWay += 1;
      return () => {
        underWay -= 1;
        if (underWay === 0) busyMs += clock.monotonicMs() - busySinceMs;
      };
    },
    add: (asked: number, found: number) => {
      candidates += asked;
      present += found;
    },
    read: () => ({
      wanted,
      removedByIndex,
      candidates,
      present,
      seconds: (busyMs + (underWay > 0 ? clock.monotonicMs() - busySinceMs : 0)) / 1_000,
    }),
  };
}
