/** How long a peer waits for its clients, and what it does lest they give it up. */
import type { ServerResponse } from 'node:http';

/** How long others are waited for. */
export interface PeerPatience {
  /** From the connection, or from a request's first byte, to the end of its headers. */
  readonly headersMs: number;
  /** A body brings `PACE_BYTES_MIN` in each such time. */
  readonly paceMs: number;
  /** A client takes some of what it is sent in each such time. */
  readonly stallMs: number;
  /** A client hears in each such time that its request is still being worked on. Clients give a silent server up after a minute. */
  readonly aliveMs: number;
}

/** Cuts off a client that takes nothing of what it is sent, which is held for it meanwhile. */
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

/** `102 Processing` (RFC 2518), now and then, until the answer begins: to read a large file for its sum may take long. */
export function showLife(response: ServerResponse, { aliveMs }: PeerPatience): void {
  const timer = setInterval(() => {
    if (response.headersSent) clearInterval(timer);
    else response.writeProcessing();
  }, aliveMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
