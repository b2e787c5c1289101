/**
 * Changes by the keyboard: views, kinds and a search, the side that a pull takes of a conflict, and a new
 * file that is discarded and ignored.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { OpenWindow } from '../open-window.ts';
import { rowOf, rowsShown, WAIT } from '../window-workspace.ts';
import {
  chooseInMenu,
  chooseOption,
  command,
  holdsFocus,
  press,
  pressUntil,
  tabTo,
  undo,
} from './press-keys.ts';

/** Opens a folder and skips a file in it, then shows the paths flat, by size, by kind and by a search. */
export async function filterChanges({ page }: OpenWindow, root: string): Promise<void> {
  mkdirSync(join(root, 'days'));
  for (const [name, bytes] of [
    ['days/monday.txt', 10],
    ['days/tuesday.txt', 900],
    ['notes.txt', 300],
  ] as const)
    writeFileSync(join(root, name), 'x'.repeat(bytes));
  const shown = async () => (await rowsShown(page)).map((row) => row.split(' ')[0]);
  await command(page, 'See what a push would do');
  await expect.poll(shown, WAIT).toEqual(['days', 'notes.txt']);
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await rowOf(page, 'days/tuesday.txt').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Push 2 changes' }).waitFor();
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Push 3 changes' }).waitFor();

  await pressUntil(page, 'Shift+Tab', page.getByRole('radio', { name: 'Tree' }));
  await pressUntil(page, 'ArrowRight', page.getByRole('radio', { name: 'Flat' }));
  await page.keyboard.press('Space');
  await expect.poll(shown, WAIT).toEqual(['days/monday.txt', 'days/tuesday.txt', 'notes.txt']);
  await chooseOption(page, page.getByRole('button', { name: /Order/ }), 'Largest first');
  await expect.poll(shown, WAIT).toEqual(['days/tuesday.txt', 'notes.txt', 'days/monday.txt']);
  const chip = page.getByRole('button', { name: 'Added 2' });
  await press(page, chip);
  await expect.poll(shown, WAIT).toEqual(['days/tuesday.txt', 'days/monday.txt']);
  await tabTo(page, page.getByRole('grid'));
  await page.keyboard.press('/');
  await page.keyboard.type('mon');
  await expect.poll(shown, WAIT).toEqual(['days/monday.txt']);
  await page.keyboard.press('Escape');
  await press(page, chip);
  await expect.poll(shown, WAIT).toHaveLength(3);
  await pressUntil(page, 'Shift+Tab', page.getByRole('radio', { name: 'Flat' }));
  await pressUntil(page, 'ArrowLeft', page.getByRole('radio', { name: 'Tree' }));
  await page.keyboard.press('Space');
  await rowOf(page, 'days/').waitFor();
}

/** A change that comes while the list is open is offered below it. */
export async function showNews({ page }: OpenWindow, root: string): Promise<void> {
  await command(page, 'See what a push would do');
  await rowOf(page, 'days/').waitFor();
  await page.getByText(/^Scanned at \d\d:\d\d, watching$/).waitFor();
  writeFileSync(join(root, 'later.txt'), 'later');
  await press(page, page.getByRole('button', { name: 'Show', exact: true }));
  await rowOf(page, 'later.txt').waitFor();
  await expect.poll(holdsFocus(page.getByRole('treegrid')), WAIT).toBe(true);
}

/** Both files changed here and at another machine. One side is taken of both, then the other of one. */
export async function takeSides({ folder, page }: OpenWindow, root: string): Promise<void> {
  const other = join(folder, 'other');
  const dray = (cwd: string, ...parameters: string[]) =>
    runCli(parameters, { cwd, environment: { HOME: join(folder, 'home'), DRAY_AUTHOR: 'other' } });
  await dray(folder, 'clone', `file://${join(folder, 'versions')}`, other);
  const files = ['draft.txt', 'notes.txt'];
  for (const name of files) writeFileSync(join(other, name), 'theirs');
  expect(await dray(other, 'push')).toMatchObject({ exitCode: 0 });
  for (const name of files) writeFileSync(join(root, name), 'mine');
  const texts = () => files.map((name) => readFileSync(join(root, name), 'utf8'));
  await command(page, 'See what a pull would do');
  await page.getByText('2 still to decide').waitFor();
  await chooseOption(page, page.getByRole('button', { name: /For all conflicts/ }), 'Keep mine');
  await page.getByText('All are decided').waitFor();
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('End');
  await rowOf(page, 'notes.txt').and(page.locator('.change-row-active')).waitFor();
  await page.keyboard.press('t');
  await rowOf(page, 'notes.txt').getByRole('button', { name: 'Take theirs', pressed: true }).waitFor();
  await press(page, page.getByRole('button', { name: /^Pull \d change/ }));
  await expect.poll(texts, WAIT).toEqual(['mine', 'theirs']);
  await undo(page, /overwritten/);
  await expect.poll(texts, WAIT).toEqual(['mine', 'mine']);
}

/** The menu of a row discards a new file, Undo and Kept files bring it back, and then a line ignores it. */
export async function discardAndIgnore({ page }: OpenWindow, root: string): Promise<void> {
  const path = join(root, 'a scratch.tmp');
  writeFileSync(path, 'mine alone');
  await command(page, 'See what a push would do');
  const row = rowOf(page, 'a scratch.tmp');
  const choose = async (name: RegExp) => {
    await row.waitFor();
    await tabTo(page, page.getByRole('treegrid'));
    await page.keyboard.press('Home');
    await row.and(page.locator('.change-row-active')).waitFor();
    await chooseInMenu(page, name);
  };
  const discard = async () => {
    await choose(/^Discard the new file/);
    await expect.poll(() => existsSync(path), WAIT).toBe(false);
    // Later steps wait for the row, and do not mean that of the old list.
    await row.waitFor({ state: 'detached' });
  };
  await discard();
  const message = page.getByRole('alertdialog', { name: '1 new file moved to Kept files' });
  await press(page, message.getByRole('button', { name: 'Undo' }));
  await expect.poll(() => existsSync(path), WAIT).toBe(true);
  await discard();
  await press(page, page.getByRole('button', { name: 'Kept files' }));
  const kept = page.getByRole('dialog', { name: 'Kept files' });
  await press(page, kept.getByRole('button', { name: /^Put back/ }).first());
  await expect.poll(() => readFileSync(path, 'utf8'), WAIT).toBe('mine alone');
  await page.keyboard.press('Escape');
  await kept.waitFor({ state: 'detached' });
  await choose(/^Ignore/);
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Ignore it' }));
  await expect.poll(() => existsSync(join(root, '.drayignore')), WAIT).toBe(true);
  await row.waitFor({ state: 'detached' });
}
