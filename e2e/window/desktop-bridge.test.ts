/** What the window offers where the desktop app has put its bridge into the page. Here a test has, with an answer to each question. */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SecretsState } from '../../engine/api/desktop-bridge.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations, findViolationsInBothThemes } from './find-violations.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';

const WARNING = 'This desktop offers no keyring, so nothing can be saved here.';

describe.skipIf(!findChromium())('the window in the desktop app', () => {
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;
  const saved: string[] = [];
  let state: SecretsState = { hasToken: false, profiles: ['lab'], isAvailable: true, warning: WARNING };

  beforeAll(async () => {
    browser = await launchBrowser();
    window = await openWindow(browser);
    page = window.page;
    await page.exposeFunction('secretsState', () => state);
    await page.exposeFunction('saveToken', (token: string) => {
      if (token === 'refused') throw new Error('A token is one line of text.');
      saved.push(token);
      state = { hasToken: token !== '', profiles: ['lab'], isAvailable: true };
      return state;
    });
    await page.addInitScript(() => {
      const given = globalThis as unknown as Record<string, unknown>;
      given.dray = { secrets: { state: given.secretsState, saveToken: given.saveToken } };
    });
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.close();
  });
  const open = async (place: string) => {
    await page.goto('about:blank');
    await page.goto(`${window.origin}/?fixture#/${place}`);
  };

  it('keeps credentials, warns where they are as good as open, and shows none again', async () => {
    await open('settings');
    await page.getByText(WARNING).waitFor();
    await page.getByText('Keys of lab').waitFor();
    const button = (verb: string) => page.getByRole('button', { name: `${verb}: Token of other machines` });
    await button('Set').click();
    const field = page.getByLabel('Token', { exact: true });
    expect(await field.getAttribute('type')).toBe('password');
    expect(await findViolations(page)).toEqual([]);
    await field.fill('a token');
    await page.keyboard.press('Enter');
    await button('Change').waitFor();
    expect(await page.getByText(WARNING).count()).toBe(0);
    expect(await page.content()).not.toContain('a token');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await button('Change').click();
    await field.fill('refused');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A token is one line of text.').waitFor();
    await button('Remove').click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await button('Set').waitFor();
    expect(saved).toEqual(['a token', '']);
  });

  it('shows the keys of its menu beside its commands', async () => {
    await open('home');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    for (const name of ['Changes Screen Ctrl 2', 'Settings Screen Ctrl ,', 'Add a workspace Home Ctrl O'])
      await page.getByRole('menuitem', { name }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
