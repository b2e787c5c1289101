/** The ports from a window to its engine: a WebSocket in a browser, a MessagePort in the desktop app. */

import { DrayError } from '../../engine/api/error.ts';
import { type DesktopBridge, PORT_END, PORT_MESSAGE } from '../../engine/api/window/desktop-bridge.ts';
import { fromMessagePort, fromWebSocket } from '../../engine/api/window/host-port.ts';
import { protocolsOf, WINDOW_KEY_HEADER } from '../../engine/api/window/window-key.ts';
import type { OpeningPort } from './reconnecting-host.ts';
import { findWindowKey, forgetWindowKey } from './window-key.ts';

declare global {
  interface Window {
    readonly dray?: DesktopBridge;
  }
}

/** @param url `ws:` or `wss:`. */
export async function openWebSocket(url: string): Promise<OpeningPort> {
  const key = await findWindowKey();
  const socket = new WebSocket(url, [...protocolsOf(key)]);
  const opened = new Promise<void>((resolve, reject) => {
    let wasOpen = false;
    socket.addEventListener('open', () => {
      wasOpen = true;
      resolve();
    });
    socket.addEventListener('close', () => {
      if (!wasOpen) findReason(key).then(reject, reject);
    });
  });
  return { port: fromWebSocket(socket), opened };
}

/** Browsers do not say why a WebSocket failed, so this requests the page and reads its status. */
async function findReason(key: string | undefined): Promise<DrayError> {
  const headers = key === undefined ? {} : { [WINDOW_KEY_HEADER]: key };
  const answer = await fetch('/', { method: 'HEAD', cache: 'no-store', headers }).catch(() => undefined);
  const isRefused = answer?.status === 403;
  if (isRefused && key !== undefined) forgetWindowKey(key);
  return isRefused || (answer && key === undefined)
    ? new DrayError('accessDenied', 'The engine that runs now does not know this window.')
    : new DrayError('unreachable', 'The engine is not running.');
}

/**
 * The port arrives in a message of the window itself, because the bridge cannot carry ports. While the engine
 * restarts, this waits.
 */
export async function openMessagePort(bridge: DesktopBridge): Promise<OpeningPort> {
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
