/** The real window for tests: `dray ui` in a home of its own, and Chromium at its link. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { type RunningProcess, startProcess, waitUntilReady } from '../servers/tools.ts';
import { findChromium } from './find-chromium.ts';

const COMMAND = fileURLToPath(new URL('../../app/cli/main.ts', import.meta.url));
/** The size of the README's pictures. */
const VIEWPORT = { width: 1280, height: 800 };

/** What a machine under heavy load takes at most; no test measures by it. */
export const PATIENCE_MS = 120_000;

export type Theme = 'light' | 'dark';

export interface OpenWindowOptions {
  /** Beside PATH, HOME and the sandbox's own; such as a test server's credentials. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: any that is free. */
  readonly port?: number;
  readonly theme?: Theme;
  /** What follows the link's first page, such as `/?fixture#/home`. */
  readonly path?: string;
  /** Of an earlier run, with its `home` in it: then it is the caller's to remove. */
  readonly folder?: string;
  /** Where it is started; default: `folder`. */
  readonly directory?: string;
  /** Another build than the sources. */
  readonly command?: string;
}

export interface OpenWindow extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Where `dray ui` was started; gone afterwards. */
  readonly folder: string;
  readonly engine: RunningProcess;
  /** What the page said that no page should: errors, and what its policy refused. */
  readonly complaints: readonly string[];
}

export interface RunningUi extends AsyncDisposable {
  /** Opens one browser. */
  readonly link: string;
  readonly origin: string;
  readonly folder: string;
  readonly engine: RunningProcess;
}

/** `dray ui` alone, with nothing of this user's settings. */
export async function startUi(options: OpenWindowOptions = {}): Promise<RunningUi> {
  const { command = COMMAND, environment = {}, port = 0 } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'dray-window-'));
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
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

/** One for all tests of a file: starting it takes longer than any page. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium: set CHROMIUM_PATH, or have it on the PATH.');
  // Without its sandbox since tests often run as root, in containers that allow none.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--force-color-profile=srgb'] });
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
    const page = await context.newPage();
    const complaints = listen(page);
    await throttle(page);
    await page.goto(ui.link);
    if (options.path !== undefined) await page.goto(`${ui.origin}${options.path}`);
    return {
      page,
      context,
      origin: ui.origin,
      folder: ui.folder,
      engine: ui.engine,
      complaints,
      [Symbol.asyncDispose]: async () => {
        await context.close();
        await ui[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await ui[Symbol.asyncDispose]();
    throw error;
  }
}

/** `DRAY_CPU_THROTTLE=4` lets every page run at a quarter of the processor's speed: a race that a fast machine hides then shows. */
async function throttle(page: Page): Promise<void> {
  const rate = Number(process.env.DRAY_CPU_THROTTLE ?? 1);
  if (rate === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
}

/** Chromium tells of what a policy refused on the console. */
function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}
