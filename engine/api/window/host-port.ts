/**
 * Carries messages between a window and the engine: a MessagePort, a WebSocket, or anything that can be
 * adapted to one of them. Isomorphic: it uses no types of the DOM or of Node, only what both share.
 */

/** Messages arrive whole and in order; none arrives after `onClose` was called. */
export interface HostPort {
  /** Does nothing once the port has closed. */
  post(message: unknown): void;
  /** Sets the one listener, which then receives the messages that arrived before. */
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, also when this side closes the port. */
  onClose(listener: () => void): void;
  close(): void;
}

/** A MessagePort of a browser or of `node:worker_threads`. */
export interface MessagePortLike {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: object) => void): void;
  start?(): void;
  close(): void;
}

export function fromMessagePort(port: MessagePortLike): HostPort {
  const closing = createClosing();
  port.addEventListener('close', closing.notify);
  return {
    post(message) {
      if (!closing.isClosed()) port.postMessage(message);
    },
    onMessage(listener) {
      port.addEventListener('message', (event) => listener((event as { readonly data?: unknown }).data));
      port.start?.();
    },
    onClose: closing.onClose,
    close() {
      port.close();
      closing.notify();
    },
  };
}

/** A WebSocket of a browser or of `ws`. Messages are JSON. */
export interface WebSocketLike {
  readonly readyState: number;
  send(text: string): void;
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
  close(): void;
}

const CONNECTING = 0;
const OPEN = 1;

/**
 * Text that is not JSON arrives as undefined, which neither side accepts as a message. Messages posted before
 * the socket opens wait.
 */
export function fromWebSocket(socket: WebSocketLike): HostPort {
  const closing = createClosing();
  const waiting: string[] = [];
  const early: unknown[] = [];
  let listener: ((message: unknown) => void) | undefined;
  socket.addEventListener('open', () => {
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener('message', ({ data }) => {
    const message = parseText(data);
    if (listener) listener(message);
    else early.push(message);
  });
  socket.addEventListener('close', closing.notify);
  return {
    post(message) {
      if (socket.readyState === OPEN) socket.send(JSON.stringify(message));
      else if (socket.readyState === CONNECTING) waiting.push(JSON.stringify(message));
    },
    onMessage(next) {
      listener = next;
      for (const message of early.splice(0)) next(message);
    },
    onClose: closing.onClose,
    close() {
      socket.close();
      closing.notify();
    },
  };
}

function parseText(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

function createClosing() {
  let isClosed = false;
  const listeners: (() => void)[] = [];
  return {
    isClosed: () => isClosed,
    onClose(listener: () => void) {
      if (isClosed) listener();
      else listeners.push(listener);
    },
    notify() {
      if (isClosed) return;
      isClosed = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
}
