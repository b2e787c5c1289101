/**
 * A folder of thousands of objects by the keyboard: its reading stops and continues, its rows are ordered,
 * and all that a filter shows is copied, then deleted.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { writeUserRemotes } from '../../../engine/jobs/session/user-remotes.ts';
import type { Counted, RequestGate } from '../../servers/request-gate.ts';
import type { S3Server } from '../../servers/versitygw.ts';
import type { OpenWindow } from '../open-window.ts';
import { chosenIn } from '../page/browse-panes.ts';
import { stateOf, WAIT } from '../page/transfer-rows.ts';
import { orderBySize } from './panes-by-keys.ts';
import { command, holdsFocus, press, tabTo } from './press-keys.ts';

/** "Choose all" names no more than 2,000 rows. One request lists 1,000 objects. */
const ROWS = 2_050;
const KEPT = ['keep-0.txt', 'keep-1.txt', 'keep-2.txt'];

export interface GatedStore {
  readonly server: S3Server;
  /** The window connects through it. */
  readonly gate: RequestGate;
}

const isFurtherPage: Counted = ({ url }) => url.searchParams.has('continuation-token');
const rightOf = (page: Page) => page.getByRole('region', { name: 'Right pane, huge:' });

export async function workInHugeFolder(window: OpenWindow, { gate, server }: GatedStore): Promise<void> {
  const { folder, page } = window;
  const objects = join(server.dataFolder, server.bucket, 'huge');
  mkdirSync(objects);
  for (const name of KEPT) writeFileSync(join(objects, name), 'kept');
  for (let at = 0; at < ROWS; at += 1) writeFileSync(join(objects, nameAt(at)), 'x'.repeat(sizeAt(at)));
  const environment = { XDG_CONFIG_HOME: join(folder, 'home', '.config') };
  writeUserRemotes({ environment }, { huge: { url: `s3://${server.bucket}/huge` } });
  gate.hold(isFurtherPage);
  await command(page, 'Browse');
  await readInParts(page, gate);
  await copyFiltered(window);
  await deleteFiltered(page, objects);
}

function nameAt(index: number): string {
  return `row-${String(index).padStart(4, '0')}.txt`;
}

/** One object of each thousand is large. */
function sizeAt(index: number): number {
  return index % 1_000 === 500 ? index : 1;
}

/** The first page is ordered by size while the others wait, and then all are. */
async function readInParts(page: Page, gate: RequestGate): Promise<void> {
  const pane = rightOf(page);
  const list = pane.getByRole('grid');
  const stop = pane.getByRole('button', { name: 'Stop reading' });
  const chooseFirst = async (name: string) => {
    await pane.getByRole('row', { name }).waitFor();
    await tabTo(page, list);
    await page.keyboard.press('Home');
    await expect.poll(() => chosenIn(pane), WAIT).toEqual([name]);
    await page.keyboard.press('Escape');
  };
  await pane.getByText('1,000 entries so far, reading').waitFor();
  await press(page, stop);
  await pane.getByText('1,000 entries so far; more are not read yet').waitFor();
  // Each of these buttons goes, and the keyboard is in the list.
  await list.and(page.locator(':focus')).waitFor();
  await orderBySize(page, pane);
  await chooseFirst(nameAt(500));
  await press(page, pane.getByRole('button', { name: 'Read all' }));
  await pane.getByText('1,000 entries so far, reading').waitFor();
  await list.and(page.locator(':focus')).waitFor();
  await tabTo(page, stop);
  gate.release();
  await pane.getByText('2,053 entries', { exact: true }).waitFor();
  await list.and(page.locator(':focus')).waitFor();
  await chooseFirst(nameAt(1_500));
}

async function copyFiltered({ folder, page }: OpenWindow): Promise<void> {
  const home = join(folder, 'home');
  await chooseFiltered(page);
  await press(page, page.getByRole('button', { name: 'Copy to the left' }));
  await command(page, 'Transfers');
  const transfer = page.locator('.transfer', { hasText: 'Copy entries with "row-" in their names' });
  await expect.poll(stateOf(transfer), WAIT).toBe('Done');
  const copied = readdirSync(home).filter((name) => name.endsWith('.txt'));
  expect(copied.toSorted()).toEqual(Array.from({ length: ROWS }, (_, at) => nameAt(at)));
  expect(readFileSync(join(home, nameAt(1_500)), 'utf8')).toBe('x'.repeat(1_500));
}

async function deleteFiltered(page: Page, objects: string): Promise<void> {
  const pane = rightOf(page);
  await command(page, 'Browse');
  await pane.getByText('2,053 entries', { exact: true }).waitFor();
  await chooseFiltered(page);
  await press(page, page.getByRole('button', { name: 'Delete', exact: true }));
  const dialog = page.getByRole('dialog', { name: 'Delete 2,050 entries' });
  await tabTo(page, dialog.getByRole('textbox'));
  await page.keyboard.type('delete');
  await press(page, dialog.getByRole('button', { name: 'Delete', exact: true }));
  await pane.getByText('0 of 3 entries', { exact: true }).waitFor();
  expect(readdirSync(objects).toSorted()).toEqual(KEPT);
  // The button of the deletion is disabled now.
  await expect.poll(holdsFocus(pane), WAIT).toBe(true);
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  for (const name of KEPT) await pane.getByRole('row', { name }).waitFor();
}

/** All that the filter shows. */
async function chooseFiltered(page: Page): Promise<void> {
  const pane = rightOf(page);
  const list = pane.getByRole('grid');
  await tabTo(page, list);
  await page.keyboard.press('/');
  await page.keyboard.type('row-');
  await list.and(page.locator(`[aria-rowcount="${ROWS}"]`)).waitFor();
  await tabTo(page, list);
  await page.keyboard.press('Control+a');
  await pane.getByText(/^2,050 of 2,050 chosen/).waitFor();
}
