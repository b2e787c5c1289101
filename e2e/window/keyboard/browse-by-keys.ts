/** Browse by the keyboard: the history of a file, a sound, the filter, a new folder. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { toneOf } from '../data/encode-wav.ts';
import type { OpenWindow } from '../open-window.ts';
import { chooseByName, chooseInMenu, loadAndPlay, press, tabTo } from './press-keys.ts';

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
