/** Senders, navigation and permissions: what the page must not do. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createFakeElectron } from './electron.fixture.ts';
import { type FakeFrame, preventable } from './electron-window.fixture.ts';
import { denyPermissions } from './permissions.ts';
import { answerOwn, hearOwn } from './senders.ts';
import { confineNavigation, outsideLink } from './window/navigation.ts';

const OWN = 'dray-app://window/index.html';

async function openPage() {
  const fake = createFakeElectron({ userData: tmpdir() });
  await fake.app.whenReady();
  confineNavigation(fake.electron);
  denyPermissions(fake.electron.session.defaultSession);
  const window = new fake.electron.BrowserWindow({});
  void window.loadURL(OWN);
  return { ...fake, contents: fake.windows[0]!.webContents };
}

describe('requests to the main process', () => {
  const top: FakeFrame = { url: OWN, parent: null };
  const strangers: readonly (readonly [string, FakeFrame | null])[] = [
    ['a frame that is gone', null],
    ['a frame within the page', { url: OWN, parent: top }],
    ['a page of the web', { url: 'https://example.com/', parent: null }],
    ['a page of the disk', { url: 'file:///index.html', parent: null }],
    ['another host of the scheme', { url: 'dray-app://other/index.html', parent: null }],
    ['a host that begins like ours', { url: 'dray-app://window.example/index.html', parent: null }],
    ['a user name that looks like our host', { url: 'dray-app://window@example.com/', parent: null }],
    ['an empty page', { url: 'about:blank', parent: null }],
    ['no URL', { url: '', parent: null }],
  ];

  it.each(strangers)('refuses %s', async (_name, frame) => {
    const { electron, page, contents } = await openPage();
    const heard: string[] = [];
    answerOwn(electron, 'ask', String, (text) => heard.push(text));
    hearOwn(electron, 'notify', () => heard.push('notified'));
    await expect(page.invokes({ contents, frame }, 'ask', 'x')).rejects.toThrow('Refused.');
    page.sends({ contents, frame }, 'notify');
    expect(heard).toEqual([]);
  });

  it('are answered for its own page, after their content was checked', async () => {
    const { electron, page, contents } = await openPage();
    const read = ([given]: readonly unknown[]) => {
      if (typeof given !== 'number') throw new Error('A number is needed.');
      return given;
    };
    answerOwn(electron, 'double', read, (given) => given * 2);
    expect(await page.invokes({ contents }, 'double', 21)).toBe(42);
    await expect(page.invokes({ contents }, 'double', '21')).rejects.toThrow('A number is needed.');
  });
});

describe('navigation of the page', () => {
  it.each([
    'https://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'dray-app://other/',
    'data:text/html,x',
  ])('never leads to %s', async (url) => {
    const { contents } = await openPage();
    expect(contents.navigate({ url })).toBe(false);
    expect(contents.navigate({ url, isMainFrame: false })).toBe(false);
    expect(contents.redirect(url)).toBe(false);
    expect(contents.getURL()).toBe(OWN);
  });

  it.each(['will-navigate', 'will-frame-navigate', 'will-redirect'])('is held by %s alone', async (name) => {
    const { contents } = await openPage();
    const event = preventable({ url: 'https://example.com/' });
    contents.emit(name, event);
    expect(event.defaultPrevented).toBe(true);
  });

  it('works within its own pages', async () => {
    const { contents } = await openPage();
    expect(contents.navigate({ url: `${OWN}#/changes` })).toBe(true);
  });

  it('opens no second window, and opens an https link in the browser', async () => {
    const { contents, opened } = await openPage();
    expect(contents.openWindow('https://example.com/docs?a=b#c')).toBe(false);
    expect(contents.openWindow('file:///bin/sh')).toBe(false);
    expect(contents.openWindow(OWN)).toBe(false);
    expect(opened).toEqual(['https://example.com/docs?a=b#c']);
  });

  it.each([
    'http://example.com/',
    'smb://host/share',
    'ms-msdt:/id',
    'https://bank.example@evil.example/',
    'https://',
    `https://example.com/${'a'.repeat(3_000)}`,
    '',
  ])('opens %s nowhere', (url) => expect(outsideLink(url)).toBeUndefined());

  it('refuses an embedded page', async () => {
    const { contents } = await openPage();
    const event = { isPrevented: false, preventDefault: () => Object.assign(event, { isPrevented: true }) };
    contents.emit('will-attach-webview', event);
    expect(event.isPrevented).toBe(true);
  });
});

describe('permissions of the page', () => {
  it('include no permission, no device and no download', async () => {
    const { page } = await openPage();
    for (const permission of [
      'media',
      'geolocation',
      'notifications',
      'clipboard-read',
      'openExternal',
      'fullscreen',
    ])
      expect(page.asksFor(permission)).toBe(false);
    expect([page.isAllowed(), page.mayUseDevice(), page.downloads()]).toEqual([false, false, false]);
  });

  it('include no request to any server', async () => {
    const { page } = await openPage();
    expect(page.requests('https://example.com/pixel.png')).toBe(false);
    expect(page.requests('ws://127.0.0.1:9/')).toBe(false);
    expect(page.requests('file:///etc/passwd')).toBe(false);
    expect(page.requests('dray-app://window/assets/main.js')).toBe(true);
    expect(page.requests('data:image/png;base64,AA==')).toBe(true);
  });
});
