/** The keyboard in a pane of Browse, faster than the engine answers. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { holdRequests } from './hold-request.ts';
import { type BrowsePanes, chosenIn, openBrowse } from './page/browse-panes.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The keyboard in Browse', () => {
  const started = startBrowserAndStore();
  // More than the page holds at once.
  const more = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`more-${at}.txt`, '']));
  const openFolders = (bucket: string): Promise<BrowsePanes> =>
    openBrowse(started.browser, {
      server: started.server,
      bucket,
      local: { ...more, 'a.txt': 'a', 'b.txt': 'b', 'deep/a.txt': 'another' },
    });

  longIt('opens the row that letters lead to, however fast Enter follows, and stays on its row', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'typed',
      local: { 'apples/a.txt': 'a', 'data/deep/d.txt': 'd', 'zebras/z.txt': 'z' },
    });
    const { home, left, page, row } = panes;
    const openByName = async (name: string) => {
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
    };
    await row(left, 'apples').click();
    await openByName('zeb');
    await row(left, 'z.txt').waitFor();
    await page.keyboard.press('Backspace');
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['zebras']);
    await openByName('dat');
    await row(left, 'deep').waitFor();
    await page.keyboard.press('Backspace');
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['data']);

    // A row that appears above moves the others down, and the keyboard with its row.
    mkdirSync(join(home, 'berries'));
    await left.getByRole('button', { name: 'Refresh' }).press('Enter');
    await row(left, 'berries').waitFor();
    await left.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    await row(left, 'deep').waitFor();
  });

  longIt('chooses nothing in a folder that is opened before the chosen rows arrive', async () => {
    await using panes = await openFolders('keys-folder');
    const { left, page, row } = panes;
    const held = await holdRequests(page);
    await row(left, 'b.txt').click();
    held.holdAnswers('browse.rows');
    await page.keyboard.press('Control+a');
    await expect.poll(held.waiting, WAIT).toBeGreaterThan(0);
    await row(left, 'deep').dblclick();
    await row(left, 'b.txt').waitFor({ state: 'detached' });
    held.release();
    await row(left, 'a.txt').waitFor();
    await expectNothingChosen(panes);

    await left.getByRole('button', { name: 'Folder above' }).click();
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['deep']);
    held.holdAnswers('browse.seek');
    await page.keyboard.type('a');
    await expect.poll(held.waiting, WAIT).toBe(1);
    await row(left, 'deep').dblclick();
    await row(left, 'b.txt').waitFor({ state: 'detached' });
    held.release();
    await row(left, 'a.txt').waitFor();
    await expectNothingChosen(panes);
  });

  it('goes back to a folder whose list was closed, before the other folder is read', async () => {
    await using panes = await openFolders('keys-back');
    const { left, page, row } = panes;
    const held = await holdRequests(page);
    await row(left, 'b.txt').click();
    held.hold('browse.open');
    await row(left, 'deep').dblclick();
    await expect.poll(held.waiting, WAIT).toBe(1);
    await left.getByRole('button', { name: 'Folder above' }).click();
    await expect.poll(held.waiting, WAIT).toBe(2);
    await left.getByText('Reading the folder').waitFor();
    held.release();
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['deep']);
    expect(panes.complaints).toEqual([]);
  });

  longIt('stays where a person works when a folder has been read', async () => {
    await using panes = await openFolders('keys-elsewhere');
    const { left, page, row } = panes;
    const held = await holdRequests(page);
    const expectKept = async (field: Locator) => {
      await expect.poll(held.waiting, WAIT).toBe(1);
      await field.click();
      await page.keyboard.type('b');
      held.release();
      await left.getByRole('grid').waitFor();
      await afterFrames(page);
      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.type('.t');
      expect(await field.inputValue()).toBe('b.t');
    };
    await row(left, 'b.txt').click();
    held.hold('browse.open');
    await page.keyboard.type('deep');
    await page.keyboard.press('Enter');
    await expectKept(panes.right.getByRole('searchbox'));
    held.hold('browse.open');
    await left.getByRole('grid').focus();
    await page.keyboard.press('Backspace');
    await expectKept(left.getByRole('searchbox'));

    await left.getByRole('searchbox').fill('');
    const openHeld = async () => {
      await row(left, 'deep').click();
      held.hold('browse.open');
      await page.keyboard.press('Enter');
      await expect.poll(held.waiting, WAIT).toBe(1);
    };
    // A dialog gives the focus back to its button, and the palette to nothing, so the list gets it.
    await openHeld();
    const newFolder = left.getByRole('button', { name: 'New folder' });
    await newFolder.click();
    await expectKept(page.getByRole('dialog', { name: 'New folder' }).getByRole('textbox'));
    await page.keyboard.press('Escape');
    await newFolder.and(page.locator(':focus')).waitFor();
    await left.getByRole('grid').focus();
    await page.keyboard.press('Backspace');
    await openHeld();
    await page.keyboard.press('Control+k');
    await expectKept(page.getByRole('searchbox', { name: 'Search commands' }));
    await page.keyboard.press('Escape');
    await left.getByRole('grid').and(page.locator(':focus')).waitFor();
    expect(panes.complaints).toEqual([]);
  });

  longIt('chooses all at once, and a row that is chosen next stays chosen', async () => {
    await using panes = await openFolders('keys-row');
    const { left, page, row } = panes;
    const held = await holdRequests(page);
    await row(left, 'a.txt').click();
    held.holdAnswers('browse.rows');
    await page.keyboard.press('Control+a');
    await expect.poll(held.waiting, WAIT).toBeGreaterThan(0);
    await row(left, 'b.txt').click();
    held.release();
    await expect.poll(() => footOf(left), WAIT).toMatch(/^1 of \d+ chosen/);
    expect(await chosenIn(left)).toEqual(['b.txt']);
    // At once, or Copy and Delete would apply to the row that was chosen before.
    held.holdAnswers('browse.rows');
    await page.keyboard.press('Control+a');
    await left.getByText(/^25(\d) of 25\1 chosen/).waitFor();
    held.release();
    await left.getByText(/^25(\d) of 25\1 chosen/).waitFor();
    await row(left, 'a.txt').click();
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['a.txt']);

    // The folder is read again before the request is answered: the engine no longer has its list.
    held.hold('browse.rows');
    await page.keyboard.press('Control+a');
    await expect.poll(held.waiting, WAIT).toBeGreaterThan(0);
    await left.getByRole('button', { name: 'Refresh' }).click();
    await expect.poll(held.waiting, WAIT).toBeGreaterThan(1);
    held.release();
    await left.getByText(/^25(\d) of 25\1 chosen/).waitFor();
    expect(panes.complaints).toEqual([]);
  });
});

function footOf(pane: Locator): Promise<string> {
  return pane.locator('.pane-foot').innerText();
}

async function expectNothingChosen({ left }: BrowsePanes): Promise<void> {
  await expect.poll(() => footOf(left), WAIT).toMatch(/^1 entry/);
  expect(await chosenIn(left)).toEqual([]);
}

/** Resolves when the page has drawn two more frames. */
function afterFrames(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}
