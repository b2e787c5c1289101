/** A saved job by the keyboard: its log, a pause, an edit, and its end. */
import type { OpenWindow } from '../open-window.ts';
import { press, tabTo } from './press-keys.ts';

/** The job `by-hand`, on the screen of jobs. */
export async function tendJob({ page }: OpenWindow): Promise<void> {
  await press(page, page.getByRole('button', { name: 'Log of by-hand' }));
  const log = page.getByRole('dialog', { name: 'Log of by-hand' });
  await log.waitFor();
  await page.keyboard.press('Escape');
  await log.waitFor({ state: 'detached' });
  await press(page, page.getByRole('button', { name: 'Pause by-hand' }));
  await press(page, page.getByRole('button', { name: 'Resume by-hand' }));
  await press(page, page.getByRole('button', { name: 'Edit by-hand' }));
  const form = page.getByRole('dialog', { name: 'Edit by-hand' });
  await tabTo(page, form.getByLabel('Name', { exact: true }));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('by-keys');
  await press(page, form.getByRole('button', { name: 'Save' }));
  await form.waitFor({ state: 'detached' });
  await press(page, page.getByRole('button', { name: 'Remove by-keys' }));
  const question = page.getByRole('dialog', { name: 'Remove by-keys?' });
  await press(page, question.getByRole('button', { name: 'Remove', exact: true }));
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
}
