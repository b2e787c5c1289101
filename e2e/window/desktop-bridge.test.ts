/** What the window offers where the desktop app has put its bridge into the page. Here a test has, with an answer to each question. */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SecretsState } from '../../engine/api/desktop-bridge.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations } from './find-violations.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';

const WARNING = 'This desktop offers no keyring, so that whoever can read your files can read it.';

describe.skipIf(!findChromium())('the window in the desktop app', () => {
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;
  const saved: { readonly name: string; readonly value: string }[] = [];
  let state: SecretsState = { saved: [], isAvailable: true, warning: WARNING };

  beforeAll(async () => {
    browser = await launchBrowser();
    window = await openWindow(browser);
    page = window.page;
    await page.exposeFunction('listSecrets', () => state);
    await page.exposeFunction('saveSecret', (name: 'DRAY_TOKEN', value: string) => {
      if (value === 'refused') throw new Error('A secret is one line of text.');
      saved.push({ name, value });
      state = { saved: value === '' ? [] : [name], isAvailable: true };
      return state;
    });
    await page.addInitScript(() => {
      const given = globalThis as unknown as Record<string, unknown>;
      given.dray = { secrets: { list: given.listSecrets, save: given.saveSecret } };
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
    const token = page.getByRole('listitem').filter({ hasText: 'DRAY_TOKEN' });
    await token.getByRole('button', { name: 'Set' }).click();
    const field = page.getByLabel('DRAY_TOKEN');
    expect(await field.getAttribute('type')).toBe('password');
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type('a token');
    await page.keyboard.press('Enter');
    await token.getByText('Saved', { exact: true }).waitFor();
    expect(await page.getByText(WARNING).count()).toBe(0);
    expect(await page.content()).not.toContain('a token');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findViolations(page)).toEqual([]);
    }
    await token.getByRole('button', { name: 'Change' }).click();
    await field.fill('refused');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A secret is one line of text.').waitFor();
    await token.getByRole('button', { name: 'Remove' }).click();
    await token.getByText('Saved', { exact: true }).waitFor({ state: 'detached' });
    expect(saved).toEqual([
      { name: 'DRAY_TOKEN', value: 'a token' },
      { name: 'DRAY_TOKEN', value: '' },
    ]);
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
