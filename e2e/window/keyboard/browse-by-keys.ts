/**
 * Browse by the keyboard: the history of a file, a sound, the filter, a new folder, changes that are
 * discarded, and the objects of a repository.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { toneOf } from '../data/encode-wav.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import {
  chooseByName,
  chooseInMenu,
  command,
  holdsFocus,
  loadAndPlay,
  press,
  tabTo,
  undo,
} from './press-keys.ts';

const leftOf = (page: Page) => page.getByRole('region', { name: /^Left/ });

/** The left pane shows the folder above the workspace, before and after. */
export async function seeWhoChanged({ page }: OpenWindow): Promise<void> {
  const left = leftOf(page);
  await chooseByName(page, left, 'coast');
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'notes.txt' }).waitFor();
  await chooseByName(page, left, 'notes.txt');
  await chooseInMenu(page, 'History of this file...');
  const dialog = page.getByRole('dialog', { name: 'History of notes.txt' });
  await dialog.getByRole('row').nth(1).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await tabTo(page, left.getByRole('grid'));
  await page.keyboard.press('Backspace');
  await left.getByRole('row', { name: 'coast' }).waitFor();
}

export async function playSound({ folder, page }: OpenWindow): Promise<void> {
  const sounds = join(folder, 'home', 'sounds');
  mkdirSync(sounds);
  writeFileSync(join(sounds, 'tone.wav'), toneOf(20));
  const left = leftOf(page);
  await press(page, left.getByRole('button', { name: 'Refresh' }));
  await left.getByRole('row', { name: 'sounds' }).waitFor();
  await chooseByName(page, left, 'sounds');
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'tone.wav' }).waitFor();
  await chooseByName(page, left, 'tone.wav');
  await page.keyboard.press(' ');
  const dialog = page.getByRole('dialog');
  await loadAndPlay(page, dialog);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await tabTo(page, left.getByRole('grid'));
  await page.keyboard.press('Backspace');
  await left.getByRole('row', { name: 'coast' }).waitFor();
}

export async function filterAndMakeFolder({ folder, page }: OpenWindow): Promise<void> {
  const left = leftOf(page);
  await tabTo(page, left.getByRole('searchbox'));
  await page.keyboard.type('coast');
  await left.getByRole('row', { name: 'sounds' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await left.getByRole('row', { name: 'sounds' }).waitFor();
  await press(page, left.getByRole('button', { name: 'New folder' }));
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  await tabTo(page, dialog.getByRole('textbox'));
  await page.keyboard.type('made by keys');
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'made by keys' }).waitFor();
  expect(existsSync(join(folder, 'home', 'made by keys'))).toBe(true);
}

/** A changed and a new file of the workspace are discarded, then one is ignored. Undo takes each back. */
export async function discardInBrowse({ page }: OpenWindow, root: string): Promise<void> {
  const [notes, ignored] = [join(root, 'notes.txt'), join(root, '.drayignore')];
  writeFileSync(notes, 'changed here');
  writeFileSync(join(root, 'fresh.txt'), 'mine alone');
  await command(page, 'Browse');
  const left = leftOf(page);
  const row = (name: string) => left.getByRole('row', { name });
  await row('coast').waitFor();
  await chooseByName(page, left, 'coast');
  await page.keyboard.press('Enter');
  await row('notes.txt').waitFor();
  const choose = async (name: string, entry: string) => {
    await chooseByName(page, left, name);
    await chooseInMenu(page, entry);
  };
  await choose('notes.txt', 'Discard the change');
  await expect.poll(() => readFileSync(notes, 'utf8'), WAIT).toBe('first');
  await undo(page, '1 local file was overwritten');
  await expect.poll(() => readFileSync(notes, 'utf8'), WAIT).toBe('changed here');
  await choose('fresh.txt', 'Discard the change');
  await row('fresh.txt').waitFor({ state: 'detached' });
  await undo(page, '1 new file moved to Kept files');
  await row('fresh.txt').waitFor();

  await choose('fresh.txt', 'Ignore this file...');
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Ignore it' }));
  await row('.drayignore').waitFor();
  expect(readFileSync(ignored, 'utf8')).toBe('/fresh.txt\n');
  await undo(page, 'fresh.txt is ignored');
  await row('.drayignore').waitFor({ state: 'detached' });
  expect(existsSync(ignored)).toBe(false);
  await tabTo(page, left.getByRole('grid'));
  await page.keyboard.press('Backspace');
  await row('coast').waitFor();
}

/** A copy of the workspace's repository loses its branches once the copy's name is typed. */
export async function deleteObjects({ folder, page }: OpenWindow): Promise<void> {
  const spare = join(folder, 'home', 'spare');
  cpSync(join(folder, 'versions'), spare, { recursive: true });
  await command(page, 'Browse');
  const left = leftOf(page);
  await press(page, left.getByRole('button', { name: 'Refresh' }));
  await left.getByRole('row', { name: 'spare' }).waitFor();
  await chooseByName(page, left, 'spare');
  await page.keyboard.press('Enter');
  await press(page, left.getByRole('button', { name: 'Show the stored objects' }));
  await left.getByRole('row', { name: 'refs' }).waitFor();
  await chooseByName(page, left, 'refs');
  await page.keyboard.press('Delete');
  for (const { title, word } of [
    { title: 'Delete refs', word: 'refs' },
    { title: 'spare is a Dray repository', word: 'spare' },
  ]) {
    const dialog = page.getByRole('dialog', { name: title });
    await tabTo(page, dialog.getByRole('textbox'));
    expect(existsSync(join(spare, 'refs', 'heads', 'main'))).toBe(true);
    await page.keyboard.type(word);
    await press(page, dialog.getByRole('button', { name: 'Delete' }));
  }
  await left.getByRole('row', { name: 'refs' }).waitFor({ state: 'detached' });
  await expect.poll(holdsFocus(left.getByRole('grid')), WAIT).toBe(true);
  expect(existsSync(join(spare, 'refs', 'heads', 'main'))).toBe(false);
}
