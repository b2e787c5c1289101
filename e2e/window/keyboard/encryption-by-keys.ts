/** An encrypted repository by the keyboard: opened, given another password, and rid of tags and garbage. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { askEngine } from '../ask-engine.ts';
import type { OpenWindow } from '../open-window.ts';
import { command, press, typeInto } from './press-keys.ts';
import { collectNow } from './space-by-keys.ts';

const OLD = 'two herons on one leg';
const NEW = 'a kingfisher dives';

export async function tendEncrypted(window: OpenWindow): Promise<void> {
  const { page } = window;
  const dray = await makeBirds(window);
  await command(page, 'Use workspace birds');
  await command(page, 'History');
  await press(page, page.getByRole('button', { name: 'Enter the password' }).first());
  const unlock = page.getByRole('dialog', { name: 'Password of the repository' });
  await typeInto(page, unlock.getByLabel('Password or recovery key'), OLD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'version last' }).waitFor();

  await command(page, 'Repositories');
  await press(page, page.getByRole('button', { name: 'Passwords... of birds' }));
  const keys = page.getByRole('dialog', { name: 'Passwords of birds' });
  await press(page, keys.getByRole('button', { name: 'Change a password...' }));
  const change = page.getByRole('dialog', { name: 'Change a password' });
  await typeInto(page, change.getByLabel('Present password'), OLD);
  await typeInto(page, change.getByLabel('New password'), NEW);
  await typeInto(page, change.getByLabel('The same again'), NEW);
  await page.keyboard.press('Enter');
  await page.getByText('Changed a password of birds').waitFor();
  await keys.getByRole('list', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });

  await press(page, page.getByRole('button', { name: 'Retention... of birds' }));
  const rules = page.getByRole('dialog', { name: 'Retention of birds' });
  await typeInto(page, rules.getByLabel('Newest commits'), '1');
  await typeInto(page, rules.getByLabel('Tags to keep'), 'p*');
  await typeInto(page, rules.getByLabel('Tags to forget (optional)'), 'draft-* paper');
  await rules.getByText('Would forget 1 commit and keep 2. Would remove the tag draft-1.').waitFor();
  await press(page, rules.getByRole('button', { name: 'Forget 1 commit and 1 tag...' }));
  const sure = page.getByRole('dialog', { name: 'Forget 1 commit and 1 tag of birds?' });
  await press(page, sure.getByRole('button', { name: 'Forget 1 commit and 1 tag' }));
  await page.getByText('Forgot 1 commit and 1 tag of birds').waitFor();
  await sure.waitFor({ state: 'detached' });
  await collectNow(page, 'birds');

  await expect(dray(OLD, 'log')).resolves.not.toMatchObject({ exitCode: 0 });
  await expect(dray(NEW, 'verify', '--read-data')).resolves.toMatchObject({ exitCode: 0 });
  expect((await dray(NEW, 'tag')).stdout).toMatch(/^paper\b/m);
}

/** The command makes the workspace, with two tags and three commits. */
async function makeBirds({ folder, page }: OpenWindow) {
  const root = join(folder, 'home', 'birds');
  mkdirSync(root);
  const dray = (password: string, ...words: string[]) =>
    runCli(words, { cwd: root, environment: { HOME: join(folder, 'home'), DRAY_PASSWORD: password } });
  await dray(OLD, 'init', '--encrypt', '--remote', join(folder, 'birds-versions'), '-q');
  for (const tag of ['draft-1', 'paper', undefined]) {
    writeFileSync(join(root, 'list.txt'), `${tag}\n`);
    expect(await dray(OLD, 'push', '-m', `version ${tag ?? 'last'}`, '-q')).toMatchObject({ exitCode: 0 });
    if (tag !== undefined) await dray(OLD, 'tag', tag);
  }
  await askEngine(page, 'home.addWorkspace', { root });
  await page.reload();
  return dray;
}
