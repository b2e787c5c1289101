/**
 * The forms and keys that the window offers only in the desktop app, whose bridge a test puts into the page.
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepToken } from '../../engine/remotes/peer/peer-tokens.ts';
import { installFakeDesktop, savedKeys, testNotices } from './fake-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WARNING = 'This desktop offers no keyring, so nothing can be saved here.';
const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' };

describe.skipIf(!findChromium())('The window in the desktop app', () => {
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    window = await openWindow(browser);
    keepToken(join(window.folder, 'home', '.config', 'dray'), 'dray://10.0.8.2:7443', 'token');
    page = await window.context.newPage();
    const keys = { lab: KEYS, stuck: KEYS };
    await installFakeDesktop(page, window.page, { keys, warning: WARNING, fails: ['stuck'] });
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.close();
  });
  const open = async (place: string) => {
    await page.goto('about:blank');
    await page.goto(`${window.origin}/#/${place}`);
  };

  it('lists stored credentials, warns where none can be stored, and removes them', async () => {
    await open('settings');
    await page.getByText(WARNING).waitFor();
    expect(await page.locator('.credential').allInnerTexts()).toEqual(
      ['Keys of lab', 'Keys of stuck', 'Token of 10.0.8.2:7443'].map((words) => `${words}\nRemove`),
    );
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const remove = async (words: string) => {
      await page.getByRole('button', { name: `Remove: ${words}` }).click();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
    };
    for (const words of ['Keys of lab', 'Token of 10.0.8.2:7443']) {
      await remove(words);
      await page.getByText(words, { exact: true }).waitFor({ state: 'detached' });
    }
    await remove('Keys of stuck');
    await page.getByText('The disk is full.').waitFor();
    await page.getByText('Keys of stuck', { exact: true }).waitFor();
    expect(Object.keys((await savedKeys(page)) ?? {})).toEqual(['stuck']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });

  it('sends the test notice of a job to the desktop', async () => {
    await open('jobs?add=yes');
    const dialog = page.getByRole('dialog', { name: 'New job' });
    await dialog.getByLabel('Name', { exact: true }).fill('night');
    await dialog.getByText('Notices: on this computer').click();
    await dialog.getByRole('button', { name: 'Send a test notice' }).press('Enter');
    await dialog.getByText('A test notice was sent.').waitFor();
    expect(await testNotices(page)).toEqual(['night']);
    await page.keyboard.press('Escape');
  });

  it("shows the menu's shortcuts beside its commands", async () => {
    await open('home');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    for (const name of ['Changes Screen Ctrl 2', 'Settings Screen Ctrl ,', 'Add a workspace Home Ctrl O'])
      await page.getByRole('menuitem', { name }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });
});
