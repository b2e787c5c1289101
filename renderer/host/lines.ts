/** The lines that a window can have to its engine: a WebSocket in a browser, a MessagePort in the desktop app. */
import { fromMessagePort, fromWebSocket } from '../../engine/api/host-port.ts';
import type { Line } from './connection.ts';

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
export async function openSocket(url: string): Promise<Line> {
  const socket = new WebSocket(url);
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  return { port: fromWebSocket(socket), opened };
}

export async function openPort(bridge: DesktopBridge): Promise<Line> {
  return { port: fromMessagePort(await bridge.port()), opened: Promise.resolve() };
}
