/** A workspace of another user in the window: it is refused with a way out, and trusted by choice alone. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import {
  canGiveFolders,
  giveWorkspace,
  makeSharedWorkspace,
  SOMEBODY,
  userSettingsOf,
} from './data/foreign-workspace.ts';
import { findChromium } from './find-chromium.ts';
import { tabTo } from './keyboard/press-keys.ts';
import { refusePointer } from './keyboard/start-by-keys.ts';
import { launchBrowser, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace } from './window-workspace.ts';

const WAIT = { timeout: 120_000, interval: 100 };
if (!canGiveFolders)
  console.info('Skipped: a workspace of another user. Only root can give a folder to somebody else.');

describe.skipIf(!canGiveFolders || !findChromium())("Another user's workspace", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('is refused on Home and on each of its screens, with a button that says what trust means', async () => {
    using sandbox = createSandbox();
    const root = await foreignWorkspace(sandbox);
    await using window = await openWorkspace(browser, { root, screen: '#/home' });
    const { page } = window;
    await refusePointer(window);
    await page.reload();
    const card = page.getByRole('article', { name: 'shared' });
    await card.getByText(`belongs to another user (number ${SOMEBODY})`).waitFor();
    expect(await card.getByText('Folder is gone').count()).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    for (const screen of ['changes', 'plan', 'history']) {
      await page.goto(`${window.origin}/#/${screen}`);
      await page.getByRole('heading', { name: 'shared is not yours' }).waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Trust this folder…' }).waitFor();
    }
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(await page.getByRole('main').innerText()).not.toMatch(/\bdray [a-z]|--[a-z]/);

    const trust = page.getByRole('button', { name: 'Trust this folder…' });
    const dialog = page.getByRole('dialog', { name: 'Trust this folder?' });
    await tabTo(page, trust);
    await page.keyboard.press('Enter');
    await dialog.getByText('which remotes a push sends your files to').waitFor();
    expect(await dialog.innerText()).toContain(join(root, '.dray'));
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => isFocused(trust), WAIT).toBe(true);
    expect(userSettingsOf(window)).toBeUndefined();

    await page.keyboard.press('Enter');
    await tabTo(page, dialog.getByRole('button', { name: 'Trust this folder' }));
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText('First').first().waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(userSettingsOf(window)).toEqual({ 'safe.directory': [root] });
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName), WAIT).toBe('MAIN');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  longIt('is trusted from its card on Home, as the owner that was shown, or not at all', async () => {
    using sandbox = createSandbox();
    const root = await foreignWorkspace(sandbox);
    await using window = await openWorkspace(browser, { root, screen: '#/home' });
    const { page } = window;
    const card = page.getByRole('article', { name: 'shared' });
    const dialog = page.getByRole('dialog', { name: 'Trust this folder?' });
    const confirm = dialog.getByRole('button', { name: 'Trust this folder' });
    await card.getByRole('button', { name: 'Trust this folder…' }).press('Enter');
    await confirm.waitFor();
    giveWorkspace(root, SOMEBODY + 1);
    await confirm.press('Enter');
    await dialog.getByText('now belongs to a third user').waitFor();
    expect(userSettingsOf(window)).toBeUndefined();
    await page.keyboard.press('Escape');
    await card.getByRole('button', { name: 'Check again' }).press('Enter');
    await card.getByText(`another user (number ${SOMEBODY + 1})`).waitFor();

    await card.getByRole('button', { name: 'Trust this folder…' }).press('Enter');
    await confirm.press('Enter');
    await card.getByText('No changes').waitFor();
    expect(userSettingsOf(window)).toEqual({ 'safe.directory': [root] });
    expect(window.complaints).toEqual([]);
  });

  longIt('is shown with its way out when "dray ui" starts below it', async () => {
    using sandbox = createSandbox();
    const root = await foreignWorkspace(sandbox);
    const directory = join(root, 'below');
    mkdirSync(directory);
    await using window = await openWindow(browser, { directory });
    const { page } = window;
    const card = page.getByRole('article', { name: 'shared' });
    await card.getByText(`belongs to another user (number ${SOMEBODY})`).waitFor();
    await card.getByRole('button', { name: 'Trust this folder…' }).waitFor();
    expect(userSettingsOf(window)).toBeUndefined();
    expect(window.complaints).toEqual([]);
  });
});

async function foreignWorkspace(sandbox: Sandbox): Promise<string> {
  const root = sandbox.path('shared');
  await makeSharedWorkspace(root);
  giveWorkspace(root, SOMEBODY);
  return root;
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}
