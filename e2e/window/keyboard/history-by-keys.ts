/** Versions by the keyboard: a tag is made, renamed and deleted; deletions are seen before a push. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenWindow } from '../open-window.ts';
import { chooseInMenu, command, findRef, press, tabTo, undo } from './press-keys.ts';

export async function nameVersion({ page }: OpenWindow): Promise<void> {
  await command(page, 'Make a tag');
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('heading') });
  await tabTo(page, dialog.getByLabel('Name of the tag'));
  await page.keyboard.type('season');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await findRef(page, 'tag season');
  await chooseInMenu(page, 'Rename the tag season...');
  await tabTo(page, dialog.getByLabel('Name of the tag'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('first-year');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await findRef(page, 'tag first-year');
  await chooseInMenu(page, 'Delete the tag first-year...');
  await press(page, dialog.getByRole('button', { name: 'Delete the tag' }));
  await page.getByText('The tag first-year was deleted').waitFor();
  await undo(page, 'The tag first-year was deleted');
  await findRef(page, 'tag first-year');
  await page.keyboard.press('Escape');
}

/** The push waits until the person has seen what goes. */
export async function seeDeletions({ page }: OpenWindow, root: string): Promise<void> {
  rmSync(join(root, 'draft.txt'));
  await command(page, 'See what a push would do');
  await press(page, page.getByRole('button', { name: 'Refresh' }));
  await press(page, page.getByRole('button', { name: 'Show it' }));
  await tabTo(page, page.getByRole('checkbox', { name: 'I have seen the deletions' }));
  await page.keyboard.press('Space');
  await press(page, page.getByRole('button', { name: /^Push \d+ changes?$/ }));
  await page.getByText('Pushed as commit').waitFor();
}
