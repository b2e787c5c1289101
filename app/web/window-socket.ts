/**
 * Joins one browser's WebSocket to one port of the engine. Messages pass unchanged: the engine validates
 * them. This module bounds what waits for a slow reader, reads nothing more from it meanwhile, and ends a
 * socket whose browser is gone.
 */
import type { RawData, WebSocket } from 'ws';
import type { HostMessage } from '../../engine/api/host.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import { createHeldMessages } from './held-messages.ts';

/** With more than this on its way, further messages are held. */
const BUFFERED_BYTES_MAX = 1024 * 1024;
/** A window with this much waiting is disconnected. It reconnects by itself and asks again. */
const HELD_MAX = 20_000;
const PING_MS = 20_000;

/** The codes of RFC 6455, section 7.4.1, and of its registry. */
const CLOSE_NOT_TEXT = 1003;
const CLOSE_NOT_JSON = 1007;
const CLOSE_RESTART = 1012;
const CLOSE_TRY_LATER = 1013;

export function joinSocket(socket: WebSocket, port: HostPort): void {
  const held = createHeldMessages();
  let isAnswered = true;

  const flush = () => {
    while (socket.readyState === socket.OPEN && socket.bufferedAmount < BUFFERED_BYTES_MAX) {
      const message = held.take();
      if (!message) break;
      // The callback runs when the system has taken the data.
      socket.send(JSON.stringify(message), flush);
    }
    if (held.size() === 0 && socket.isPaused) socket.resume();
  };

  port.onMessage((message) => {
    if (socket.readyState !== socket.OPEN) return;
    held.add(message as HostMessage);
    flush();
    if (held.size() === 0) return;
    if (held.size() > HELD_MAX) {
      // A paused socket would not notice that the other side closes too.
      socket.resume();
      socket.close(CLOSE_TRY_LATER, 'The window reads too slowly.');
      port.close();
    }
    // A client that does not read its answers sends no more requests.
    else if (!socket.isPaused) socket.pause();
  });
  port.onClose(() => socket.close(CLOSE_RESTART, 'The engine was restarted.'));

  const pings = setInterval(() => {
    // A paused socket receives no pong either, so it is judged by what it reads.
    if (!isAnswered && !socket.isPaused) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, PING_MS);
  pings.unref();

  socket.on('pong', () => {
    isAnswered = true;
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(CLOSE_NOT_TEXT, 'Messages must be text.');
    const message = parse(data);
    if (message === undefined) socket.close(CLOSE_NOT_JSON, 'Messages must be JSON.');
    else port.post(message);
  });
  // The close event that follows reports the error.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(pings);
    port.close();
  });
}

function parse(data: RawData): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}
