/** One browser and one real store for all tests of a file. */
import type { Browser } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { type SlowStore, startSlowStore } from './data/slow-store.ts';
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
  const started = startBrowserAnd(startVersitygw);
  return {
    get browser() {
      return started.browser;
    },
    get server() {
      return started.other;
    },
  };
}

/** The same with a store behind a network that tests slow down and cut. */
export function startBrowserAndSlowStore(): { readonly browser: Browser; readonly store: SlowStore } {
  const started = startBrowserAnd(startSlowStore);
  return {
    get browser() {
      return started.browser;
    },
    get store() {
      return started.other;
    },
  };
}

function startBrowserAnd<T extends AsyncDisposable>(
  start: () => Promise<T>,
): { readonly browser: Browser; readonly other: T } {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let other: T;
  beforeAll(async () => {
    await Promise.all([
      launchBrowser().then((launched) => {
        browser = stack.adopt(launched, (one) => one.close());
      }),
      start().then((started) => {
        other = stack.use(started);
      }),
    ]);
  });
  afterAll(() => stack.disposeAsync());
  return {
    get browser() {
      return browser;
    },
    get other() {
      return other;
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
