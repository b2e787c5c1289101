/** A first workspace by the keyboard alone: its set-up and its first push. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenWindow } from '../open-window.ts';
import { press, tabTo } from './press-keys.ts';

/** From the next load of the page on, a press of a mouse button is a complaint, which fails the run. */
export function refusePointer({ page }: OpenWindow): Promise<unknown> {
  return page.addInitScript(() =>
    addEventListener('pointerdown', () => console.error('A pointer was used.'), true),
  );
}

/** Makes the workspace `coast` with two pushed files, `draft.txt` and `notes.txt`, and returns its folder. */
export async function setUpWorkspace({ folder, page }: OpenWindow): Promise<string> {
  const root = join(folder, 'home', 'coast');
  mkdirSync(root);
  writeFileSync(join(root, 'notes.txt'), 'first');
  writeFileSync(join(root, 'draft.txt'), 'draft');
  await tabTo(page, page.getByLabel('Folder with your files'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type(root);
  await press(page, page.getByRole('button', { name: 'Next' }));
  await tabTo(page, page.getByRole('radio', { name: /^A folder/ }));
  await tabTo(page, page.getByLabel('Folder for the versions'));
  await page.keyboard.type(join(folder, 'versions'));
  await press(page, page.getByRole('button', { name: 'Set up' }));
  await page.getByText('is now a workspace').waitFor();
  await press(page, page.getByRole('button', { name: 'Push', exact: true }));
  await page.locator('main').getByText('Done').waitFor();
  return root;
}
