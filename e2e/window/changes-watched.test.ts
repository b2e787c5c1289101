/** The Changes screen follows the folder: nothing stale is said, and no list moves under the pointer. */
import { unlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startBrowserAndStore } from './browser-and-store.ts';
import { changeDataset, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, rowsShown, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The Changes screen of a folder that changes', () => {
  const started = startBrowserAndStore();

  it('shows the first change by itself, and offers further ones without moving the list', async () => {
    using dataset = await pushedDataset(started.server, 'watched');
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    await page.getByText('Nothing to push').waitFor();
    await page.getByText(/^Scanned at \d\d:\d\d, watching$/).waitFor();
    await page.getByText(/At \d\d:\d\d every file of this folder was in the last commit/).waitFor();
    changeDataset(dataset);
    await rowOf(page, 'measurements/').waitFor();
    await page.getByRole('button', { name: /^Push \d+ changes$/ }).waitFor();
    // A file that was still being written when the list was made is offered as well.
    const show = page.getByRole('button', { name: 'Show', exact: true });
    await page.getByRole('textbox', { name: 'Message' }).fill('Mine');
    await page.getByRole('checkbox', { name: 'Push notes/', exact: true }).uncheck();
    const before = await rowsShown(page);
    const place = await rowOf(page, 'obsolete.txt').boundingBox();
    for (const name of ['a', 'b', 'c']) dataset.sandbox.write(`${WORK}/later/${name}.txt`, name);
    await page.getByText(/The folder has changed: \d more changes/).waitFor();
    expect(await rowsShown(page)).toEqual(before);
    expect(await rowOf(page, 'obsolete.txt').boundingBox()).toEqual(place);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await show.click();
    await rowOf(page, 'later/').waitFor();
    await page.getByText('1 excluded').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Mine');
    await show.waitFor({ state: 'detached' });
    // A change that is taken back is no news.
    unlinkSync(dataset.sandbox.path(WORK, 'later/c.txt'));
    await page.getByText('1 fewer change').waitFor();
    dataset.sandbox.write(`${WORK}/later/c.txt`, 'c');
    await show.waitFor({ state: 'detached' });
    // The rail counts what the list's own scans have found.
    const count = page.getByRole('link', { name: 'Changes' }).locator('.rail-count-long');
    const counted = async () => Number(await count.textContent());
    const rows = await counted();
    dataset.sandbox.write(`${WORK}/later/d.txt`, 'd');
    await page.getByText('1 more change').waitFor();
    await expect.poll(counted, WAIT).toBe(rows + 1);
    expect(window.complaints).toEqual([]);
  });
});
