/**
 * What the window offers when the desktop app has put its bridge into the page. Here the test provides the
 * bridge and its answers.
 */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SecretsState } from '../../engine/api/desktop-bridge.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations, findViolationsInBothThemes } from './find-violations.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';

const WARNING = 'This desktop offers no keyring, so nothing can be saved here.';

describe.skipIf(!findChromium())('The window in the desktop app', () => {
  let browser: Browser;
  let window: OpenWindow;
  let page: Page;
  const removed: string[] = [];
  let state: SecretsState = { profiles: ['lab', 'stuck'], isAvailable: true, warning: WARNING };

  beforeAll(async () => {
    browser = await launchBrowser();
    window = await openWindow(browser);
    page = window.page;
    await page.exposeFunction('secretsState', () => state);
    await page.exposeFunction('saveKeys', (profile: string) => {
      if (profile === 'stuck') throw new Error('The disk is full.');
      removed.push(profile);
      state = { profiles: ['stuck'], isAvailable: true };
      return state;
    });
    await page.addInitScript(() => {
      const given = globalThis as unknown as Record<string, unknown>;
      given.dray = { secrets: { state: given.secretsState, saveKeys: given.saveKeys } };
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
    await remove('Keys of lab');
    await page.getByText('Keys of lab', { exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByText(WARNING).count()).toBe(0);
    await remove('Token of 10.0.8.2:7443');
    await page.getByText('Token of 10.0.8.2:7443', { exact: true }).waitFor({ state: 'detached' });
    await remove('Keys of stuck');
    await page.getByText('The disk is full.').waitFor();
    await page.getByText('Keys of stuck', { exact: true }).waitFor();
    expect(removed).toEqual(['lab']);
    expect(await findViolations(page)).toEqual([]);
  });

  it("shows the menu's shortcuts beside its commands", async () => {
    await open('home');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    for (const name of ['Changes Screen Ctrl 2', 'Settings Screen Ctrl ,', 'Add a workspace Home Ctrl O'])
      await page.getByRole('menuitem', { name }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
