/** What the window offers where the desktop app has put its bridge into the page. Here a test has, with an answer to each question. */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installFakeDesktop } from './fake-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations } from './find-violations.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';

describe.skipIf(!findChromium())('the window in the desktop app', () => {
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    window = await openWindow(browser);
    page = window.page;
    await installFakeDesktop(page);
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.close();
  });
  const open = async (place: string) => {
    await page.goto('about:blank');
    await page.goto(`${window.origin}/?fixture#/${place}`);
  };

  it('shows the keys of its menu beside its commands', async () => {
    await open('home');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    for (const name of ['Changes Screen Ctrl 2', 'Settings Screen Ctrl ,', 'Add a workspace Home Ctrl O'])
      await page.getByRole('menuitem', { name }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
