/** What most tests of the window stand on: one browser and one real store for all of a file. */
import type { Browser } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { launchBrowser } from './open-window.ts';

/** To be read within tests and hooks, when both are there. */
export interface BrowserAndStore {
  readonly browser: Browser;
  readonly server: S3Server;
}

/** Called in a `describe`: started before its tests, stopped after them, also when only one of the two came up. */
export function startBrowserAndStore(): BrowserAndStore {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let server: S3Server;
  beforeAll(async () => {
    await Promise.all([
      launchBrowser().then((launched) => {
        browser = stack.adopt(launched, (one) => one.close());
      }),
      startVersitygw().then((started) => {
        server = stack.use(started);
      }),
    ]);
  });
  afterAll(() => stack.disposeAsync());
  return {
    get browser() {
      return browser;
    },
    get server() {
      return server;
    },
  };
}
