import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keptKeysOf } from '../../engine/remotes/s3/keys/kept-keys.ts';
import type { FakeFrame } from './electron-window.fixture.ts';
import { transfer, until } from './engine.fixture.ts';
import { inUserFolder } from './start-desktop.fixture.ts';

const user = inUserFolder();
const { start } = user;

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
    // No white flash before a dark page: the window appears after its first paint.
    expect(windows[0]!.options.show).toBe(false);
  });

  it('registers its name and its links with the system, but leaves links to the installed app in a development build', async () => {
    const installed = await start();
    expect([installed.app.userModelId, installed.app.protocolClients]).toEqual([
      'dev.dray.desktop',
      ['dray'],
    ]);
    const development = await start({}, { isPackaged: false });
    expect(development.app.protocolClients).toEqual([]);
  });

  it('restores the position and size of the window', async () => {
    const first = await start();
    const bounds = { x: 200, y: 140, width: 1000, height: 700 };
    first.windows[0]!.setBounds(bounds);
    first.windows[0]!.maximize();
    first.windows[0]!.close();
    const second = await start();
    await until(() => second.windows[0]!.isMaximized());
    expect(second.windows[0]!.getNormalBounds()).toEqual(bounds);
  });

  it('denies permissions and confines navigation before the page loads', async () => {
    const { page, windows } = await start();
    expect(page.asksFor('media')).toBe(false);
    expect(page.requests('https://example.com/')).toBe(false);
    expect(windows[0]!.webContents.navigate({ url: 'https://example.com/' })).toBe(false);
    expect((await page.fetches('dray-app://window/index.html')).status).toBe(200);
  });

  it('of a second Dray opens nothing and passes on to the first', async () => {
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

  it('at login shows nothing, and quits if there is nothing to resume', async () => {
    const { windows, emitTransfers, app } = await start({ argv: ['/opt/dray', '--hidden'] });
    expect(windows).toHaveLength(0);
    await emitTransfers(transfer({ id: 'a', state: 'running' }));
    expect(app.hasQuit).toBe(false);
    await emitTransfers(transfer({ id: 'a', state: 'done' }));
    await until(() => app.hasQuit);
  });
});

describe('the page', () => {
  it('shows a file of this computer in the file manager, and no other path', async () => {
    const { page, revealed, windows } = await start();
    const contents = windows[0]!.webContents;
    const ask = (path: unknown) => page.invokes({ contents }, 'dray:reveal', path);
    expect(await ask(process.execPath)).toBe(true);
    expect(await ask(`${process.execPath}-gone`)).toBe(false);
    for (const path of [
      '',
      'notes.md',
      '/a/../b',
      '//host/share/a',
      '\\\\host\\share',
      'https://a',
      '/a\0b',
      7,
    ])
      await expect(ask(path), String(path)).rejects.toThrow('A path must be');
    expect(revealed).toEqual([process.execPath]);
  });

  it('drags files that the engine has prepared, and no paths of its own', async () => {
    const gone = join(process.execPath, 'gone');
    const ids: Record<string, readonly string[]> = { one: [process.execPath], none: [], lost: [gone] };
    const answers = { 'drags.begin': (input: unknown) => ({ paths: ids[(input as { id: string }).id] }) };
    const { page, windows } = await start({}, { answers });
    const contents = windows[0]!.webContents;
    const drag = (id: unknown, frame?: FakeFrame) =>
      page.invokes({ contents, ...(frame && { frame }) }, 'dray:drag', id);
    await drag('one');
    await drag('none');
    expect(contents.dragged).toEqual([[process.execPath]]);
    await expect(drag('lost')).rejects.toThrow('There is no file');
    await expect(drag([process.execPath])).rejects.toThrow('short text');
    const frame = { url: 'https://example.com/', parent: null };
    await expect(drag('one', frame)).rejects.toThrow('Refused.');
    expect(contents.dragged).toHaveLength(1);
  });

  it('gets a port, a folder and the state of the secrets; any other sender gets none of them', async () => {
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

  it('shows a test notice that leads to the jobs, if the system shows notices', async () => {
    const { notifications, page, places, windows } = await start();
    const contents = windows[0]!.webContents;
    expect(await page.invokes({ contents }, 'dray:test-notice', 'night')).toBe(true);
    expect(notifications.map(({ body, title }) => [title, body])).toEqual([
      ['Test notice: night', 'This is a test.'],
    ]);
    notifications[0]!.emit('click');
    expect(places()).toEqual(['#/jobs']);
    await expect(page.invokes({ contents }, 'dray:test-notice', 7)).rejects.toThrow('short text');
  });

  it('saves secrets, which the engine uses at once without a restart', async () => {
    const { page, windows, engine } = await start();
    const contents = windows[0]!.webContents;
    const keys = { accessKeyId: 'AK', secretAccessKey: 'secret' };
    const saved = await page.invokes({ contents }, 'dray:save-keys', 'lab', keys);
    expect(saved).toEqual({ profiles: ['lab'], isAvailable: true });
    expect(engine.environments).toHaveLength(2);
    expect(engine.environments[0]).toEqual({});
    expect(keptKeysOf(engine.environments[1]!)).toEqual(new Map([['lab', keys]]));
    expect(engine.counts).toEqual({ open: 1, closed: 0 });
    await expect(
      page.invokes({ contents }, 'dray:save-keys', 'lab', { accessKeyId: 'AK' }),
    ).rejects.toThrow();
  });

  it('is reloaded after a crash when the user agrees', async () => {
    const { windows, dialogs } = await start();
    windows[0]!.webContents.emit('render-process-gone', {}, { reason: 'oom', exitCode: 1 });
    await until(() => windows[0]!.webContents.reloads === 1);
    expect(dialogs[0]!.message).toBe('The window stopped working.');
  });
});

describe('menus', () => {
  it('lead to places in the window', async () => {
    const { person, places } = await start();
    person.clicksMenu('#/transfers');
    person.clicksMenu('#/changes?direction=push');
    expect(places()).toEqual(['#/transfers', '#/changes?direction=push']);
  });

  it('open a window if it was closed, as apps on macOS may be', async () => {
    const { person, windows, app } = await start({ platform: 'darwin' });
    windows[0]!.close();
    expect(app.hasQuit).toBe(false);
    person.clicksMenu('#/history');
    expect(windows[0]!.webContents.getURL()).toBe('dray-app://window/index.html#/history');
  });

  it('use each shortcut only once', async () => {
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

  it('set Dray to open at login, by a file on Linux and by the system elsewhere', async () => {
    const linux = await start({ environment: { APPIMAGE: '/home/ada/My Apps/100% "Dray".AppImage' } });
    linux.person.clicksMenu('opens-at-login');
    const path = join(user.path(), '.config', 'autostart', 'dray.desktop');
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

describe('the end', () => {
  it('closes the engine properly, once, before the app quits', async () => {
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
