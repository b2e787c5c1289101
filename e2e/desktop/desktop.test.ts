/**
 * The desktop app in the real Electron. Its program is fetched when the package `electron` is installed; where it is not at hand nothing
 * of this runs, and the run says so: then the same is known by the fake of app/desktop/electron.fixture.ts alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication, type Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDesktop } from '../../app/build/build-desktop.ts';
import { findElectron } from './find-electron.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const program = findElectron();
if (program === undefined)
  console.warn(
    'The desktop app was NOT tested in the real Electron: there is no program of it here (ELECTRON_PATH, node_modules/electron/dist).',
  );

describe.runIf(program !== undefined)('the desktop app in Electron', () => {
  let folder: string;
  let app: ElectronApplication;
  let page: Page;

  const launch = async (...more: string[]) => {
    const { ELECTRON_RUN_AS_NODE: _none, ...environment } = process.env;
    return _electron.launch({
      executablePath: program!,
      // Chromium's own sandbox needs rights that a container seldom gives; that of our pages is asked for by the app itself.
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        join(ROOT, 'dist/desktop/main.js'),
        `--user-data-dir=${join(folder, 'user-data')}`,
        ...more,
      ],
      env: { ...environment, DRAY_CONFIG: join(folder, 'config.json') } as Record<string, string>,
    });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dray-desktop-'));
    await buildDesktop(join(ROOT, 'dist/desktop'));
    app = await launch();
    page = await app.firstWindow();
  });
  afterAll(async () => {
    await app?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows Home, whose engine answers', async () => {
    expect(page.url()).toBe('dray-app://window/index.html');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.getByText('engine is away').count()).toBe(0);
  });

  it('gives the page no Node and no Electron, and of the desktop what its bridge says', async () => {
    const given = await page.evaluate(() => ({
      node: ['require', 'process', 'module', 'Buffer'].filter((name) => name in globalThis),
      bridge: Object.keys((globalThis as unknown as { dray: object }).dray).sort(),
    }));
    expect(given.node).toEqual([]);
    expect(given.bridge).toEqual(['chooseFiles', 'chooseFolder', 'pathOf', 'requestPort', 'secrets']);
  });

  it('reads no file beside the window and reaches no server', async () => {
    const answers = await page.evaluate(async () => {
      const status = (url: string) =>
        fetch(url).then(
          ({ status }) => status,
          () => 'refused',
        );
      return [
        await status('dray-app://window/..%2fdesktop%2fmain.js'),
        await status('dray-app://window/desktop/main.js'),
        await status('file:///etc/passwd'),
        await status('https://example.com/'),
      ];
    });
    expect(answers).toEqual([404, 404, 'refused', 'refused']);
  });

  it('stays where it is, and opens no second window', async () => {
    await page.evaluate(() => {
      (globalThis as unknown as { open(url: string): void }).open('about:blank');
      (globalThis as unknown as { location: { href: string } }).location.href = 'data:text/html,elsewhere';
    });
    expect(app.windows()).toHaveLength(1);
    expect(page.url()).toBe('dray-app://window/index.html');
  });

  it('is led by its menu from place to place', async () => {
    await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('#/transfers')?.click());
    await expect.poll(() => page.url()).toBe('dray-app://window/index.html#/transfers');
  });

  it('leaves a second start to the first', async () => {
    const second = await launch().then(
      (started) => started.waitForEvent('close').then(() => 'ended'),
      () => 'ended',
    );
    expect(second).toBe('ended');
    expect(app.windows()).toHaveLength(1);
  });
});
