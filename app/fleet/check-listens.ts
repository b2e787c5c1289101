/** Finds out in a moment that nothing listens at Temporal's address. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { CONNECTION_REASONS } from '../../engine/remotes/http/connection-reasons.ts';
import { noAnswer } from './temporal-errors.ts';

export interface ListenOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Temporal's client tries again until its own limit when nothing listens, and each connection that its worker
 * fails to open leaves seven file descriptors open (1.24.0, on Linux).
 * @returns Also when the signal fires.
 * @throws `unreachable`, also when nothing answers for `limitMs`
 */
export async function checkListens(address: string, { limitMs, signal }: ListenOptions): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const limit = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
  try {
    await once(socket, 'connect', { signal: limit });
  } catch (cause) {
    if (signal?.aborted) return;
    const why = limit.aborted ? `no connection within ${limitMs / 1000} s` : reasonOf(cause as Error);
    throw noAnswer(address, why, cause);
  } finally {
    socket.destroy();
  }
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  return CONNECTION_REASONS[code] ?? (message || code);
}
