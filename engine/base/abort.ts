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

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}
