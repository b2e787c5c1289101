/** The lines that a window can have to its engine: a WebSocket in a browser, a MessagePort in the desktop app. */
import type { ClientMessage, HostMessage } from '../../engine/api/host.ts';
import type { Line, LineEvents } from './connection.ts';

/** What the desktop app's preload puts in the window. */
export interface DesktopBridge {
  /** A new port to the engine; the old one is closed. */
  readonly port: () => Promise<MessagePort>;
  /** The path of a file that was dropped. */
  readonly pathOf: (file: File) => string;
  /** The system's dialog; undefined when nothing was chosen. */
  readonly chooseFolder: (title: string) => Promise<string | undefined>;
}

declare global {
  interface Window {
    readonly dray?: DesktopBridge;
  }
}

/** @param url `ws:` or `wss:`. */
export function openSocket(url: string, events: LineEvents): Line {
  const socket = new WebSocket(url);
  socket.onopen = events.opened;
  socket.onclose = events.closed;
  socket.onmessage = ({ data }) => events.heard(JSON.parse(data) as HostMessage);
  return { send: (message) => socket.send(JSON.stringify(message)) };
}

export function openPort(bridge: DesktopBridge, events: LineEvents): Line {
  let port: MessagePort | undefined;
  bridge.port().then((given) => {
    port = given;
    port.onmessage = ({ data }) => events.heard(data as HostMessage);
    // Chromium tells the end of a port's other side; older ones are silent, and asks wait.
    port.addEventListener('close', events.closed);
    port.start();
    events.opened();
  }, events.closed);
  return { send: (message: ClientMessage) => port?.postMessage(message) };
}
