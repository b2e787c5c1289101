import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import { keptKeysOf } from '../../engine/base/kept-keys.ts';
import { type DesktopFacts, startDesktop } from './desktop-app.ts';
import { createFakeElectron } from './electron.fixture.ts';
import type { FakeOptions } from './electron-app.fixture.ts';
import { createFakeEngine, transfer, until } from './engine.fixture.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-desktop-'));
  mkdirSync(join(folder, 'window'));
  writeFileSync(join(folder, 'window', 'index.html'), '<!doctype html>');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Answers = Parameters<typeof createFakeEngine>[0];

async function start(
  facts: Partial<DesktopFacts> = {},
  { answers, ...options }: Partial<FakeOptions> & { readonly answers?: Answers } = {},
  fake = createFakeElectron({ userData: folder, ...options }),
) {
  const engine = createFakeEngine(answers);
  const isFirst = await startDesktop(fake.electron, {
    platform: 'linux',
    environment: {},
    argv: ['/opt/dray'],
    program: '/opt/dray',
    windowFolder: join(folder, 'window'),
    preloadPath: '/app/preload.cjs',
    iconPath: '/app/icon.png',
    trayIconPath: '/app/tray.png',
    openHost: engine.openHost,
    ...facts,
  });
  if (isFirst) await until(() => engine.asked.some(({ name }) => name === 'transfers.watch'));
  const tell = async (...transfers: Parameters<typeof engine.tellTransfers>[0]) => {
    engine.tellTransfers(transfers);
    // The events and what follows from them, each a turn later than the one before.
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...fake,
    engine,
    isFirst,
    tell,
    places: () => fake.windows[0]!.webContents.sent.map(({ message }) => message),
  };
}

describe('the start', () => {
  it('shows one window, sandboxed and without Node, at our own page', async () => {
    const { windows, app } = await start();
    expect(app.isSandboxed).toBe(true);
    expect(windows).toHaveLength(1);
    expect(windows[0]!.webContents.getURL()).toBe('dray-app://window/index.html');
    expect(windows[0]!.isShown).toBe(true);
    expect(windows[0]!.options.webPreferences).toEqual({
      preload: '/app/preload.cjs',
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInSubFrames: false,
      nodeIntegrationInWorker: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      devTools: false,
    });
    // No white flash before a dark page: shown once it has painted.
    expect(windows[0]!.options.show).toBe(false);
  });

  it('is known to the system by its name and its links, which a build for development leaves to the installed app', async () => {
    const installed = await start();
    expect([installed.app.userModelId, installed.app.protocolClients]).toEqual([
      'dev.dray.desktop',
      ['dray'],
    ]);
    const development = await start({}, { isPackaged: false });
    expect(development.app.protocolClients).toEqual([]);
  });

  it('puts the window where it was, as large as it was', async () => {
    const first = await start();
    const bounds = { x: 200, y: 140, width: 1000, height: 700 };
    first.windows[0]!.setBounds(bounds);
    first.windows[0]!.maximize();
    first.windows[0]!.close();
    const second = await start();
    await until(() => second.windows[0]!.isMaximized());
    expect(second.windows[0]!.getNormalBounds()).toEqual(bounds);
  });

  it('denies and confines before the page is there', async () => {
    const { page, windows } = await start();
    expect(page.asksFor('media')).toBe(false);
    expect(page.requests('https://example.com/')).toBe(false);
    expect(windows[0]!.webContents.navigate({ url: 'https://example.com/' })).toBe(false);
    expect((await page.fetches('dray-app://window/index.html')).status).toBe(200);
  });

  it('of a second Dray opens nothing and leaves it to the first', async () => {
    const { isFirst, windows, engine, app } = await start({}, { isFirst: false });
    expect([isFirst, windows.length, engine.counts.open, app.hasQuit]).toEqual([false, 0, 0, true]);
  });

  it('brings the window to the front when a second one was started', async () => {
    const { app, windows } = await start();
    windows[0]!.minimize();
    app.emit('second-instance', {}, ['/opt/dray']);
    expect(windows).toHaveLength(1);
    expect([windows[0]!.isMinimized(), windows[0]!.isFront]).toEqual([false, true]);
  });

  it('at login shows nothing, and ends when there is nothing to go on with', async () => {
    const { windows, tell, app } = await start({ argv: ['/opt/dray', '--hidden'] });
    expect(windows).toHaveLength(0);
    await tell(transfer({ id: 'a', state: 'running' }));
    expect(app.hasQuit).toBe(false);
    await tell(transfer({ id: 'a', state: 'done' }));
    await until(() => app.hasQuit);
  });
});

describe('the page', () => {
  it('gets a port, a folder and the state of the secrets; a stranger gets none of them', async () => {
    const { page, windows, person } = await start();
    const contents = windows[0]!.webContents;
    page.sends({ contents }, 'dray:port');
    expect(contents.sent.map(({ channel, ports }) => [channel, ports.length])).toEqual([['dray:port', 1]]);
    person.chooses('/data');
    expect(await page.invokes({ contents }, 'dray:choose-folder', 'Choose')).toBe('/data');
    expect(await page.invokes({ contents }, 'dray:choose-folder', 'Choose')).toBeUndefined();
    await expect(page.invokes({ contents }, 'dray:choose-folder', { title: 1 })).rejects.toThrow(
      'short text',
    );

    const frame = { url: 'https://example.com/', parent: null };
    page.sends({ contents, frame }, 'dray:port');
    expect(contents.sent).toHaveLength(1);
    await expect(page.invokes({ contents, frame }, 'dray:secrets')).rejects.toThrow('Refused.');
  });

  it('saves secrets for the engine, which has them from then on without a new start', async () => {
    const { page, windows, engine } = await start();
    const contents = windows[0]!.webContents;
    await page.invokes({ contents }, 'dray:save-token', 'x');
    expect(engine.environments).toEqual([{}, { DRAY_TOKEN: 'x' }]);
    const keys = { accessKeyId: 'AK', secretAccessKey: 'secret' };
    const saved = await page.invokes({ contents }, 'dray:save-keys', 'lab', keys);
    expect(saved).toEqual({ hasToken: true, profiles: ['lab'], isAvailable: true });
    expect(keptKeysOf(engine.environments[2]!)).toEqual(new Map([['lab', keys]]));
    expect(engine.counts).toEqual({ open: 1, closed: 0 });
    await expect(
      page.invokes({ contents }, 'dray:save-keys', 'lab', { accessKeyId: 'AK' }),
    ).rejects.toThrow();
  });

  it('that crashed is loaded again when a person says so', async () => {
    const { windows, dialogs } = await start();
    windows[0]!.webContents.emit('render-process-gone', {}, { reason: 'oom', exitCode: 1 });
    await until(() => windows[0]!.webContents.reloads === 1);
    expect(dialogs[0]!.message).toBe('The window stopped working.');
  });
});

describe('menus', () => {
  it('lead to the places of the window', async () => {
    const { person, places } = await start();
    person.clicksMenu('#/transfers');
    person.clicksMenu('#/changes?direction=push');
    expect(places()).toEqual(['#/transfers', '#/changes?direction=push']);
  });

  it('make a window where it was closed, as macOS leaves its apps', async () => {
    const { person, windows, app } = await start({ platform: 'darwin' });
    windows[0]!.close();
    expect(app.hasQuit).toBe(false);
    person.clicksMenu('#/history');
    expect(windows[0]!.webContents.getURL()).toBe('dray-app://window/index.html#/history');
  });

  it('use each shortcut once', async () => {
    for (const platform of ['darwin', 'linux', 'win32'] as const) {
      const { menu, app } = await start({ platform });
      const items = menu().flatMap((item) => [item, ...(item.submenu ?? [])]);
      const shortcuts = items.flatMap(({ accelerator }) => accelerator ?? []);
      expect(new Set(shortcuts).size).toBe(shortcuts.length);
      expect(shortcuts).toContain('CmdOrCtrl+1');
      app.quit();
      await until(() => app.hasQuit);
    }
  });

  it('open Dray at login, by a file on Linux and by the system elsewhere', async () => {
    const linux = await start({ environment: { APPIMAGE: '/home/ada/My Apps/100% "Dray".AppImage' } });
    linux.person.clicksMenu('opens-at-login');
    const path = join(folder, '.config', 'autostart', 'dray.desktop');
    expect(readFileSync(path, 'utf8')).toContain(
      'Exec="/home/ada/My Apps/100%% \\\\"Dray\\\\".AppImage" --hidden\n',
    );
    linux.person.clicksMenu('opens-at-login');
    expect(existsSync(path)).toBe(false);

    const windows = await start({ platform: 'win32' });
    windows.person.clicksMenu('opens-at-login');
    expect(windows.app.loginItem).toEqual({ openAtLogin: true, args: ['--hidden'] });
  });
});

describe('transfers', () => {
  it('show in the taskbar and the tray while they run', async () => {
    const { tell, windows, trays, app } = await start();
    await tell(transfer({ id: 'a', state: 'running' }));
    expect([windows[0]!.progress, app.badge]).toEqual([{ value: 2, mode: 'indeterminate' }, 1]);
    await tell(
      transfer({ id: 'a', state: 'running', bytesDone: 30, bytesTotal: 100 }),
      transfer({ id: 'b', state: 'waiting', bytesTotal: 100 }),
      transfer({ id: 'c', state: 'paused', bytesDone: 1 }),
    );
    expect(windows[0]!.progress).toEqual({ value: 0.15, mode: 'normal' });
    expect([trays.length, trays[0]!.toolTip]).toEqual([1, 'Dray: 1 transfer, 15 %']);
    await tell(transfer({ id: 'a', state: 'paused' }));
    expect([windows[0]!.progress.value, app.badge, trays[0]!.isDestroyed()]).toEqual([-1, 0, true]);
  });

  it('go on when the window is closed, and Dray ends with the last one', async () => {
    const { tell, windows, app, notifications, trays, engine } = await start();
    await tell(transfer({ id: 'a', state: 'running' }));
    windows[0]!.close();
    expect([app.hasQuit, notifications[0]!.title]).toEqual([false, 'Transfers go on']);
    trays[0]!.emit('click');
    expect(windows[0]!.webContents.getURL()).toContain('#/transfers');
    windows[0]!.close();
    await tell(transfer({ id: 'a', state: 'done', startedMs: 0, endedMs: 60_000 }));
    await until(() => app.hasQuit);
    expect(engine.counts.closed).toBe(1);
  });

  it('that have ended leave nothing to be told of when the window is closed', async () => {
    const { tell, windows, app, notifications } = await start();
    await tell(transfer({ id: 'a', state: 'done' }));
    windows[0]!.close();
    await until(() => app.hasQuit);
    expect(notifications).toEqual([]);
  });

  it('have an icon that macOS draws in the colours of its bar', async () => {
    const { tell, trays } = await start();
    await tell(transfer({ id: 'a', state: 'running' }));
    expect(trays[0]!.icon).toMatchObject({ path: '/app/tray.png', isTemplate: true });
  });

  it('are paused from the tray', async () => {
    const { tell, trays, engine } = await start();
    await tell(transfer({ id: 'a', state: 'running' }));
    trays[0]!.menu.find(({ label }) => label === 'Pause All')!.click!({});
    await until(() => engine.asked.some(({ name }) => name === 'transfers.change'));
    expect(engine.asked.at(-1)!.input).toEqual({ ids: 'all', action: 'pause' });
  });

  const long = { id: 'a', startedMs: 0, endedMs: 60_000, filesDone: 1_200 };

  it('are told of when they were long and nobody looks', async () => {
    const { tell, notifications, places } = await start(
      {},
      { answers: { 'settings.get': () => ({ notifications: true }) } },
    );
    await tell(transfer({ ...long, state: 'running' }), transfer({ id: 'short', state: 'running' }));
    await tell(
      transfer({ ...long, state: 'done' }),
      transfer({ id: 'short', state: 'done', startedMs: 0, endedMs: 900 }),
    );
    expect(notifications.map(({ title, body }) => [title, body])).toEqual([
      ['Done: Push of a', '1,200 files.'],
    ]);
    notifications[0]!.emit('click');
    expect(places()).toEqual(['#/transfers']);
  });

  it('that failed are told of however short they were', async () => {
    const { tell, notifications } = await start(
      {},
      { answers: { 'settings.get': () => ({ notifications: true }) } },
    );
    await tell(transfer({ id: 'a', state: 'running' }));
    const error = { code: 'unreachable', message: 'The remote cannot be reached.' } as never;
    await tell(transfer({ id: 'a', state: 'failed', error }));
    expect(notifications[0]).toMatchObject({
      title: 'Failed: Push of a',
      body: 'The remote cannot be reached.',
    });
  });

  it('are told of to nobody who looks at the window or wants no notices', async () => {
    const looking = await start({}, { answers: { 'settings.get': () => ({ notifications: true }) } });
    looking.windows[0]!.focus();
    const silent = await start({}, { answers: { 'settings.get': () => ({ notifications: false }) } });
    for (const { tell, notifications } of [looking, silent]) {
      await tell(transfer({ ...long, state: 'running' }));
      await tell(transfer({ ...long, state: 'done' }));
      expect(notifications).toEqual([]);
    }
  });
});

describe('an engine that crashes', () => {
  it('is told of by a notice when it was started again', async () => {
    const { engine, notifications, dialogs } = await start();
    engine.crash();
    expect(notifications[0]!.title).toBe('The engine stopped');
    expect(dialogs).toEqual([]);
  });

  it('again and again is told of by a question, and started when a person says so', async () => {
    const { engine, dialogs, windows, tell } = await start();
    await tell(transfer({ id: 'a', state: 'running' }));
    engine.crash(true);
    await until(() => engine.counts.open === 2);
    expect(dialogs[0]).toMatchObject({ buttons: ['Start It Again', 'Quit'] });
    expect(dialogs[0]!.detail).toContain('out of memory');
    expect(windows[0]!.progress.value).toBe(-1);
  });

  it('again and again lets a person quit', async () => {
    const { engine, person, app } = await start();
    person.answers(1);
    engine.crash(true);
    await until(() => app.hasQuit);
  });
});

describe('a link', () => {
  const LINK = 'dray://open?workspace=/data';
  const asksFirst = async (given: Awaited<ReturnType<typeof start>>) => {
    await until(() => given.dialogs.length > 0);
    // Whoever presses Return or Escape without reading has said no.
    expect(given.dialogs[0]).toMatchObject({ buttons: ['Open', 'Cancel'], defaultId: 1, cancelId: 1 });
    expect(given.dialogs[0]!.detail).toContain('/data');
  };

  it('opens a workspace once a person has said so', async () => {
    const given = await start();
    given.person.answers(0);
    given.app.emit('second-instance', {}, ['/opt/dray', LINK]);
    await asksFirst(given);
    await until(() => given.places().length > 0);
    expect(given.engine.asked.at(-1)).toEqual({ name: 'home.addWorkspace', input: { root: '/data' } });
    expect(given.places()).toEqual(['#/changes?workspace=%2Fdata']);
  });

  it('of the start does nothing when a person says no', async () => {
    const fake = createFakeElectron({ userData: folder });
    fake.person.answers(1);
    const given = await start({ argv: ['/opt/dray', LINK] }, {}, fake);
    await asksFirst(given);
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(given.places()).toEqual([]);
    expect(given.engine.asked.map(({ name }) => name)).toEqual(['transfers.watch']);
  });

  it('that asks for more is refused aloud', async () => {
    const { app, dialogs, engine } = await start();
    app.emit('open-url', { preventDefault() {} }, 'dray://open?place=s3://b?endpoint=https://evil.example');
    await until(() => dialogs.length > 0);
    expect(dialogs[0]).toMatchObject({
      message: expect.stringContaining('may not ask for'),
      buttons: ['OK'],
    });
    expect(engine.asked.map(({ name }) => name)).toEqual(['transfers.watch']);
  });

  it('to what is no workspace says what is wrong', async () => {
    const { app, dialogs, places } = await start(
      {},
      {
        answers: {
          'home.addWorkspace': () => {
            throw new DrayError('notAWorkspace', '/data is no workspace.');
          },
        },
      },
    );
    app.emit('open-url', { preventDefault() {} }, LINK);
    await until(() => dialogs.length === 2);
    expect(dialogs[1]).toMatchObject({ detail: '/data is no workspace.' });
    expect(places()).toEqual([]);
  });
});

describe('the end', () => {
  it('closes the engine in order, once, before the app is gone', async () => {
    const { app, engine, windows } = await start();
    app.quit();
    app.quit();
    expect([app.hasQuit, windows.length]).toEqual([false, 0]);
    await until(() => app.hasQuit);
    expect(engine.counts.closed).toBe(1);
  });

  it('comes with the last window, except on macOS', async () => {
    const linux = await start();
    linux.windows[0]!.close();
    await until(() => linux.app.hasQuit);
    const mac = await start({ platform: 'darwin' });
    mac.windows[0]!.close();
    expect(mac.app.hasQuit).toBe(false);
    mac.app.emit('activate');
    expect(mac.windows).toHaveLength(1);
  });
});
