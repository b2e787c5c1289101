/** Steps of a person who uses the keyboard alone. */
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { WAIT } from '../window-workspace.ts';

const PRESSES_MAX = 120;

/** Runs a command of the palette by its first letters. */
export async function command(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('menu', { name: 'Commands' }).waitFor();
  await page.keyboard.type(name);
  await page.getByRole('menuitem', { name }).and(page.locator('[data-focused]')).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('menu', { name: 'Commands' }).waitFor({ state: 'detached' });
}

export async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

export function tabTo(page: Page, target: Locator): Promise<void> {
  return pressUntil(page, 'Tab', target);
}

export async function pressUntil(page: Page, key: string, target: Locator): Promise<void> {
  await target.waitFor();
  for (let steps = 0; steps < PRESSES_MAX; steps += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${PRESSES_MAX} times ${key} do not lead to ${target}.`);
}

/** Replaces the text of a field. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Chooses an option of the list that a button opens. */
export async function chooseOption(page: Page, button: Locator, name: string): Promise<void> {
  await press(page, button);
  // Keys that come before an option has the focus are lost.
  await page.getByRole('option').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Home');
  await pressUntil(page, 'ArrowDown', page.getByRole('option', { name }));
  await page.keyboard.press('Enter');
}

/** For `expect.poll`: whether this or something in it has the focus. */
export function holdsFocus(target: Locator): () => Promise<boolean> {
  return () => target.evaluate((element) => element.contains(document.activeElement));
}

/** Presses Undo of the message with this title. */
export async function undo(page: Page, title: RegExp | string): Promise<void> {
  await press(page, page.getByRole('alertdialog', { name: title }).getByRole('button', { name: 'Undo' }));
}

/** Chooses an entry of the menu of what has the focus. */
export async function chooseInMenu(page: Page, name: RegExp | string): Promise<void> {
  await page.keyboard.press('Shift+F10');
  const entry = page.getByRole('menuitem', { name }).or(page.getByRole('menuitemcheckbox', { name }));
  await pressUntil(page, 'ArrowDown', entry);
  await page.keyboard.press('Enter');
}

export async function chooseByName(page: Page, pane: Locator, name: string): Promise<void> {
  await tabTo(page, pane.getByRole('grid'));
  await page.keyboard.type(name);
  await pane.getByRole('row', { name, selected: true }).waitFor();
}

/** Loads the sound of this box and plays it. */
export async function loadAndPlay(page: Page, box: Locator): Promise<void> {
  await press(page, box.getByRole('button', { name: /^Load and play/ }));
  const audio = box.locator('audio');
  await tabTo(page, audio);
  await page.keyboard.press(' ');
  await expect.poll(() => audio.evaluate((one: HTMLAudioElement) => one.paused), WAIT).toBe(false);
}

/** Opens the list of branches and tags and puts the focus on this one, such as `branch main`. */
export async function findRef(page: Page, name: string): Promise<Locator> {
  await command(page, 'Switch to another branch');
  const row = page.getByRole('row', { name: new RegExp(name) });
  await tabTo(page, page.getByRole('grid', { name: 'Branches and tags' }).getByRole('row').first());
  await pressUntil(page, 'ArrowDown', row);
  return row;
}
