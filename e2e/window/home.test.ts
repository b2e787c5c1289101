/**
 * Home as a user sees it: a newcomer's three steps to the first push, and what the workspaces' cards say
 * afterwards.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { askEngine } from './ask-engine.ts';
import { findChromium } from './find-chromium.ts';
import { tabTo } from './keyboard/press-keys.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { RECENTLY } from './window-workspace.ts';

const WAIT = { timeout: 120_000, interval: 200 };
const FILES = { 'a.txt': 'first', 'b/deep.txt': 'second', 'b/more.txt': 'third' };

describe.skipIf(!findChromium())('Home', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('leads a newcomer to a first push into a folder, and then shows changes', async () => {
    await using window = await openWindow(browser);
    const { page } = window;
    const root = writeFiles(window, 'photos');
    await page.getByRole('heading', { name: 'Welcome to Dray' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await chooseFolder(page, 'Folder with your files', root);
    await page.getByRole('radio', { name: /^A folder/ }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const place = join(window.folder, 'versions');
    await page.getByLabel('Folder for the versions').fill(place);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
    await expect.poll(() => page.getByRole('definition').allInnerTexts(), WAIT).toEqual(['3', '16 B']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    await waitForTransfer(page, 'Push photos');

    await page.getByRole('link', { name: 'Home' }).click();
    const card = page.getByRole('article', { name: 'photos' });
    await card.getByText('No changes').waitFor();
    expect(await card.getByRole('definition').allInnerTexts()).toEqual([
      '3',
      '16 B',
      expect.stringMatching(RECENTLY),
    ]);

    writeFileSync(join(root, 'a.txt'), 'first, changed');
    writeFileSync(join(root, 'new.txt'), 'new');
    rmSync(join(root, 'b/more.txt'));
    await page.reload();
    for (const words of ['1 added', '1 changed', '1 deleted']) await card.getByText(words).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // Takes the folder away, as if its disk were removed, and puts it back.
    renameSync(root, `${root}.away`);
    await page.reload();
    await card.getByText('Folder is gone').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    renameSync(`${root}.away`, root);
    await card.getByRole('button', { name: 'Check again' }).click();
    await card.getByText('1 changed').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('leads a newcomer to a bucket, and clones from it into another folder', async () => {
    await using server = await startVersitygw();
    await using window = await openWindow(browser, { environment: server.environment });
    const { page } = window;
    const root = writeFiles(window, 'scans');
    await chooseFolder(page, 'Folder with your files', root);
    await choosePlace(page, { bucket: server.bucket, folder: 'scans' });
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    await waitForTransfer(page, 'Push scans');
    const { length } = await server.requests();
    expect(length).toBeGreaterThan(5);

    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('button', { name: 'Add a workspace' }).click();
    await page.getByRole('radio', { name: 'Someone has pushed them already' }).click();
    const clone = join(window.folder, 'clone');
    await chooseFolder(page, 'Folder to download them to', clone);
    await page.getByRole('button', { name: 'Create it' }).click();
    await choosePlace(page, { bucket: server.bucket, folder: 'scans' });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Download the files' }).click();
    await waitForTransfer(page, 'Clone clone');
    for (const [path, text] of Object.entries(FILES))
      expect(readFileSync(join(clone, path), 'utf8')).toBe(text);

    await page.getByRole('link', { name: 'Home' }).click();
    const card = page.getByRole('article', { name: 'clone' });
    await card.getByText('No changes').waitFor();
    chmodSync(join(clone, 'a.txt'), 0o755);
    await page.reload();
    await card.getByText('1 with another mode').waitFor();
    await card.getByRole('button', { name: 'More of clone' }).click();
    await page.getByRole('menuitem', { name: 'Forget this workspace' }).click();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await card.waitFor({ state: 'detached' });
    expect(readFileSync(join(clone, 'a.txt'), 'utf8')).toBe(FILES['a.txt']);
    expect(window.complaints).toEqual([]);
  });

  longIt('works by the keyboard alone', async () => {
    let root = '';
    const prepare = (home: string) => {
      root = writeFiles({ folder: dirname(home) }, 'home/keys');
    };
    await using window = await openWindow(browser, { prepare });
    const { page } = window;
    await tabTo(page, page.getByLabel('Folder with your files'));
    // Chooses the folder in the list instead of typing it.
    await tabTo(page, page.getByRole('button', { name: 'keys' }));
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByLabel('Folder with your files').inputValue(), WAIT).toBe(root);
    await tabTo(page, page.getByRole('button', { name: 'Next' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('radio', { name: /^A folder/ }));
    await page.keyboard.press('ArrowRight');
    await page.getByLabel('Bucket', { exact: true }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await tabTo(page, page.getByLabel('Folder for the versions'));
    await page.keyboard.type(join(window.folder, 'versions'));
    await tabTo(page, page.getByRole('button', { name: 'Set up' }));
    await page.keyboard.press('Enter');
    await page.getByText('is now a workspace').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Push', exact: true }));
    await page.keyboard.press('Enter');
    await waitForTransfer(page, 'Push keys');
  });

  longIt('asks before it creates a folder, and calls a push of nothing by one name', async () => {
    await using window = await openWindow(browser);
    const { page } = window;
    const typo = join(window.folder, 'phtos');
    const dialog = page.getByRole('dialog', { name: 'Create a folder?' });
    for (const origin of ['My files are on this computer', 'Someone has pushed them already']) {
      await page.getByRole('radio', { name: origin }).click();
      const label = origin.startsWith('My') ? 'Folder with your files' : 'Folder to download them to';
      await chooseFolder(page, label, typo);
      await dialog.getByText(`The folder ${typo} does not exist. Create it?`).waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('radio', { name: 'My files are on this computer' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    expect(existsSync(typo)).toBe(false);
    await dialog.getByRole('button', { name: 'Create it' }).click();
    await page.getByLabel('Folder for the versions').fill(join(window.folder, 'versions'));
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    const row = page.locator('.transfer', { has: page.getByText('Push phtos', { exact: true }) });
    await expect.poll(() => row.locator('.badge').textContent(), WAIT).toBe('Nothing to push');
    await page.getByRole('link', { name: 'Home' }).click();
    const card = page.getByRole('article', { name: 'phtos' });
    await card.getByText('No changes').waitFor();
    expect(await card.getByRole('definition').allInnerTexts()).toEqual(['None yet', 'None yet', 'None yet']);
    expect(window.complaints).toEqual([]);
  });

  longIt('shows a first workspace that was made while the newcomer looked elsewhere', async () => {
    await using window = await openWindow(browser);
    const { page } = window;
    await page.getByRole('heading', { name: 'Welcome to Dray' }).waitFor();
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    const root = writeFiles(window, 'photos');
    await askEngine(page, 'home.createWorkspace', { root, remoteUrl: join(window.folder, 'versions') });
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('article', { name: 'photos' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Welcome to Dray' }).count()).toBe(0);
    expect(window.complaints).toEqual([]);
  });

  longIt('keeps the workspace of the screens while another one is added', async () => {
    await using window = await openWindow(browser, { path: '/#/home' });
    const { page } = window;
    const create = (name: string) =>
      askEngine(page, 'home.createWorkspace', {
        root: writeFiles(window, name),
        remoteUrl: join(window.folder, `${name}-versions`),
      });
    await create('photos');
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await page.reload();
    await page.getByRole('button', { name: 'Push 3 changes' }).waitFor();
    await create('scans');
    await page.getByRole('link', { name: 'Home' }).first().click();
    await page.getByRole('article', { name: 'scans' }).waitFor();
    await page.getByRole('link', { name: 'Changes' }).first().click();
    await page.getByRole('button', { name: 'Push 3 changes' }).waitFor();
    expect(await page.getByRole('button', { name: /^Workspace/ }).innerText()).toContain('photos');
    expect(window.complaints).toEqual([]);
  });

  longIt('shows how long ago the last commit was, also while nothing else changes', async () => {
    await using window = await openWindow(browser, { path: '/#/home' });
    const { page } = window;
    const root = writeFiles(window, 'photos');
    const remoteUrl = join(window.folder, 'versions');
    await askEngine(page, 'home.createWorkspace', { root, remoteUrl });
    await askEngine(page, 'transfers.start', { kind: 'push', root });
    await page.clock.install();
    await page.reload();
    const card = page.getByRole('article', { name: 'photos' });
    await card.getByRole('definition').getByText(RECENTLY).waitFor();
    await page.clock.fastForward('04:00');
    await card
      .getByRole('definition')
      .getByText(/[4-9] minutes ago/)
      .waitFor();
  });

  longIt('says what is wrong with a place, and accepts another one', async () => {
    await using server = await startVersitygw();
    await using window = await openWindow(browser, {
      environment: { ...server.environment, AWS_SECRET_ACCESS_KEY: 'wrong' },
    });
    const { page } = window;
    await chooseFolder(page, 'Folder with your files', 'photos');
    await page.getByText('The whole path, from the root.').waitFor();
    await chooseFolder(page, 'Folder with your files', writeFiles(window, 'photos'));
    await choosePlace(page, { bucket: server.bucket });
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/key|credentials|refuse/i);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByText('A folder', { exact: true }).click();
    await page.getByLabel('Folder for the versions').fill(join(window.folder, 'versions'));
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
  });
});

/** @returns The folder of the files. */
function writeFiles({ folder }: Pick<OpenWindow, 'folder'>, name: string): string {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function chooseFolder(page: Page, label: string, folder: string): Promise<void> {
  await page.getByLabel(label).fill(folder);
  await page.getByRole('button', { name: 'Next' }).click();
}

async function choosePlace(
  page: Page,
  { bucket, folder = '' }: { readonly bucket: string; readonly folder?: string },
): Promise<void> {
  await page.getByText('Object storage', { exact: true }).click();
  await page.getByLabel('Bucket', { exact: true }).fill(bucket);
  await page.getByLabel('Folder in it (optional)').fill(folder);
}

async function waitForTransfer(page: Page, title: string): Promise<void> {
  await expect.poll(() => page.url(), WAIT).toContain('#/transfers');
  await expect.poll(() => page.getByText(title).count(), WAIT).toBeGreaterThan(0);
  await expect.poll(() => page.locator('main').innerText(), WAIT).toMatch(/\bDone\b/);
}
