/** Columns of Browse, Changes and Transfers: resized, hidden, kept by the engine, and reset. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { createHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { NO_KEYS, openWindow } from './open-window.ts';
import { openBrowse } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { gripOf, keptIs, widthOf } from './page/table-columns.ts';
import { rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The columns', () => {
  const started = startBrowserAndStore();

  it('of Browse are resized and hidden in both panes, and stay so over a reload until they are reset', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'columns',
      local: { 'here.txt': 'x'.repeat(2000) },
      remote: { 'there.txt': 'x' },
    });
    const { complaints, left, page, right } = panes;
    const size = gripOf(left, 'Size');
    const before = await widthOf(left, 'entry-size');
    const box = (await size.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 40, box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
    await expect.poll(() => widthOf(left, 'entry-size'), WAIT).toBe(before + 40);
    await expect.poll(() => widthOf(right, 'entry-size'), WAIT).toBe(before + 40);

    await size.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => size.getAttribute('aria-valuenow'), WAIT).toBe(String(before + 24));
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await keptIs(page, { browse: [{ id: 'size', widthPx: before + 24 }] });
    await page.keyboard.press('Enter');
    await expect.poll(() => widthOf(left, 'entry-size'), WAIT).toBeLessThan(before);
    const words = left.locator('.entry-row .entry-size').first();
    expect(await words.evaluate((cell) => cell.scrollWidth > cell.clientWidth)).toBe(false);

    await left.getByRole('button', { name: 'Changed', exact: true }).click({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: 'Changed', checked: true }).click();
    await expect.poll(() => left.locator('.entry-row .entry-time').first().isVisible(), WAIT).toBe(false);
    await expect.poll(() => right.locator('.entry-head .entry-time').isVisible(), WAIT).toBe(false);
    await page.reload();
    await left.locator('.entry-row').first().waitFor();
    await expect.poll(() => left.locator('.entry-head .entry-time').isVisible(), WAIT).toBe(false);

    await left.getByRole('button', { name: 'Size', exact: true }).focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitemcheckbox', { name: 'Changed', checked: false }).waitFor();
    await page.getByRole('menuitemcheckbox', { name: 'Size', checked: true }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Reset the columns' }).click();
    await left.locator('.entry-head .entry-time').waitFor();
    await expect.poll(() => widthOf(left, 'entry-size'), WAIT).toBe(before);
    await keptIs(page, {});

    // It hides the edge that has the focus.
    await gripOf(left, 'Changed').focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitemcheckbox', { name: 'Changed' }).press('Enter');
    await left.getByRole('grid').and(page.locator(':focus')).waitFor();
    await gripOf(left, 'Changed').waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
  });

  it('of Changes are resized by the keyboard, fitted by a double click, and hidden', async () => {
    await using repository = await createHistoryRepository(started.server);
    writeFileSync(join(repository.root, 'more.txt'), 'more');
    await using window = await repository.open(started.browser);
    const { page } = window;
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await rowOf(page, 'more.txt').waitFor();
    const table = page.locator('.change-table');
    const before = await widthOf(table, 'change-kind');
    await gripOf(table, 'Change').focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => widthOf(table, 'change-kind'), WAIT).toBe(before + 16);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await gripOf(table, 'Change').dblclick();
    await expect.poll(() => widthOf(table, 'change-kind'), WAIT).toBeLessThan(before);
    await page.keyboard.press('ContextMenu');
    await page.getByRole('menuitemcheckbox', { name: 'Size', exact: true }).click();
    await rowOf(page, 'more.txt').locator('.change-size').waitFor({ state: 'hidden' });
    expect(await table.locator('.change-path').first().isVisible()).toBe(true);
  });

  it('of Transfers are shared by the queue and the ended, fitted, hidden, and stay so over a reload', async () => {
    await using window = await openWindow(started.browser, { path: '/#/transfers', environment: NO_KEYS });
    const { complaints, folder, page } = window;
    const source = join(folder, 'work');
    mkdirSync(source);
    writeFileSync(join(source, 'a.txt'), 'a');
    const start = (destination: string) =>
      askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
    await start(join(folder, 'copies'));
    // It waits for keys, so it stays in the queue.
    await start('s3://bucket/copies?profile=gone');
    const queue = page.locator('.card', { has: page.getByRole('heading', { name: 'Queue' }) });
    const ended = page.locator('.card', { has: page.getByRole('heading', { name: 'Ended' }) });
    await queue.getByText('Needs the keys').waitFor();
    await ended.getByText('Done', { exact: true }).waitFor();
    const before = await widthOf(ended, 'transfer-moved');
    await gripOf(queue, 'Moved').focus();
    await page.keyboard.press('ArrowLeft');
    for (const list of [queue, ended])
      for (const cells of ['transfer-head .transfer-moved', 'transfer .transfer-moved'])
        await expect.poll(() => widthOf(list, cells), WAIT).toBe(before + 16);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await keptIs(page, { transfers: [{ id: 'size', widthPx: before + 16 }] });
    await page.keyboard.press('Enter');
    await expect.poll(() => widthOf(ended, 'transfer-moved'), WAIT).toBeLessThan(before);
    const words = ended.locator('.transfer .transfer-moved');
    expect(await words.evaluate((cell) => cell.scrollWidth > cell.clientWidth)).toBe(false);

    await ended.locator('.transfer-head').click({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: 'Time' }).click();
    for (const list of [queue, ended])
      await expect.poll(() => list.locator('.transfer .transfer-time').isVisible(), WAIT).toBe(false);
    await expect
      .poll(async () => (await askEngine(page, 'settings.get', {})).columns?.transfers, WAIT)
      .toContainEqual({ id: 'time', isHidden: true });
    await page.reload();
    await ended.getByText('Done', { exact: true }).waitFor();
    await expect.poll(() => ended.locator('.transfer .transfer-time').isVisible(), WAIT).toBe(false);
    await gripOf(queue, 'Moved').focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Reset the columns' }).click();
    await expect.poll(() => widthOf(ended, 'transfer-moved'), WAIT).toBe(before);
    await keptIs(page, {});
    expect(complaints).toEqual([]);
  });
});
