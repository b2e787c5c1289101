/** What a workspace holds, chosen in the window: by the keyboard alone, with what it fetches and removes. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('What a workspace holds', () => {
  const started = startBrowserAndStore();
  let sandbox: Sandbox;
  let root: string;

  beforeEach(async () => {
    sandbox = createSandbox();
    root = sandbox.path('birds');
    const whole = sandbox.path('whole');
    for (const [folder, count] of [
      ['images/2023', 3],
      ['images/2024', 4],
      ['labels', 2],
    ] as const)
      for (let at = 0; at < count; at += 1) write(join(whole, folder, `${at}.bin`), `${folder} ${at}`);
    await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store') });
    await push(testContext(whole), {});
    const part = { url: sandbox.path('store'), directory: 'birds', only: ['images/2023'] };
    await cloneWorkspace(testContext(sandbox.folder), part);
  });
  afterEach(() => sandbox[Symbol.dispose]());

  const open = () => openWorkspace(started.browser, { root, screen: '#/home' });
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'What birds holds' });
  const heldNow = async () => (await status(testContext(root), {})).scope?.only;

  it('is a list of patterns, and the dialog shows what a change would fetch and remove', async () => {
    await using window = await open();
    const { page } = window;
    const card = page.getByRole('article', { name: 'birds' });
    await card.getByText('Holds only images/2023').waitFor();
    await card.getByRole('button', { name: 'Change...' }).press('Enter');
    const dialog = dialogOf(page);
    await dialog.getByText('This is what it holds now.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Change', exact: true }).isDisabled()).toBe(true);
    const field = dialog.getByLabel('Add a folder, a file or a pattern');
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('labels');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Fetch 2 files' }).waitFor();
    await page.keyboard.type('lables');
    await page.keyboard.press('Enter');
    await dialog.getByText('lables names nothing in the last commit.').waitFor();
    await dialog.getByRole('button', { name: 'Drop lables' }).press('Enter');
    await dialog.getByRole('list', { name: 'Patterns' }).and(page.locator(':focus')).waitFor();
    await dialog.getByRole('button', { name: 'Drop images/2023' }).press('Enter');
    await dialog.getByRole('button', { name: 'Fetch and remove' }).waitFor();
    expect(await figures(page)).toEqual(['To fetch 2 files 16 B', 'To remove 3 files 39 B']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Fetch and remove' }).press('Enter');
    await page.getByText('What birds holds is being changed').waitFor();
    await card.getByText('Holds only labels').waitFor();
    expect([existsSync(join(root, 'labels/0.bin')), existsSync(join(root, 'images'))]).toEqual([true, false]);

    // Everything, and a part again.
    await card.getByRole('button', { name: 'Change...' }).press('Enter');
    await dialog.getByRole('radio', { name: 'Everything' }).press('Space');
    await dialog.getByRole('button', { name: 'Fetch 7 files' }).press('Enter');
    await card.getByText('Holds only').waitFor({ state: 'detached' });
    await expect.poll(() => existsSync(join(root, 'images/2024/0.bin')), WAIT).toBe(true);
    await card.getByRole('button', { name: 'More of birds' }).press('Enter');
    await page.getByRole('menuitem', { name: 'What it holds' }).press('Enter');
    await dialog.getByText('It holds everything now.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
  });

  it('loses nothing that was not pushed: the dialog refuses, and says what', async () => {
    write(join(root, 'images/2023/0.bin'), 'edited here');
    write(join(root, 'images/2023/new.bin'), 'new here');
    await using window = await open();
    const { page } = window;
    await page.getByRole('button', { name: 'Change...' }).press('Enter');
    const dialog = dialogOf(page);
    await dialog.getByRole('button', { name: 'Drop images/2023' }).press('Enter');
    await dialog.getByText('Add what this folder is to hold.').waitFor();
    await dialog.getByLabel('Add a folder, a file or a pattern').fill('labels');
    await page.keyboard.press('Enter');
    const refusal = '2 files that would leave are not pushed: images/2023/0.bin, images/2023/new.bin.';
    await dialog.getByText(refusal).waitFor();
    expect(await dialog.getByRole('button', { name: 'Fetch and remove' }).isDisabled()).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    rmSync(join(root, 'images/2023/new.bin'));
    // Another file where one is to be fetched.
    write(join(root, 'images/2024/1.bin'), 'not the same');
    await dialog.getByRole('button', { name: 'Drop labels' }).press('Enter');
    await dialog.getByLabel('Add a folder, a file or a pattern').fill('images');
    await page.keyboard.press('Enter');
    await dialog.getByText('in place of 1 file to fetch: images/2024/1.bin. Move it away first.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Fetch 4 files' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Add a folder, a file or a pattern').fill('../out');
    await page.keyboard.press('Enter');
    await dialog.getByText('"../out" names no part of a dataset.').waitFor();
    expect(await heldNow()).toEqual(['images/2023']);
    expect(window.complaints).toEqual([]);
  });

  longIt('is chosen for a clone too', async () => {
    const { folder } = sandbox;
    mkdirSync(join(folder, 'other'));
    await using window = await openWindow(started.browser, { folder, path: '/#/home?add=yes' });
    const { page } = window;
    await page.getByRole('radio', { name: 'Someone has pushed them already' }).click();
    await page.getByLabel('Folder to download them to').fill(join(folder, 'other'));
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('A folder', { exact: false }).first().click();
    await page.getByLabel('Folder with the versions').fill(sandbox.path('store'));
    await page.getByRole('checkbox', { name: 'Only a part' }).press('Space');
    const patterns = page.getByLabel('What to download');
    await patterns.and(page.locator(':focus')).waitFor();
    expect(await page.getByRole('button', { name: 'Download the files' }).isDisabled()).toBe(true);
    await page.keyboard.type('labels\nimages/2024/0.bin\n');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Download the files' }).click();
    await expect.poll(() => existsSync(join(folder, 'other/images/2024/0.bin')), WAIT).toBe(true);
    // Also before the steps lead on by themselves.
    await page.goto(page.url().replace(/#.*/, '#/home'));
    const card = page.getByRole('article', { name: 'other' });
    await card.getByText('Holds only labels, images/2024/0.bin').waitFor();
    expect(existsSync(join(folder, 'other/images/2023'))).toBe(false);
    expect(window.complaints).toEqual([]);
  });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function figures(page: Page): Promise<readonly string[]> {
  const all = await page.getByRole('dialog').locator('.figure').allInnerTexts();
  return all.map((text) => text.replace(/\s+/g, ' ').trim());
}
