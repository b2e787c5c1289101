/** A workspace of another user in the window: it is refused with a way out, and trusted by choice alone. */
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './find-violations.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';
import { openWorkspace } from './window-workspace.ts';

const TABS_MAX = 60;
const SOMEBODY = 54_321;
const WAIT = { timeout: 120_000, interval: 100 };
const isRoot = process.geteuid?.() === 0;
if (!isRoot)
  console.info('Skipped: a workspace of another user. Only root can give a folder to somebody else.');

describe.skipIf(!isRoot || !findChromium())("Another user's workspace", () => {
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
    await page.addInitScript(refusePointer);
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
    expect(settingsOf(window)).toBeUndefined();

    await page.keyboard.press('Enter');
    await tabTo(page, dialog.getByRole('button', { name: 'Trust this folder' }));
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText('First').first().waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(settingsOf(window)).toEqual({ 'safe.directory': [root] });
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
    give(root, SOMEBODY + 1);
    await confirm.press('Enter');
    await dialog.getByText('now belongs to a third user').waitFor();
    expect(settingsOf(window)).toBeUndefined();
    await page.keyboard.press('Escape');
    await card.getByRole('button', { name: 'Check again' }).press('Enter');
    await card.getByText(`another user (number ${SOMEBODY + 1})`).waitFor();

    await card.getByRole('button', { name: 'Trust this folder…' }).press('Enter');
    await confirm.press('Enter');
    await card.getByText('No changes').waitFor();
    expect(settingsOf(window)).toEqual({ 'safe.directory': [root] });
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
    expect(settingsOf(window)).toBeUndefined();
    expect(window.complaints).toEqual([]);
  });
});

async function foreignWorkspace(sandbox: Sandbox): Promise<string> {
  const root = sandbox.path('shared');
  mkdirSync(root);
  writeFileSync(join(root, 'a.csv'), 'row 1');
  const dray = (...parameters: string[]) => runCli(parameters, { cwd: root, environment: {} });
  await dray('init', '--remote', sandbox.path('remote'));
  await dray('push', '-m', 'First');
  give(root, SOMEBODY);
  return root;
}

/** Gives the workspace's settings to another user. Its data stays where it is. */
function give(root: string, owner: number): void {
  const folder = join(root, '.dray');
  for (const name of [...readdirSync(folder), '.']) lchownSync(join(folder, name), owner, owner);
}

function settingsOf({ folder }: OpenWindow): unknown {
  const file = join(folder, 'home/.config/dray/config.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    if (await isFocused(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not reach it.');
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

/** A press of a mouse button would fail the run. */
function refusePointer(): void {
  addEventListener('pointerdown', () => console.error('A pointer was used.'), true);
}
