/**
 * Passes runs of `dray` from the engine's thread to its process, which starts them. Electron's main process
 * starts utility processes, which a thread cannot.
 */
import { type ErrorRecord, fromErrorRecord, toErrorRecord } from '../../api/error.ts';
import type { DrayEnd, DrayRun, RunDray } from '../../jobs/saved/dray-process.ts';

export type DrayAsked =
  | ({ readonly did: 'askDray'; readonly id: number } & Omit<DrayRun, 'signal'>)
  | { readonly did: 'stopDray'; readonly id: number };

export type DrayAnswer = {
  readonly do: 'drayEnded';
  readonly id: number;
  readonly end?: DrayEnd;
  readonly error?: ErrorRecord;
};

/** The side of the thread. */
export function createDrayRelay(post: (message: DrayAsked) => void) {
  const waiting = new Map<number, PromiseWithResolvers<DrayEnd>>();
  let lastId = 0;
  const run: RunDray = async ({ signal, ...asked }) => {
    lastId += 1;
    const id = lastId;
    const ended = Promise.withResolvers<DrayEnd>();
    waiting.set(id, ended);
    const stop = () => post({ did: 'stopDray', id });
    post({ did: 'askDray', id, ...asked });
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return ended.promise.finally(() => {
      waiting.delete(id);
      signal.removeEventListener('abort', stop);
    });
  };
  return {
    run,
    hear({ end, error, id }: DrayAnswer): void {
      if (end) waiting.get(id)?.resolve(end);
      else if (error) waiting.get(id)?.reject(fromErrorRecord(error));
    },
  };
}

/** The side of the process. It serves each engine thread that the process starts. */
export interface DrayRuns {
  /** Serves one thread, whose runs outlive it. @param answer Called once for each run. */
  serve(answer: (message: DrayAnswer) => void): (message: DrayAsked) => void;
  /** Stops all runs. Resolves when they have ended. */
  stop(): Promise<void>;
}

export function createDrayRuns(run: RunDray): DrayRuns {
  const stops = new Set<AbortController>();
  const endings = new Set<Promise<void>>();
  return {
    serve(answer) {
      const running = new Map<number, AbortController>();
      return (message) => {
        const { id } = message;
        if (message.did === 'stopDray') {
          running.get(id)?.abort();
          return;
        }
        const { environment, takesOutput, words } = message;
        const stopping = new AbortController();
        running.set(id, stopping);
        stops.add(stopping);
        const ending = run({ environment, takesOutput, words, signal: stopping.signal })
          .then(
            (end) => answer({ do: 'drayEnded', id, end }),
            (error: unknown) => answer({ do: 'drayEnded', id, error: toErrorRecord(error) }),
          )
          .finally(() => {
            running.delete(id);
            stops.delete(stopping);
            endings.delete(ending);
          });
        endings.add(ending);
      };
    },
    async stop() {
      for (const stopping of stops) stopping.abort();
      await Promise.all(endings);
    },
  };
}
