/** Holds requests between a page and its engine, so that a test can look at the window meanwhile. */
import type { Page } from 'playwright';
import type { HostRequestName } from '../../engine/api/host.ts';

export interface HeldRequests {
  /** From now on requests of this name wait. */
  hold(name: HostRequestName): void;
  /** How many wait. */
  waiting(): number;
  /** Sends what waits, and holds no more. */
  release(): void;
}

/** Loads the page anew, over a connection that the test can hold. */
export async function holdRequests(page: Page): Promise<HeldRequests> {
  let held: string | undefined;
  let waiting: (() => void)[] = [];
  await page.routeWebSocket(/\/host$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const { name } = JSON.parse(String(message)) as { readonly name?: string };
      if (held !== undefined && name === held) waiting.push(() => server.send(message));
      else server.send(message);
    });
  });
  await page.reload();
  await page.locator('#screen').waitFor();
  return {
    hold: (name) => {
      held = name;
    },
    waiting: () => waiting.length,
    release: () => {
      held = undefined;
      for (const send of waiting) send();
      waiting = [];
    },
  };
}
