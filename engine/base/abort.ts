import { DrayError } from '../api/error.ts';

/** Throws `aborted` when the signal has fired. Call it before every side effect of long work. */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.', { cause: signal.reason });
}
