/** Home by the keyboard: another workspace is used, checked and forgotten, and a remote verified. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { askEngine } from '../ask-engine.ts';
import type { OpenWindow } from '../open-window.ts';
import { rowOf, WAIT } from '../page/transfer-rows.ts';
import { command, holdsFocus, press, pressUntil } from './press-keys.ts';

/** The command makes the workspace `inland`, and the person returns to `coast`. */
export async function changeWorkspace({ folder, page }: OpenWindow): Promise<void> {
  const root = join(folder, 'home', 'inland');
  mkdirSync(root);
  const environment = { HOME: join(folder, 'home') };
  const made = await runCli(['init', '--remote', join(folder, 'inland-versions')], {
    cwd: root,
    environment,
  });
  expect(made).toMatchObject({ exitCode: 0 });
  await askEngine(page, 'home.addWorkspace', { root });
  await page.reload();
  for (const name of ['inland', 'coast']) {
    await command(page, `Use workspace ${name}`);
    await page.getByRole('button', { name: `Workspace ${name}` }).waitFor();
  }
  writeFileSync(join(root, 'rain.txt'), 'rain');
  await command(page, 'Home');
  await press(page, page.getByRole('button', { name: 'Check for changes' }));
  await page.getByRole('article', { name: 'inland' }).getByText('1 added').waitFor();
}

/** The keyboard goes to the card that takes its place, and at the end to the first steps. */
export async function forgetWorkspaces({ folder, page }: OpenWindow): Promise<void> {
  await command(page, 'Home');
  const card = (name: string) => page.getByRole('article', { name });
  await forget('coast');
  await expect.poll(holdsFocus(card('inland')), WAIT).toBe(true);
  await forget('inland');
  await page.getByLabel('Folder with your files').waitFor();
  await expect.poll(holdsFocus(page.locator('#screen')), WAIT).toBe(true);
  for (const name of ['coast', 'inland']) expect(existsSync(join(folder, 'home', name, '.dray'))).toBe(true);

  async function forget(name: string): Promise<void> {
    await press(page, card(name).getByRole('button', { name: `More of ${name}` }));
    await pressUntil(page, 'ArrowDown', page.getByRole('menuitem', { name: 'Forget this workspace' }));
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }));
    await card(name).waitFor({ state: 'detached' });
  }
}

/** From the menu of the workspace's card, and then from Repositories. */
export async function verifyFromCards({ page }: OpenWindow): Promise<void> {
  await command(page, 'Home');
  const more = page.getByRole('button', { name: 'More of coast' });
  await press(page, more);
  await pressUntil(page, 'ArrowDown', page.getByRole('menuitem', { name: 'Verify its remote' }));
  await page.keyboard.press('Enter');
  await expect.poll(holdsFocus(more), WAIT).toBe(true);
  await command(page, 'Repositories');
  await page.getByText(/existence and sizes/).waitFor();
  await press(page, page.getByRole('button', { name: 'Verify', exact: true }));
  await command(page, 'Transfers');
  const verified = rowOf(page, 'Verify coast').filter({ hasText: 'Done' });
  await expect.poll(() => verified.count(), WAIT).toBe(2);
}
