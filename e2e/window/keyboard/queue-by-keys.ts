/**
 * The queue of transfers by the keyboard: its order, a retry, an unfinished clone, the requests of a transfer
 * that stands still. And trust in a folder of another user.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isObject, isUpload } from '../../servers/request-gate.ts';
import { askEngine } from '../ask-engine.ts';
import { giveWorkspace, makeSharedWorkspace, SOMEBODY, userSettingsOf } from '../data/foreign-workspace.ts';
import { startHeldCopy } from '../data/held-copy.ts';
import { pushScans } from '../data/scans-in-store.ts';
import type { SlowStore } from '../data/slow-store.ts';
import type { OpenWindow } from '../open-window.ts';
import { rowOf, stateOf, WAIT, writeLarge } from '../page/transfer-rows.ts';
import { stopJob } from './jobs-by-keys.ts';
import { command, holdsFocus, press, pressUntil, tabTo } from './press-keys.ts';

/** The window connects to this store. */
export function queueTasks(store: SlowStore): readonly ((window: OpenWindow) => Promise<void>)[] {
  return [reorder, retryFailed, continueClone, readRequests, stopJob].map(
    (task) => (window) => task(window, store),
  );
}

/** Two transfers run, and two wait. One that waits is moved up, and then down again by its grip. */
async function reorder({ folder, page }: OpenWindow, store: SlowStore): Promise<void> {
  await command(page, 'Transfers');
  store.gate.hold(isUpload);
  for (const name of ['one', 'two', 'three', 'four']) {
    const destination = `s3://${store.server.bucket}/${name}/`;
    const { source } = writeLarge(folder, name, 1_000);
    await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
  }
  const queue = page.getByRole('grid', { name: 'Queue' });
  const order = async () =>
    (await queue.locator('.transfer-title').allTextContents()).map((title) => title.split(' ')[1]);
  await expect.poll(order, WAIT).toEqual(['one', 'two', 'three', 'four']);
  await expect.poll(stateOf(rowOf(page, 'Copy two')), WAIT).toBe('Uploading');
  await tabTo(page, queue.getByRole('row', { name: 'Copy one' }));
  await pressUntil(page, 'ArrowDown', queue.getByRole('row', { name: 'Copy four' }));
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(order, WAIT).toEqual(['one', 'two', 'four', 'three']);

  await press(page, page.getByRole('button', { name: 'Move Copy four in the queue' }));
  await pressUntil(page, 'ArrowDown', page.getByRole('button', { name: 'Insert after Copy three' }));
  await page.keyboard.press('Enter');
  await expect.poll(order, WAIT).toEqual(['one', 'two', 'three', 'four']);

  // The row that moved has the focus.
  await pressUntil(page, 'ArrowUp', queue.getByRole('row', { name: 'Copy one' }));
  await press(page, page.getByRole('button', { name: 'Cancel Copy one' }));
  await expect.poll(stateOf(rowOf(page, 'Copy three')), WAIT).toBe('Uploading');
  await expect.poll(stateOf(rowOf(page, 'Copy four')), WAIT).toBe('Waiting');
  store.gate.release();
  for (const name of ['two', 'three', 'four'])
    await expect.poll(stateOf(rowOf(page, `Copy ${name}`)), WAIT).toBe('Done');
  // The keyboard went along with a transfer that ended.
  await expect.poll(holdsFocus(page.getByRole('list', { name: 'Ended transfers' })), WAIT).toBe(true);
}

/** The bucket of the copy is made after it has failed. */
async function retryFailed({ folder, page }: OpenWindow, store: SlowStore): Promise<void> {
  await command(page, 'Transfers');
  // Its body arrives with its head. The server answers a larger one unread, and may then break off.
  const { bytes, source } = writeLarge(folder, 'retried', 1_000);
  const destination = 's3://made-later/retried/';
  await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
  const row = rowOf(page, 'Copy retried');
  await expect.poll(stateOf(row), WAIT).toBe('Failed');
  await store.server.createBucket('made-later');
  await press(page, row.getByRole('button', { name: 'Retry', exact: true }));
  await expect.poll(stateOf(row), WAIT).toBe('Done');
  await expect.poll(holdsFocus(row), WAIT).toBe(true);
  expect(await askEngine(page, 'browse.size', { place: destination })).toMatchObject({ bytes: bytes.length });
}

/** A clone that was paused after its first files continues on Home. */
async function continueClone({ folder, page }: OpenWindow, store: SlowStore): Promise<void> {
  const contents = await pushScans(store);
  const root = join(folder, 'scans');
  mkdirSync(root);
  store.gate.hold(isObject, 2);
  const url = `s3://${store.server.bucket}/scans`;
  await askEngine(page, 'transfers.start', { kind: 'clone', url, root });
  const arrived = () => [...contents.keys()].filter((path) => existsSync(join(root, path))).length;
  await expect.poll(arrived, WAIT).toBeGreaterThan(0);
  await command(page, 'Transfers');
  await press(page, page.getByRole('button', { name: 'Pause Clone scans' }));
  await expect.poll(stateOf(rowOf(page, 'Clone scans')), WAIT).toBe('Paused');
  expect(arrived()).toBeLessThan(contents.size);
  store.gate.release();
  await command(page, 'Home');
  const card = page.getByRole('article', { name: 'scans' });
  await press(page, card.getByRole('button', { name: 'Continue' }));
  await card.getByText('No changes').waitFor();
  await expect.poll(holdsFocus(card), WAIT).toBe(true);
  for (const [path, bytes] of contents) expect(readFileSync(join(root, path)).equals(bytes)).toBe(true);
}

/** A copy whose second part gets no answer says so, and its log names that request. */
async function readRequests(window: OpenWindow, store: SlowStore): Promise<void> {
  const { page } = window;
  await command(page, 'Transfers');
  const { bytes, row } = await startHeldCopy(store, window, 'still');
  await expect.poll(() => row.textContent(), WAIT).toMatch(/No byte has moved for \d+/);
  await press(page, row.getByRole('button', { name: 'Show the requests' }));
  const log = row.getByRole('list', { name: 'Last requests' });
  await tabTo(page, log);
  await log
    .getByText(/PUT PART large\.bin: no answer yet/)
    .first()
    .waitFor();
  store.gate.release();
  await expect.poll(stateOf(row), WAIT).toBe('Done');
  expect(store.read('still/large.bin').equals(bytes)).toBe(true);
}

/** Only root can give the folder to another user. */
export async function trustFolder(window: OpenWindow): Promise<void> {
  const { folder, page } = window;
  const root = join(folder, 'shared');
  await makeSharedWorkspace(root);
  await askEngine(page, 'home.addWorkspace', { root });
  giveWorkspace(root, SOMEBODY);
  await command(page, 'Home');
  const card = page.getByRole('article', { name: 'shared' });
  await card.getByText(`belongs to another user (number ${SOMEBODY})`).waitFor();
  await press(page, card.getByRole('button', { name: 'Trust this folder…' }));
  const dialog = page.getByRole('dialog', { name: 'Trust this folder?' });
  await dialog.getByText('which remotes a push sends your files to').waitFor();
  expect(userSettingsOf(window)).toBeUndefined();
  await press(page, dialog.getByRole('button', { name: 'Trust this folder' }));
  await card.getByText('No changes').waitFor();
  await expect.poll(holdsFocus(card), WAIT).toBe(true);
  expect(userSettingsOf(window)).toEqual({ 'safe.directory': [root] });
}
