/** What a query counts while it runs. */
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
  /** Hashes resolved, each batch without its repetitions. */
  readonly candidates: number;
  readonly present: number;
  readonly seconds: number;
}

/** Time is the time during which at least one batch was under way. */
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
