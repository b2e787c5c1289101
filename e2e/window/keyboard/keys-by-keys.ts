/** Remotes and their keys by the keyboard: imported from other programs, and typed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { S3Server } from '../../servers/versitygw.ts';
import { askEngine } from '../ask-engine.ts';
import { writeOtherPrograms } from '../data/other-programs.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import { chooseOption, command, press, typeInto } from './press-keys.ts';

/** From ~/.aws and rclone.conf. */
export async function importRemotes({ folder, page }: OpenWindow, server: S3Server): Promise<void> {
  const home = join(folder, 'home');
  writeOtherPrograms(home, server);
  await storeOne(home, server, 'kept');
  for (const [found, name] of [
    ['lab', 'from-aws'],
    ['my store', 'from-rclone'],
  ] as const) {
    await command(page, 'Remotes');
    await press(page, page.getByRole('button', { name: 'Import' }));
    await press(page, page.getByRole('button', { name: `Use ${found}` }));
    await fillPlace(page, { name, bucket: server.bucket, prefix: 'kept' });
    await addAndCount(page, name);
  }
}

/** Into the form of a remote, and then for a transfer that waits for them. */
export async function typeKeys({ folder, page }: OpenWindow, server: S3Server): Promise<void> {
  await storeOne(join(folder, 'home'), server, 'typed');
  await command(page, 'Add a remote');
  const form = await fillPlace(page, { name: 'bench', bucket: server.bucket, prefix: 'typed' });
  await typeInto(page, form.getByLabel('Endpoint (optional)'), server.endpoint);
  await chooseOption(page, form.getByRole('button', { name: /Keys/ }), 'An access key');
  await typePair(page, form, server);
  await addAndCount(page, 'bench');

  const source = join(folder, 'waiting');
  mkdirSync(source);
  writeFileSync(join(source, 'a.txt'), 'waited');
  const destination = `s3://${server.bucket}/waiting?endpoint=${server.endpoint}&profile=gone`;
  await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
  await command(page, 'Transfers');
  const row = page.getByRole('row').filter({ hasText: 'Needs the keys of “gone”' });
  await press(page, row.getByRole('button', { name: 'Enter the keys' }));
  const asked = page.getByRole('dialog', { name: 'Keys of gone' });
  await typePair(page, asked, server);
  await press(page, asked.getByRole('button', { name: 'Use these keys' }));
  await row.waitFor({ state: 'detached' });
  await expect
    .poll(() => readFileSync(join(server.dataFolder, server.bucket, 'waiting', 'a.txt'), 'utf8'), WAIT)
    .toBe('waited');
}

/** Puts one file below the prefix of the store's bucket. */
async function storeOne(home: string, server: S3Server, prefix: string): Promise<void> {
  writeFileSync(join(home, 'one.txt'), 'one');
  const { environment } = server;
  const place = `s3://${server.bucket}/${prefix}/one.txt`;
  expect(await runCli(['copy', 'one.txt', place], { cwd: home, environment })).toMatchObject({ exitCode: 0 });
}

/** In the form of a new remote, which is open. */
async function fillPlace(
  page: Page,
  { bucket, name, prefix }: Readonly<Record<'bucket' | 'name' | 'prefix', string>>,
): Promise<Locator> {
  const form = page.getByRole('dialog', { name: 'Add a remote' });
  await typeInto(page, form.getByLabel('Name'), name);
  await typeInto(page, form.getByLabel('Bucket'), bucket);
  await typeInto(page, form.getByLabel('Folder in it (optional)'), prefix);
  return form;
}

async function typePair(page: Page, dialog: Locator, server: S3Server): Promise<void> {
  await typeInto(page, dialog.getByRole('textbox', { name: 'Access key' }), server.accessKeyId);
  await typeInto(page, dialog.getByLabel('Secret key', { exact: true }), server.secretAccessKey);
}

/** Tests the remote of the form, adds it, and counts its contents with its keys. */
async function addAndCount(page: Page, name: string): Promise<void> {
  const form = page.getByRole('dialog', { name: 'Add a remote' });
  await press(page, form.getByRole('button', { name: 'Test', exact: true }));
  await form.getByRole('status').filter({ hasText: 'supports everything that Dray needs' }).waitFor();
  await press(page, form.getByRole('button', { name: 'Add', exact: true }));
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
  await press(page, card.getByRole('button', { name: 'Count its contents' }));
  await card.getByText('1 object').waitFor();
}
