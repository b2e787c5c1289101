/** How long a peer waits for its clients, and how it keeps them waiting for a slow answer. */
import type { ServerResponse } from 'node:http';

/** The time limits for clients. */
export interface PeerPatience {
  /** From the connection, or from a request's first byte, to the end of its headers. */
  readonly headersMs: number;
  /** A body must bring `PACE_BYTES_MIN` in each such interval. */
  readonly paceMs: number;
  /** A client must take some of its answer in each such interval. */
  readonly stallMs: number;
  /**
   * A waiting client gets a sign in each such interval. Clients give up on a silent server after a minute.
   */
  readonly aliveMs: number;
}

/** Disconnects a client that takes nothing of its answer, which occupies memory meanwhile. */
export function watchReader(response: ServerResponse, { stallMs }: PeerPatience): void {
  let takenBefore = -1;
  const timer = setInterval(() => {
    const { socket } = response;
    if (!socket) return;
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && taken === takenBefore) response.destroy();
    takenBefore = taken;
  }, stallMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}

/**
 * Sends `102 Processing` (RFC 2518) now and then until the answer begins: reading a large file for its
 * checksum may take long.
 */
export function showLife(response: ServerResponse, { aliveMs }: PeerPatience): void {
  const timer = setInterval(() => {
    if (response.headersSent) clearInterval(timer);
    else response.writeProcessing();
  }, aliveMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
