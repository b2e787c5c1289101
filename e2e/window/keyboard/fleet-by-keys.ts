/** Fleets by the keyboard: a server, a job, its map, and the actions on it. */
import { expect } from 'vitest';
import { PLAYED_JOB, PLAYED_SERVER } from '../data/played-fleet.ts';
import type { OpenWindow } from '../open-window.ts';
import { command, press, tabTo } from './press-keys.ts';

export const AWAITED_WORKER = 'mover-d';

/** Watches a played fleet, whose job waits for `AWAITED_WORKER`. */
export async function watchFleet({ page }: OpenWindow): Promise<void> {
  await command(page, 'Fleets');
  await press(page, page.getByRole('button', { name: 'Connect to Temporal' }));
  const dialog = page.getByRole('dialog', { name: 'Connect to Temporal' });
  await tabTo(page, dialog.getByLabel('Address'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type(PLAYED_SERVER.address);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('link', { name: PLAYED_JOB }));
  await page.getByText(`This push waits for the worker ${AWAITED_WORKER}.`).waitFor();
  const map = page.getByRole('listbox', { name: 'Ranges' });
  await tabTo(page, map);
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^Range 2: done/).waitFor();
  await page.keyboard.press('End');
  await page.getByText(/^Range \d+: waiting/).waitFor();
  await press(page, page.getByRole('button', { name: `Pause ${PLAYED_JOB}` }));
  // The focus stays on the button.
  await press(page, page.getByRole('button', { name: `Resume ${PLAYED_JOB}` }));
  await page.getByRole('button', { name: `Pause ${PLAYED_JOB}` }).waitFor();
  await press(page, page.getByRole('button', { name: /^Try failed files again/ }));
  await page.getByText('tries its failed files again at its end').waitFor();
  await press(page, page.getByRole('button', { name: 'Show the failed files' }));
  await page.getByRole('rowheader', { name: /frame-114002/ }).waitFor();
  await press(page, page.getByRole('button', { name: `Cancel ${PLAYED_JOB}` }));
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }));
  await press(page, page.getByRole('link', { name: 'All jobs' }));
  await expect.poll(() => page.getByRole('link', { name: /weekly-check/ }).count()).toBe(1);
}
