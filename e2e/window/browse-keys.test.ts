/** The keyboard in a pane of Browse, faster than the engine answers. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chosenIn, openBrowse } from './browse-panes.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The keyboard in Browse', () => {
  const started = startBrowserAndStore();

  it('opens the row that letters lead to, however fast Enter follows, and stays on its row', async () => {
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
    await left.getByRole('button', { name: 'Read again' }).press('Enter');
    await row(left, 'berries').waitFor();
    await left.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    await row(left, 'deep').waitFor();
  });
});
