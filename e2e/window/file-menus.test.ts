/** The menu of a row: by the right button, the Menu key, and Shift and F10, wherever a file is a row. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { createHistoryRepository, NOTES } from './data/history-repository.ts';
import { installFakeDesktop, revealedPaths } from './fake-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { openBrowse } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The menu of a row', () => {
  const started = startBrowserAndStore();
  let repository: Awaited<ReturnType<typeof createHistoryRepository>>;
  beforeAll(async () => {
    repository = await createHistoryRepository(started.server);
  });
  afterAll(() => repository?.[Symbol.dispose]());

  longIt('ignores a file by a line that it shows before, and Undo takes the line back', async () => {
    const { root } = repository;
    mkdirSync(join(root, 'scratch'), { recursive: true });
    writeFileSync(join(root, 'scratch/[1] a.tmp'), 'x');
    await using window = await repository.open(started.browser);
    const { page } = window;
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await page.getByRole('radio', { name: 'Flat' }).click({ force: true });
    await rowOf(page, 'scratch/[1] a.tmp').click({ button: 'right' });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(await page.getByRole('menuitem', { name: /^History of this file/ }).isDisabled()).toBe(true);
    await page.getByRole('menuitem', { name: 'Ignore this file...' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('/scratch/\\[1] a.tmp', { exact: true }).waitFor();
    expect(existsSync(join(root, '.drayignore'))).toBe(false);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Ignore it' }).click();
    await rowOf(page, '.drayignore').waitFor();
    await rowOf(page, 'scratch/[1] a.tmp').waitFor({ state: 'detached' });
    expect(readFileSync(join(root, '.drayignore'), 'utf8')).toBe('/scratch/\\[1] a.tmp\n');
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf(page, 'scratch/[1] a.tmp').waitFor();
    expect(existsSync(join(root, '.drayignore'))).toBe(false);
  });

  it('discards a new and a changed file into the bin, and Undo brings each back', async () => {
    const { root } = repository;
    mkdirSync(join(root, 'new'), { recursive: true });
    writeFileSync(join(root, 'new/only.txt'), 'mine alone');
    writeFileSync(join(root, 'notes.md'), 'changed here');
    await using window = await repository.open(started.browser);
    const { page } = window;
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await page.getByRole('radio', { name: 'Flat' }).click({ force: true });
    await rowOf(page, 'new/only.txt').click();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Discard the new file' }).click();
    await expect.poll(() => existsSync(join(root, 'new')), WAIT).toBe(false);
    await undo(page, '1 new file moved to Kept files');
    await expect.poll(() => textOf(join(root, 'new/only.txt')), WAIT).toBe('mine alone');
    // The list has been read again, so no row moves any more.
    await rowOf(page, 'new/only.txt').waitFor();

    // The row is listed again, so the rows below it have their places.
    await rowOf(page, 'new/only.txt').waitFor();
    await rowOf(page, 'notes.md').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Discard the change' }).click();
    await expect.poll(() => textOf(join(root, 'notes.md')), WAIT).toBe(NOTES.second);
    await undo(page, '1 local file was overwritten');
    await expect.poll(() => textOf(join(root, 'notes.md')), WAIT).toBe('changed here');
  });

  longIt('copies the path, the URL and the key in Browse, and offers what the row allows', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'menus',
      local: { 'here.txt': 'here' },
      remote: { 'deep/a b%.txt': 'x' },
    });
    const { complaints, context, home, left, origin, page, right, row } = panes;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    const copies = async (label: string) => {
      await page.getByRole('menuitem', { name: label, exact: true }).click();
      await page.getByRole('menu').waitFor({ state: 'detached' });
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await row(left, 'here.txt').click({ button: 'right' });
    expect(await items(page)).toEqual(['Quick look', 'Copy the path', 'Delete...']);
    expect(await copies('Copy the path')).toBe(join(home, 'here.txt'));
    await row(right, 'deep').dblclick();
    await row(right, 'a b%.txt').click();
    await page.keyboard.press('ContextMenu');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(await copies('Copy the S3 key')).toBe('deep/a b%.txt');
    await row(right, 'a b%.txt').click({ button: 'right' });
    expect(await copies('Copy the URL')).toBe('s3://menus/deep/a%20b%25.txt');
    expect(complaints).toEqual([]);
  });

  longIt(
    'knows in Browse which files are in a workspace: their history, and who changed them last',
    async () => {
      const { root } = repository;
      await using window = await repository.open(started.browser);
      const page = await window.context.newPage();
      await installFakeDesktop(page, window.page);
      const folder = `${root.slice(1)}/`;
      const pane = { root: '/', folder, column: 'name', isDescending: false } as const;
      await askEngine(window.page, 'browse.keepPane', { side: 'left', pane });
      await page.goto(`${window.origin}/#/browse`);
      const left = page.getByRole('region', { name: /^Left pane/ });
      const notes = left.getByRole('row').filter({ has: page.getByText('notes.md', { exact: true }) });
      await notes.click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Who last changed it' }).click();
      await page.getByText(/^Ada Okafor last changed notes\.md, /).waitFor();
      await notes.click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Show in the file manager' }).click();
      await expect.poll(() => revealedPaths(page), WAIT).toEqual([join(root, 'notes.md')]);
      await notes.click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'History of this file...' }).click();
      await page.getByRole('dialog', { name: 'History of notes.md' }).waitFor();
    },
  );

  longIt(
    'discards in Browse as in Changes: a change, a new file, a rename; and says when there is none',
    async () => {
      const { root } = repository;
      const notes = join(root, 'notes.md');
      writeFileSync(notes, 'changed in an editor');
      writeFileSync(join(root, 'fresh.txt'), 'mine alone');
      await using window = await repository.open(started.browser);
      const { page } = window;
      const pane = { root: '/', folder: `${root.slice(1)}/`, column: 'name', isDescending: false } as const;
      await askEngine(page, 'browse.keepPane', { side: 'left', pane });
      await page.goto(`${window.origin}/#/browse`);
      const left = page.getByRole('region', { name: /^Left pane/ });
      const row = (name: string) =>
        left.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
      const discard = async (name: string, label = 'Discard the change') => {
        await row(name).click({ button: 'right' });
        await page.getByRole('menuitem', { name: label }).click();
      };
      await discard('notes.md');
      await expect.poll(() => textOf(notes), WAIT).toBe(NOTES.second);
      await undo(page, '1 local file was overwritten');
      await expect.poll(() => textOf(notes), WAIT).toBe('changed in an editor');

      await discard('fresh.txt');
      await row('fresh.txt').waitFor({ state: 'detached' });
      await undo(page, '1 new file moved to Kept files');
      await row('fresh.txt').waitFor();

      writeFileSync(notes, NOTES.second);
      renameSync(notes, join(root, 'renamed.md'));
      await page.reload();
      await discard('renamed.md');
      await row('notes.md').waitFor();
      await row('renamed.md').waitFor({ state: 'detached' });
      await undo(page, '1 file renamed back');
      await row('renamed.md').waitFor();
      await row('notes.md').waitFor({ state: 'detached' });
      renameSync(join(root, 'renamed.md'), notes);
      rmSync(join(root, 'fresh.txt'));
      await page.reload();
      await discard('notes.md');
      await page.getByText('notes.md has no change to discard').waitFor();
      writeFileSync(notes, 'changed here');
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('acts on a transfer by the Menu key, as its buttons do', async () => {
    writeFileSync(join(repository.root, 'notes.md'), 'changed here');
    await using window = await repository.open(started.browser);
    const { page } = window;
    await page.getByRole('tab', { name: 'Contents' }).click();
    await page.getByRole('row', { name: 'notes.md' }).click();
    await page.getByRole('button', { name: 'Restore...' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace and restore' }).click();
    await page.goto(`${window.origin}/#/transfers`);
    const ended = page.getByRole('list', { name: 'Ended transfers' }).getByRole('listitem');
    await ended.getByRole('button', { name: /^Details of/ }).focus();
    await page.keyboard.press('ContextMenu');
    expect(await items(page)).toEqual(['Remove from the list', 'Copy the path']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Remove from the list' }).click();
    await ended.waitFor({ state: 'detached' });
  });
});

function items(page: Page): Promise<readonly string[]> {
  return page.getByRole('menuitem').locator('.menu-item-label').allInnerTexts();
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Waits for the message and presses its Undo. */
async function undo(page: Page, words: string): Promise<void> {
  const message = page.getByRole('alertdialog').filter({ hasText: words });
  await message.getByRole('button', { name: 'Undo' }).click();
}
