/**
 * A prefix with many objects, a million in the long run, through the real engine: what the page draws,
 * requests and sends stays bounded, whatever is done with all of them.
 */
import type { Locator } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { manyName, startManyObjects } from '../servers/many-objects.ts';
import { startBrowser } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { type OpenWindow, openWindow, PATIENCE_MS } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const ROWS = runBudget({ short: 20_000, long: 1_000_000 });
const COUNT = ROWS.toLocaleString('en');
const WAIT = { timeout: PATIENCE_MS, interval: 100 };
const DRAWN_MAX = 60;

describe.skipIf(!findChromium())(`A prefix of ${COUNT} objects in Browse`, () => {
  const started = startBrowser();

  longIt('is shown from its first page on, and its reading stops and continues', async () => {
    await using many = await startManyObjects(ROWS);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    many.gate = () => (many.requests.lists > 3 ? held : Promise.resolve());
    await using window = await openWindow(started.browser, browseAt(many));
    const pane = rightPane(window);
    await rowOf(pane, 0).waitFor();
    await pane.getByText('3,000 entries so far, reading').waitFor();
    await pane.getByRole('button', { name: 'Stop reading' }).click();
    await pane.getByText('3,000 entries so far; more are not read yet').waitFor();
    expect(await findViolationsInBothThemes(window.page)).toEqual([]);
    await chooseAll(window, pane);
    await window.page.getByRole('button', { name: 'Copy to the left' }).click();
    await window.page.getByText('is not read to its end, so nothing was copied').waitFor();
    await rowOf(pane, 0).click();
    await window.page.keyboard.press('Escape');
    release();
    await pane.getByRole('button', { name: 'Read all' }).click();
    await pane.getByText(`${COUNT} entries`, { exact: true }).waitFor();
    // One request for each thousand, and the one that was stopped.
    expect(many.requests.lists).toBeLessThanOrEqual(ROWS / 1_000 + 2);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'is scrolled, sorted, filtered and sought through with few rows drawn and few requests',
    async () => {
      await using many = await startManyObjects(ROWS);
      await using window = await openWindow(started.browser, browseAt(many));
      const { page } = window;
      const pane = rightPane(window);
      const sent = await countSent(window);
      await pane.getByText(`${COUNT} entries`, { exact: true }).waitFor();
      const grid = pane.getByRole('grid');
      await rowOf(pane, 0).click();
      await page.keyboard.press('End');
      await rowOf(pane, ROWS - 1).waitFor();
      const middle = ROWS / 2 + 345;
      await page.keyboard.type(manyName(middle).slice(0, -4));
      await expect.poll(() => chosen(pane), WAIT).toEqual([manyName(middle)]);
      await pane.getByRole('button', { name: 'Name', exact: true }).click();
      await rowOf(pane, ROWS - 1).waitFor();
      await grid.focus();
      await page.keyboard.press('Home');
      await expect.poll(() => chosen(pane), WAIT).toEqual([manyName(ROWS - 1)]);
      await pane.getByRole('button', { name: 'Size', exact: true }).click();
      await rowOf(pane, 0).waitFor();
      await grid.focus();
      await page.keyboard.press('Home');
      await expect.poll(() => chosen(pane), WAIT).toEqual([manyName(0)]);
      expect(await pane.getByRole('row').count()).toBeLessThan(DRAWN_MAX);
      await grid.focus();
      await page.keyboard.press('/');
      await page.keyboard.type('0017');
      await expect.poll(() => grid.getAttribute('aria-rowcount'), WAIT).toBe(String(namesWith('0017')));
      expect(many.requests.lists).toBeLessThanOrEqual(ROWS / 1_000 + 1);
      expect(sent.rowRequests()).toBeLessThan(400);
      expect(window.complaints).toEqual([]);
    },
  );

  it('is chosen and deleted without its names, but for the exceptions', async () => {
    await using many = await startManyObjects(ROWS);
    await using window = await openWindow(started.browser, browseAt(many));
    const { page } = window;
    const pane = rightPane(window);
    await pane.getByText(`${COUNT} entries`, { exact: true }).waitFor();
    const sent = await countSent(window);
    await chooseAll(window, pane);
    await rowOf(pane, 3).click({ modifiers: ['Control'] });
    const left = (ROWS - 1).toLocaleString('en');
    await pane.getByText(`${left} of ${COUNT} chosen`).waitFor();
    await page.keyboard.press('Delete');
    const dialog = page.getByRole('dialog', { name: `Delete ${left} entries` });
    await dialog.getByRole('textbox').fill('delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await pane.getByText('1 entry', { exact: true }).waitFor();
    expect(many.deleted.size).toBe(ROWS - 1);
    expect(many.deleted.has(manyName(3))).toBe(false);
    expect(many.requests.deletes).toBe(ROWS / 1_000);
    expect(sent.bytes()).toBeLessThan(100_000);
  });
});

function browseAt({ environment, place }: { readonly environment: object; readonly place: string }) {
  return { environment: { ...environment }, path: `/#/browse?place=${encodeURIComponent(place)}` };
}

function rightPane({ page }: OpenWindow): Locator {
  return page.getByRole('region', { name: /^Right pane/ });
}

async function chooseAll({ page }: OpenWindow, pane: Locator): Promise<void> {
  await rowOf(pane, 0).click();
  await page.keyboard.press('Control+A');
}

function rowOf(pane: Locator, index: number): Locator {
  return pane.getByRole('row').filter({ hasText: manyName(index) });
}

function chosen(pane: Locator): Promise<readonly string[]> {
  return pane.locator('[role=row][aria-selected=true] .entry-text').allTextContents();
}

function namesWith(part: string): number {
  let count = 0;
  for (let at = 0; at < ROWS; at += 1) if (manyName(at).includes(part)) count += 1;
  return count;
}

/** The messages that the page sends to the engine. */
async function countSent({ context, page }: OpenWindow): Promise<{ bytes(): number; rowRequests(): number }> {
  let bytes = 0;
  let rowRequests = 0;
  const session = await context.newCDPSession(page);
  session.on('Network.webSocketFrameSent', ({ response }) => {
    bytes += response.payloadData.length;
    if (response.payloadData.includes('"browse.rows"')) rowRequests += 1;
  });
  await session.send('Network.enable');
  return { bytes: () => bytes, rowRequests: () => rowRequests };
}
