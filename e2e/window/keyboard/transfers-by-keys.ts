/** A transfer by the keyboard: its details, and the menu of its row. */
import type { OpenWindow } from '../open-window.ts';
import { chooseInMenu, press, undo } from './press-keys.ts';

/** Uses the menu of the ended clone, on the screen of transfers. */
export async function useTransferMenu({ page }: OpenWindow): Promise<void> {
  const details = page.getByRole('button', { name: 'Details of Clone second' });
  await press(page, details);
  await details.and(page.locator('[aria-expanded=true]')).waitFor();
  await chooseInMenu(page, 'Remove from the list');
  await details.waitFor({ state: 'detached' });
  await undo(page, 'Removed 1 transfer from the list');
  await details.waitFor();
}
