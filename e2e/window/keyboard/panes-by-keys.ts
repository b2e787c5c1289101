/** The panes of Browse by the keyboard: their rows chosen and ordered, and places copied to the clipboard. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import type { S3Server } from '../../servers/versitygw.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import { chooseByName, chooseInMenu, chooseOption, command, press, pressUntil, tabTo } from './press-keys.ts';

const LARGE_BYTES = 3000;

/** Rows are chosen one more at a time and all at once, ordered by size, and folders are measured. */
export async function chooseRows({ folder, page }: OpenWindow): Promise<void> {
  const place = join(folder, 'home', 'shells');
  mkdirSync(join(place, 'whole'), { recursive: true });
  for (const [name, bytes] of [
    ['a.txt', 1],
    ['b.txt', LARGE_BYTES],
    ['whole/c.txt', LARGE_BYTES],
  ] as const)
    writeFileSync(join(place, name), 'x'.repeat(bytes));
  await command(page, 'Browse');
  const left = page.getByRole('region', { name: /^Left pane/ });
  await left.getByRole('row', { name: 'shells' }).waitFor();
  await chooseByName(page, left, 'shells');
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'b.txt' }).waitFor();
  await tabTo(page, left.getByRole('grid'));
  // The range begins at the row that one letter has found.
  await page.keyboard.press('a');
  await left.getByRole('row', { name: 'a.txt', selected: true }).waitFor();
  await page.keyboard.press('Shift+ArrowDown');
  await left.getByText(/^2 of 3 chosen/).waitFor();
  await page.keyboard.press('Control+a');
  await left.getByText(/^3 of 3 chosen/).waitFor();

  const rows = left.getByRole('row').filter({ has: page.getByRole('gridcell') });
  const names = async () => (await rows.allInnerTexts()).map((text) => text.trim().split(/\s/)[0]);
  await orderBySize(page, left);
  await expect.poll(names, WAIT).toEqual(['whole', 'b.txt', 'a.txt']);
  await pressUntil(page, 'Shift+Tab', left.getByRole('button', { name: 'Sizes of folders' }));
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'whole' }).getByText('2.9 KiB').waitFor();
  await tabTo(page, left.getByRole('grid'));
  await page.keyboard.press('Backspace');
  await left.getByRole('row', { name: 'shells' }).waitFor();
}

/** The largest first. The head of its columns is in the list. */
export async function orderBySize(page: Page, pane: Locator): Promise<void> {
  const head = pane.getByRole('columnheader', { name: 'Size' });
  await tabTo(page, head.getByRole('button', { name: 'Size', exact: true }));
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await head.and(page.locator('[aria-sort=descending]')).waitFor();
}

/** The remote `from-aws` shows the object `one.txt` below its prefix. */
export async function copyPlaces(window: OpenWindow, server: S3Server): Promise<void> {
  const { context, folder, origin, page } = window;
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const [left, right] = [
    page.getByRole('region', { name: /^Left pane/ }),
    page.getByRole('region', { name: /^Right pane/ }),
  ];
  await command(page, 'Browse');
  for (const name of ['from-rclone', 'from-aws']) {
    await chooseOption(page, right.getByRole('button', { name: 'Right pane shows' }), name);
    await page.getByRole('region', { name: `Right pane, ${name}:` }).waitFor();
  }
  await right.getByRole('row', { name: 'one.txt' }).waitFor();
  for (const [pane, name, entry, text] of [
    [left, 'coast', 'Copy the path', join(folder, 'home', 'coast')],
    [right, 'one.txt', 'Copy the URL', new RegExp(`^s3://${server.bucket}/kept/one\\.txt`)],
    [right, 'one.txt', 'Copy the S3 key', 'kept/one.txt'],
  ] as const) {
    await chooseByName(page, pane, name);
    await chooseInMenu(page, entry);
    await expect.poll(copied, WAIT).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  }
  await command(page, 'Browse');
  await chooseByName(page, left, 'coast');
  await page.keyboard.press('Enter');
  await chooseByName(page, left, 'notes.txt');
  await chooseInMenu(page, 'Who last changed it');
  await page.getByText(/ last changed notes\.txt, /).waitFor();
  await press(page, page.getByRole('alertdialog').getByRole('button', { name: 'History' }));
  await page.getByRole('dialog', { name: 'History of notes.txt' }).getByRole('row').first().waitFor();
  await page.keyboard.press('Escape');
}
