/** What most tests of the window need: one browser and one real store for a whole file. */
import type { Browser } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { launchBrowser } from './open-window.ts';

/** Available within tests and hooks, once both have started. */
export interface BrowserAndStore {
  readonly browser: Browser;
  readonly server: S3Server;
}

/**
 * Call it in a `describe`. It starts both before the tests and stops them afterwards, even if only one of
 * them started.
 */
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

/** The browser alone, for tests that bring a store of their own. */
export function startBrowser(): Pick<BrowserAndStore, 'browser'> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return {
    get browser() {
      return browser;
    },
  };
}
