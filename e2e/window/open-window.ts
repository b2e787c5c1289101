/** The real window for tests: `dray ui` in its own home folder, and Chromium at its link. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { whyStale } from '../../app/build/build-window.ts';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { type RunningProcess, startProcess, waitUntilReady } from '../servers/tools.ts';
import { findChromium } from './find-chromium.ts';
import { delayMessages } from './relay-host.ts';

/** The size of the guide's pictures. */
const VIEWPORT = { width: 1280, height: 800 };

/** The longest wait on a machine under heavy load; no test measures time by it. */
export const PATIENCE_MS = 120_000;

/** Characters of a page in the output of a failed test, and how long to wait for them. */
const LOOK_MAX = 8_000;
const LOOK_MS = 10_000;

/** Keeps the machine's own keys out of a window. */
export const NO_KEYS = { AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: 'us-east-1' };

export type Theme = 'light' | 'dark';

/**
 * For tests that open a window for each theme, as a budget: the shell's test opens every screen in both.
 */
export const THEMES = {
  short: ['light'],
  long: ['light', 'dark'],
} as const satisfies Record<string, readonly Theme[]>;

export interface OpenWindowOptions {
  /** Variables besides PATH, HOME and the sandbox's own, such as a test server's credentials. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: any free port. */
  readonly port?: number;
  readonly theme?: Theme;
  /** The first page, such as `/#/home`; default: the page of the link. */
  readonly path?: string;
  /** Runs before the engine starts, to write what it finds in its home folder. */
  readonly prepare?: (home: string) => void;
  /** The folder of an earlier run, with its `home`. The caller removes it. */
  readonly folder?: string;
  /** The working directory of `dray ui`; default: `folder`. */
  readonly directory?: string;
  /** A build to run instead of the sources. */
  readonly command?: string;
}

export interface OpenWindow extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The folder in which `dray ui` runs; removed afterwards. */
  readonly folder: string;
  readonly engine: RunningProcess;
  /** Messages that no page should have: errors, and requests that its policy refused. */
  readonly complaints: readonly string[];
}

export interface RunningUi extends AsyncDisposable {
  /** The link, which opens one browser. */
  readonly link: string;
  readonly origin: string;
  readonly folder: string;
  readonly engine: RunningProcess;
}

/** Starts `dray ui` alone, without this user's settings. */
export async function startUi(options: OpenWindowOptions = {}): Promise<RunningUi> {
  const { command = COMMAND, environment = {}, port = 0 } = options;
  // The command from its sources builds the window itself.
  const stale = command === process.env.DRAY_TEST_COMMAND && whyStale(join(dirname(command), 'window'));
  if (stale) throw new Error(`${stale}. Build it: npm run build`);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'dray-window-'));
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  options.prepare?.(home);
  const remove = () => {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const engine = startProcess(
    process.execPath,
    [command, '-C', options.directory ?? folder, 'ui', '--no-open', '--port', String(port), '--json'],
    {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      DRAY_AUTHOR: 'tester',
      ...environment,
    },
  );
  const stop = async () => {
    await engine.stop();
    remove();
  };
  try {
    let link: string | undefined;
    await waitUntilReady(engine, async () => {
      link = /"type":"window","url":"([^"]+)"/.exec(engine.output())?.[1];
      return link !== undefined;
    });
    return { link: link!, origin: new URL(link!).origin, folder, engine, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Chromium keeps two hidden pages beside each window, the popups of its address bar, which no test sees. They
 * cost as much as the window itself. The rest is what Playwright disables: Chromium obeys the last list only.
 */
const UNUSED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/** The one of this process. Test files that share a process share it: a launch takes longer than any page. */
let launched: Promise<Browser> | undefined;

/**
 * Within Vitest, closing it closes its pages. It ends with the process: Chromium exits when the other end of
 * its pipe is gone.
 */
export async function launchBrowser(): Promise<Browser> {
  if (process.env.VITEST === undefined) return launchChromium();
  let browser = await launched?.catch(() => undefined);
  // After a crash or a failed launch, the next file gets another one.
  if (!browser?.isConnected()) {
    launched = launchChromium();
    browser = await launched;
  }
  browser.close = async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return browser;
}

function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium. Set CHROMIUM_PATH or put it on the PATH.');
  // Without its sandbox, because tests often run as root in containers that do not allow it.
  const args = ['--no-sandbox', '--force-color-profile=srgb', `--disable-features=${UNUSED_FEATURES.join()}`];
  return chromium.launch({ executablePath, args });
}

export async function openWindow(browser: Browser, options: OpenWindowOptions = {}): Promise<OpenWindow> {
  const ui = await startUi(options);
  try {
    const context = await browser.newContext({
      viewport: VIEWPORT,
      colorScheme: options.theme ?? 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(askForNotifications);
    await delayMessages(context);
    const page = await context.newPage();
    const complaints = listen(page);
    await throttle(page);
    await page.goto(options.path === undefined ? ui.link : await enter(context, ui, options.path));
    // The page is loaded before React has drawn the window. Until then no one is there to press a key.
    await page.locator('#screen').waitFor();
    const saveLastLook = await printAfterFailure(page);
    return {
      page,
      context,
      origin: ui.origin,
      folder: ui.folder,
      engine: ui.engine,
      complaints,
      [Symbol.asyncDispose]: async () => {
        await saveLastLook();
        await context.close();
        await ui[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await ui[Symbol.asyncDispose]();
    throw error;
  }
}

/** Chromium's headless shell denies notifications by itself. All browsers that people use ask them. */
function askForNotifications(): void {
  const { Notification } = globalThis as { readonly Notification?: { readonly permission: string } };
  if (Notification?.permission === 'denied')
    Object.defineProperty(Notification, 'permission', { configurable: true, get: () => 'default' });
}

/**
 * Opens the link without a page, and returns the address of this screen with the window's key, so that the
 * browser runs the window once: not on the first screen, and then on this one.
 */
async function enter(context: BrowserContext, { link, origin }: RunningUi, path: string): Promise<string> {
  const headers = { 'sec-fetch-site': 'none' };
  const answer = await context.request.get(link, { headers, maxRedirects: 0 });
  const key = /^\/#key=[\w-]+/.exec(answer.headers().location ?? '')?.[0];
  if (key === undefined) throw new Error(`The link gave no key, but HTTP ${answer.status()}.`);
  return `${origin}${key}${path.slice('/#'.length)}`;
}

/**
 * `DRAY_CPU_THROTTLE=4` slows every page's processor down to a quarter, which shows races that a fast machine
 * hides.
 */
async function throttle(page: Page): Promise<void> {
  const rate = Number(process.env.DRAY_CPU_THROTTLE ?? 1);
  if (rate === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
}

/**
 * Prints what the page showed last, if the test fails: a failure on another machine cannot be watched.
 * @returns Call it before the page is closed.
 */
async function printAfterFailure(page: Page): Promise<() => Promise<void>> {
  // The benchmark opens windows without Vitest.
  if (process.env.VITEST === undefined) return async () => {};
  const { onTestFailed } = await import('vitest');
  let look = 'The page was not read.';
  try {
    onTestFailed(({ task }) => {
      const [error] = task.result?.errors ?? [];
      if (error) error.message += `\n${page.url()} showed at the end:\n${look.slice(0, LOOK_MAX)}`;
    });
  } catch {
    // A hook's window belongs to no test. The name of the current test may be that of an earlier file.
    return async () => {};
  }
  return async () => {
    look = await page.locator('body').ariaSnapshot({ timeout: LOOK_MS }).catch(String);
  };
}

/** Chromium reports what a policy refused on the console. */
function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`.trim());
  });
  return complaints;
}
