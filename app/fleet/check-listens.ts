/** Finds out in a moment that nothing listens at Temporal's address, or nothing that uses TLS. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { DrayError } from '../../engine/api/error.ts';
import { CONNECTION_REASONS, NO_TLS_CODES } from '../../engine/remotes/http/connection-reasons.ts';
import { noAnswer, noTls } from './temporal-errors.ts';
import type { ConnectionSettings } from './temporal-options.ts';

export interface ListenOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Temporal's client tries again until its own limit when nothing listens, and each connection that its worker
 * fails to open leaves seven file descriptors open (1.24.0, on Linux).
 * @returns Also when the signal fires.
 * @throws `unreachable`, also when nothing answers for `limitMs`; `usage` when TLS is wanted and not used
 */
export async function checkListens(
  { address, tls }: ConnectionSettings,
  { limitMs, signal }: ListenOptions,
): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const limit = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
  try {
    await once(socket, 'connect', { signal: limit });
    if (tls !== false) await checkUsesTls(socket, address, limit);
  } catch (cause) {
    if (signal?.aborted) return;
    if (cause instanceof DrayError) throw cause;
    const why = limit.aborted ? `no connection within ${limitMs / 1000} s` : reasonOf(cause as Error);
    throw noAnswer(address, why, cause);
  } finally {
    socket.destroy();
  }
}

/** Temporal's client checks certificates itself, with its own messages. */
async function checkUsesTls(socket: Socket, address: string, signal: AbortSignal): Promise<void> {
  // A server that wants a certificate of the client says so after the handshake.
  const secure = connectTls({ socket, rejectUnauthorized: false }).on('error', () => {});
  try {
    await once(secure, 'secureConnect', { signal });
  } catch (cause) {
    if (NO_TLS_CODES.has((cause as NodeJS.ErrnoException).code)) throw noTls(address, cause);
    if (signal.aborted) throw cause;
  } finally {
    secure.destroy();
  }
}

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  return CONNECTION_REASONS[code] ?? (message || code);
}
