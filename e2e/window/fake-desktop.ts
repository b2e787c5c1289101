/**
 * Puts into a browser's page what the desktop app provides: a port that leads to `dray ui`, and a store of
 * secrets that tests can read. It drives the forms that only the desktop shows.
 */
import type { Page } from 'playwright';
import type { AccessKeys } from '../../engine/api/host/remotes.ts';
import type { DesktopBridge, SecretsState } from '../../engine/api/window/desktop-bridge.ts';
import { protocolsOf } from '../../engine/api/window/window-key.ts';

/** `fails` names the profiles whose keys can be neither saved nor removed. */
type Kept = { keys: Record<string, AccessKeys>; warning?: string; fails?: readonly string[] };
type Global = typeof globalThis & {
  dray?: DesktopBridge;
  kept?: Kept;
  revealed?: string[];
  notices?: string[];
  drags?: string[];
};

/**
 * Call it before the page is opened.
 * @param opened A page of the same `dray ui`, whose key the socket shows.
 * @param initial The store of secrets that each load of the page begins with.
 */
export async function installFakeDesktop(
  page: Page,
  opened: Page,
  initial: Kept = { keys: {} },
): Promise<void> {
  const key = await opened.evaluate(() => sessionStorage.getItem('dray-key') ?? undefined);
  await page.addInitScript(
    ({ kept, protocols }) => {
      const revealed: string[] = [];
      const notices: string[] = [];
      const drags: string[] = [];
      const state = async (): Promise<SecretsState> => ({
        profiles: Object.keys(kept.keys),
        isAvailable: true,
        ...(kept.warning === undefined ? {} : { warning: kept.warning }),
      });
      const bridge: DesktopBridge = {
        requestPort() {
          const { port1, port2 } = new MessageChannel();
          const socket = new WebSocket(`ws://${location.host}/host`, protocols);
          const early: string[] = [];
          port1.onmessage = ({ data }) => {
            const text = JSON.stringify(data);
            if (socket.readyState === WebSocket.OPEN) socket.send(text);
            else early.push(text);
          };
          socket.onopen = () => {
            for (const text of early) socket.send(text);
          };
          socket.onmessage = ({ data }) => port1.postMessage(JSON.parse(data));
          // PORT_MESSAGE, which a script of the page cannot import.
          window.postMessage('dray:port', location.origin, [port2]);
        },
        pathOf: () => '',
        chooseFolder: async () => undefined,
        async reveal(path) {
          revealed.push(path);
          return !path.endsWith('gone');
        },
        async startDrag(id) {
          drags.push(id);
        },
        async testNotice(job) {
          notices.push(job);
          return true;
        },
        secrets: {
          state,
          async saveKeys(profile, keys) {
            if (kept.fails?.includes(profile)) throw new Error('The disk is full.');
            if (keys) kept.keys[profile] = keys;
            else delete kept.keys[profile];
            return state();
          },
        },
      };
      Object.assign(globalThis, { dray: bridge, kept, revealed, notices, drags });
    },
    { kept: initial, protocols: [...protocolsOf(key)] },
  );
}

export function savedKeys(page: Page): Promise<Readonly<Record<string, AccessKeys>> | undefined> {
  return page.evaluate(() => (globalThis as Global).kept?.keys);
}

/** The paths that were shown in the file manager. */
export function revealedPaths(page: Page): Promise<readonly string[] | undefined> {
  return page.evaluate(() => (globalThis as Global).revealed);
}

/** The jobs of the test notices that were shown. */
export function testNotices(page: Page): Promise<readonly string[] | undefined> {
  return page.evaluate(() => (globalThis as Global).notices);
}

/** The ids of the drags that began. */
export function begunDrags(page: Page): Promise<readonly string[] | undefined> {
  return page.evaluate(() => (globalThis as Global).drags);
}
