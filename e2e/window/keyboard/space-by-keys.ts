/** The space of a repository by the keyboard: checked, freed by a policy and a collection. */
import { basename } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import { command, press, tabTo, typeInto } from './press-keys.ts';

/** Only the newest commit and those with a tag stay; what the others alone need is collected. */
export async function freeSpace({ page }: OpenWindow, root: string): Promise<void> {
  const name = basename(root);
  await command(page, 'Repositories');
  const space = page.getByRole('region', { name: `Space of ${name}` });
  await press(page, space.getByRole('button', { name: `Check the space of ${name}` }));
  await space.getByText(/on the store, in \d+ commits$/).waitFor();

  await press(page, space.getByRole('button', { name: `Retention... of ${name}` }));
  const rules = page.getByRole('dialog').filter({ has: page.getByLabel('Newest commits') });
  await typeInto(page, rules.getByLabel('Newest commits'), '1');
  await rules.getByText(/^Would forget [1-9]/).waitFor();
  await press(page, rules.getByRole('button', { name: /^Forget \d+ commits?\.\.\.$/ }));
  const sure = page.getByRole('dialog', { name: /^Forget \d+ commits? of/ });
  await press(page, sure.getByRole('button', { name: /^Forget \d+ commits?$/ }));
  await page.getByText(/^Forgot \d+ commits? of/).waitFor();
  await sure.waitFor({ state: 'detached' });

  await collectNow(page, name);

  await command(page, 'History');
  await page.getByText('Forgotten', { exact: true }).first().waitFor();
}

/** Checks the space after commits were forgotten, and collects also what is young. On Repositories. */
export async function collectNow(page: Page, name: string): Promise<void> {
  const space = page.getByRole('region', { name: `Space of ${name}` });
  await press(page, space.getByRole('button', { name: `Check the space of ${name}` }));
  await space.getByText(/commits? forgotten$/).waitFor();
  await press(page, space.getByRole('button', { name: `Collect garbage... of ${name}` }));
  const collect = page.getByRole('dialog', { name: `Collect garbage of ${name}` });
  await tabTo(page, collect.getByRole('checkbox'));
  await page.keyboard.press('Space');
  await press(page, collect.getByRole('button', { name: 'Collect garbage' }));
  await collect.waitFor({ state: 'detached' });
  await expect.poll(() => space.innerText(), WAIT).toMatch(/A collection frees\s+0 B/);
}
