/**
 * Producers that run concurrently, with results in the order in which the producers were started. One that is
 * ahead of its turn waits after a few results, which bounds memory.
 */
import { checkAborted } from '../../base/abort.ts';

const RUNS_MAX = 8;
const RESULTS_AHEAD_MAX = 8;

/** Its end, by `await using`, stops the producers at their next result, and waits for them. */
export interface OrderedRuns<T> extends AsyncDisposable {
  /** Whether another producer can be started. */
  readonly hasRoom: boolean;
  /** The producer calls `give` for each result and waits for it. */
  start(produce: (give: (result: T) => Promise<void>) => Promise<void>): void;
  /**
   * The next result; undefined when all started producers are done and there is room for more. Throws a
   * producer's error.
   */
  next(): Promise<T | undefined>;
}

interface Run<T> {
  readonly results: T[];
  isDone: boolean;
  failure: { readonly error: unknown } | undefined;
  ended: Promise<void>;
}

class Closed extends Error {}

export function createOrderedRuns<T>({ signal }: { readonly signal: AbortSignal }): OrderedRuns<T> {
  const runs: Run<T>[] = [];
  let isClosed = false;
  let waiting: (() => void)[] = [];
  const changed = () => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));

  return {
    get hasRoom() {
      return runs.length < RUNS_MAX;
    },
    start(produce) {
      const run: Run<T> = { results: [], isDone: false, failure: undefined, ended: Promise.resolve() };
      const give = async (result: T) => {
        run.results.push(result);
        changed();
        while (run.results.length >= RESULTS_AHEAD_MAX && !isClosed) await change();
        if (isClosed) throw new Closed();
        checkAborted(signal);
      };
      run.ended = produce(give)
        .catch((error: unknown) => {
          run.failure = { error };
        })
        .finally(() => {
          run.isDone = true;
          changed();
        });
      runs.push(run);
    },
    async next() {
      for (;;) {
        const run = runs[0];
        if (!run) return undefined;
        const result = run.results.shift();
        if (result !== undefined) {
          changed();
          return result;
        }
        if (run.failure) throw run.failure.error;
        if (run.isDone) runs.shift();
        else await change();
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      changed();
      await Promise.all(runs.map(({ ended }) => ended));
    },
  };
}
