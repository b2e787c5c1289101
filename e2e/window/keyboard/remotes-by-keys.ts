/** A remote by the keyboard: edited, removed, and put back. */
import type { OpenWindow } from '../open-window.ts';
import { command, press, tabTo, undo } from './press-keys.ts';

/** The remote `shelf`. */
export async function editRemote({ page }: OpenWindow): Promise<void> {
  await command(page, 'Remotes');
  await press(page, page.getByRole('button', { name: 'Edit shelf' }));
  const dialog = page.getByRole('dialog');
  await tabTo(page, dialog.getByLabel('Name'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('shelves');
  await press(page, dialog.getByRole('button', { name: 'Test', exact: true }));
  await dialog.getByText('supports everything that Dray needs').waitFor();
  await press(page, dialog.getByRole('button', { name: 'Save', exact: true }));
  await page.getByRole('heading', { name: 'shelves' }).waitFor();
  await press(page, page.getByRole('button', { name: 'Remove shelves' }));
  await page.getByRole('heading', { name: 'shelves' }).waitFor({ state: 'detached' });
  await undo(page, /shelves/);
  await page.getByRole('heading', { name: 'shelves' }).waitFor();
}
