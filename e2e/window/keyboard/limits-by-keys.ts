/** Settings and tables by the keyboard: the limits of transfers, notices, and the columns of Changes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { OpenWindow } from '../open-window.ts';
import { gripOf, keptIs, widthOf } from '../page/table-columns.ts';
import { rowOf, WAIT } from '../window-workspace.ts';
import { chooseInMenu, chooseOption, command, press, pressUntil, tabTo, typeInto } from './press-keys.ts';

/** A bandwidth with hours, and a number of requests. */
export async function limitTransfers({ folder, page }: OpenWindow): Promise<void> {
  const field = (label: string) => page.getByLabel(label, { exact: true });
  await command(page, 'Settings');
  await tabTo(page, page.getByRole('radio', { name: 'No limit' }));
  await pressUntil(page, 'ArrowRight', page.getByRole('radio', { name: 'At some hours' }));
  await page.keyboard.press('Space');
  await typeInto(page, field('At most'), '640');
  await chooseOption(page, page.getByRole('button', { name: 'Unit' }), 'KiB/s');
  await typeInto(page, field('From'), '22:15');
  await typeInto(page, field('To'), '6:30');
  await tabTo(page, page.getByRole('radio', { name: 'Adaptive' }));
  await page.getByRole('img', { name: 'Limited from 22:15 to 06:30' }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await typeInto(page, field('At once'), '3');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => keptSettings(folder), WAIT)
    .toMatchObject({ bandwidth: { limit: 640 * 1024, from: '22:15', to: '06:30' }, transfers: 3 });
}

/** Both are on at first: the notices of transfers, and the requests that find new commits. */
export async function chooseNotices({ folder, page }: OpenWindow): Promise<void> {
  await command(page, 'Settings');
  for (const [label, name] of [
    ['Notify me', 'notifications'],
    ['Check for new commits', 'looksForIncoming'],
  ] as const) {
    await tabTo(page, page.getByRole('switch', { name: label }));
    await page.keyboard.press('Space');
    await expect.poll(() => keptSettings(folder), WAIT).toMatchObject({ [name]: false });
  }
}

function keptSettings(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, 'home', '.config', 'dray', 'window.json'), 'utf8')).settings;
}

/** The last column is hidden from its own edge, which takes the focus away. */
export async function tendColumns({ page }: OpenWindow, root: string): Promise<void> {
  writeFileSync(join(root, 'more.txt'), 'more');
  await command(page, 'See what a push would do');
  const row = rowOf(page, 'more.txt');
  await row.waitFor();
  const table = page.locator('.change-table');
  const before = await widthOf(table, 'change-kind');
  await press(page, gripOf(table, 'Change'));
  await expect.poll(() => widthOf(table, 'change-kind'), WAIT).toBeLessThan(before);
  await chooseInMenu(page, 'Size');
  await row.locator('.change-size').waitFor({ state: 'hidden' });
  await tabTo(page, gripOf(table, 'Change'));
  await chooseInMenu(page, 'Change');
  await row.locator('.change-kind').waitFor({ state: 'hidden' });
  const head = table.getByRole('group', { name: 'Columns' });
  await head.and(page.locator(':focus')).waitFor();
  await tabTo(page, table.getByRole('treegrid'));
  await pressUntil(page, 'Shift+Tab', head);
  for (const name of ['Change', 'Size']) {
    await chooseInMenu(page, name);
    await gripOf(table, name).waitFor();
  }
  await press(page, gripOf(table, 'Size'));
  await chooseInMenu(page, 'Reset the columns');
  await expect.poll(() => widthOf(table, 'change-kind'), WAIT).toBe(before);
  await keptIs(page, {});
}
