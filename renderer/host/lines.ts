/** The lines that a window can have to its engine: a WebSocket in a browser, a MessagePort in the desktop app. */
import { type DesktopBridge, PORT_END, PORT_MESSAGE } from '../../engine/api/desktop-bridge.ts';
import { fromMessagePort, fromWebSocket } from '../../engine/api/host-port.ts';
import type { Line } from './connection.ts';

declare global {
  interface Window {
    readonly dray?: DesktopBridge;
  }
}

/** @param url `ws:` or `wss:`. */
export async function openSocket(url: string): Promise<Line> {
  const socket = new WebSocket(url);
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  return { port: fromWebSocket(socket), opened };
}

/** The port comes as a message of the window itself: the bridge cannot carry one. While the engine starts anew it takes that long. */
export async function openPort(bridge: DesktopBridge): Promise<Line> {
  const given = await new Promise<MessagePort>((resolve) => {
    const hear = ({ data, ports: [port], source }: MessageEvent) => {
      if (source !== window || data !== PORT_MESSAGE || !port) return;
      window.removeEventListener('message', hear);
      resolve(port);
    };
    window.addEventListener('message', hear);
    bridge.requestPort();
  });
  const port = fromMessagePort(given);
  given.addEventListener('message', ({ data }) => {
    if (data === PORT_END) port.close();
  });
  return { port, opened: Promise.resolve() };
}
