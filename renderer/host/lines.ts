/** The lines that a window can have to its engine: a WebSocket in a browser, a MessagePort in the desktop app. */
import { type DesktopBridge, PORT_MESSAGE } from '../../engine/api/desktop-bridge.ts';
import type { ClientMessage, HostMessage } from '../../engine/api/host.ts';
import type { Line, LineEvents } from './connection.ts';

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
  const hear = ({ data, ports: [given], source }: MessageEvent) => {
    if (source !== window || data !== PORT_MESSAGE || !given) return;
    window.removeEventListener('message', hear);
    port = given;
    port.onmessage = (event) => events.heard(event.data as HostMessage);
    port.addEventListener('close', events.closed);
    events.opened();
  };
  window.addEventListener('message', hear);
  bridge.requestPort();
  return { send: (message: ClientMessage) => port?.postMessage(message) };
}
