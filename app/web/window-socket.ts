/**
 * One browser's WebSocket joined to one port of the engine. Messages pass as they are: the engine checks them. Here is what the socket
 * needs: a bound on what waits for a slow reader, nothing more taken from it meanwhile, and an end to a socket whose browser is gone.
 */
import type { RawData, WebSocket } from 'ws';
import type { HostMessage } from '../../engine/api/host.ts';
import type { HostPort } from '../../engine/api/host-port.ts';
import { createHeldMessages } from './held-messages.ts';

/** More than this on its way, and the rest is held. */
const BUFFERED_BYTES_MAX = 1024 * 1024;
/** A window that lets so much wait is cut off; it comes back by itself and asks anew. */
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
      // Its callback comes when the system has taken it.
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
      // A paused socket would not hear that the other side closes too.
      socket.resume();
      socket.close(CLOSE_TRY_LATER, 'The window reads too slowly.');
      port.close();
    }
    // Who does not read may not ask for more.
    else if (!socket.isPaused) socket.pause();
  });
  port.onClose(() => socket.close(CLOSE_RESTART, 'The engine was started anew.'));

  const pings = setInterval(() => {
    // A paused socket takes no pong either: it is judged by what it reads.
    if (!isAnswered && !socket.isPaused) return socket.terminate();
    isAnswered = false;
    socket.ping();
  }, PING_MS);
  pings.unref();

  socket.on('pong', () => {
    isAnswered = true;
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(CLOSE_NOT_TEXT, 'Messages are text.');
    const message = parse(data);
    if (message === undefined) socket.close(CLOSE_NOT_JSON, 'Messages are JSON.');
    else port.post(message);
  });
  // What went wrong is told by the close that follows.
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
