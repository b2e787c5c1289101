/**
 * The desktop app in the real Electron, which the package `electron` downloads when it is installed. Without
 * it these tests are skipped with a warning, and only the fake of app/desktop/electron.fixture.ts covers the
 * app.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type ElectronApplication, type Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDesktop } from '../../app/build/build-desktop.ts';
import { buildWindow } from '../../app/build/build-window.ts';
import { findElectron } from './find-electron.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const program = findElectron();
if (program === undefined)
  console.warn(
    'The desktop app was NOT tested in the real Electron: neither ELECTRON_PATH nor node_modules has it.',
  );

describe.runIf(program !== undefined)('The desktop app in Electron', () => {
  let folder: string;
  let app: ElectronApplication;
  let page: Page;

  const launch = async (...more: string[]) => {
    const { ELECTRON_RUN_AS_NODE: _none, ...environment } = process.env;
    return _electron.launch({
      executablePath: program!,
      // Chromium's sandbox needs rights that containers seldom grant. The app itself enables the sandbox of
      // its pages.
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
    await buildWindow(join(ROOT, 'dist/window'));
    await buildDesktop(join(ROOT, 'dist/desktop'));
    app = await launch();
    page = await app.firstWindow();
  });
  afterAll(async () => {
    await app?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows Home, and its engine answers', async () => {
    expect(page.url()).toBe('dray-app://window/index.html');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.getByText('engine does not answer').count()).toBe(0);
  });

  it('exposes only its bridge to the page, no Node and no Electron', async () => {
    const given = await page.evaluate(() => ({
      node: ['require', 'process', 'module', 'Buffer'].filter((name) => name in globalThis),
      bridge: Object.keys((globalThis as unknown as { dray: object }).dray).sort(),
    }));
    expect(given.node).toEqual([]);
    expect(given.bridge).toEqual([
      'chooseFolder',
      'pathOf',
      'requestPort',
      'reveal',
      'secrets',
      'testNotice',
    ]);
  });

  it("refuses files outside the window's folder and all servers", async () => {
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

  it('ignores navigation away and opens no second window', async () => {
    await page.evaluate(() => {
      (globalThis as unknown as { open(url: string): void }).open('about:blank');
      (globalThis as unknown as { location: { href: string } }).location.href = 'data:text/html,elsewhere';
    });
    expect(app.windows()).toHaveLength(1);
    expect(page.url()).toBe('dray-app://window/index.html');
  });

  it('navigates by its menu', async () => {
    await app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('#/transfers')?.click());
    await expect.poll(() => page.url()).toBe('dray-app://window/index.html#/transfers');
  });

  it('ends a second start and keeps the first', async () => {
    const second = await launch().then(
      (started) => started.waitForEvent('close').then(() => 'ended'),
      () => 'ended',
    );
    expect(second).toBe('ended');
    expect(app.windows()).toHaveLength(1);
  });
});
