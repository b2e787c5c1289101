import { DrayError } from '../api/error.ts';

/** Throws `aborted` when the signal has fired. Call it before every side effect of long work. */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.', { cause: signal.reason });
}

/** For requests that run until they are stopped. @throws `aborted` when the signal fires. */
export async function runUntilAborted(signal: AbortSignal): Promise<never> {
  await untilAborted(signal);
  throw new DrayError('aborted', 'Stopped on request.', { cause: signal.reason });
}

/** The outcome, or `aborted` as soon as the signal fires. The work itself goes on. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  // Its own failure may come when nobody waits any more.
  work.catch(() => {});
  checkAborted(signal);
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(new DrayError('aborted', 'Stopped on request.', { cause: signal.reason }));
    watchAbort(signal, stop);
    work.then(resolve, reject).finally(() => unwatchAbort(signal, stop));
  });
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}

interface Watch {
  readonly stops: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls `stop` when the signal fires, unless `unwatchAbort` comes first. All callbacks of a signal share one
 * listener, because adding or removing a listener scans all listeners of the signal.
 */
export function watchAbort(signal: AbortSignal, stop: () => void): void {
  const watch = watches.get(signal);
  if (watch) {
    watch.stops.add(stop);
    return;
  }
  const stops = new Set([stop]);
  const listener = () => {
    for (const each of stops) each();
    watches.delete(signal);
  };
  signal.addEventListener('abort', listener, { once: true });
  watches.set(signal, { stops, listener });
}

/** The last one removes the listener: a signal made of others lives as long as it has one. */
export function unwatchAbort(signal: AbortSignal, stop: () => void): void {
  const watch = watches.get(signal);
  if (!watch?.stops.delete(stop) || watch.stops.size > 0) return;
  signal.removeEventListener('abort', watch.listener);
  watches.delete(signal);
}
