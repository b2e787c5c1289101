/**
 * Versions by the keyboard: a tag is made, renamed and deleted; deletions are seen before a push. History is
 * narrowed to a branch and read further back, a folder is restored, and the history of a file is read on.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { testContext } from '../../../engine/jobs/session/job.fixture.ts';
import { commitMany } from '../data/many-commits.ts';
import { holdRequests } from '../hold-request.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import {
  chooseInMenu,
  chooseOption,
  command,
  findRef,
  holdsFocus,
  press,
  pressUntil,
  tabTo,
  undo,
} from './press-keys.ts';

/** More versions of a file than are read at once, and more commits than History lists at once. */
const COMMITS = 520;
/** Each contains its name. */
const DAYS = ['monday.txt', 'tuesday.txt'];

const commitsOf = (page: Page) => page.getByRole('grid', { name: 'Commits' });

export async function nameVersion({ page }: OpenWindow): Promise<void> {
  await command(page, 'Make a tag');
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('heading') });
  await tabTo(page, dialog.getByLabel('Name of the tag'));
  await page.keyboard.type('season');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await findRef(page, 'tag season');
  await chooseInMenu(page, 'Rename the tag season...');
  await tabTo(page, dialog.getByLabel('Name of the tag'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('first-year');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await findRef(page, 'tag first-year');
  await chooseInMenu(page, 'Delete the tag first-year...');
  await press(page, dialog.getByRole('button', { name: 'Delete the tag' }));
  await page.getByText('The tag first-year was deleted').waitFor();
  await undo(page, 'The tag first-year was deleted');
  await findRef(page, 'tag first-year');
  await page.keyboard.press('Escape');
}

/** The push waits until the person has seen what goes. */
export async function seeDeletions({ page }: OpenWindow, root: string): Promise<void> {
  rmSync(join(root, 'draft.txt'));
  await command(page, 'See what a push would do');
  await press(page, page.getByRole('button', { name: 'Refresh' }));
  await press(page, page.getByRole('button', { name: 'Show it' }));
  await tabTo(page, page.getByRole('checkbox', { name: 'I have seen the deletions' }));
  await page.keyboard.press('Space');
  await press(page, page.getByRole('button', { name: /^Push \d+ changes?$/ }));
  await page.getByText('Pushed as commit').waitFor();
}

/** The command pushes `Calm`, which has the branch `quiet` and a folder `days/`, and `Storm` without it. */
export async function pushDays({ folder }: OpenWindow, root: string): Promise<void> {
  const environment = { HOME: join(folder, 'home'), DRAY_AUTHOR: 'tester' };
  const dray = async (...parameters: string[]) =>
    expect(await runCli(parameters, { cwd: root, environment })).toMatchObject({ exitCode: 0 });
  const days = join(root, 'days');
  mkdirSync(days);
  for (const name of DAYS) writeFileSync(join(days, name), name);
  await dray('push', '--message', 'Calm');
  await dray('branch', 'quiet');
  rmSync(days, { recursive: true });
  await dray('push', '--message', 'Storm');
}

export async function filterHistory({ page }: OpenWindow): Promise<void> {
  await command(page, 'History');
  const subjects = () => commitsOf(page).locator('.commit-subject').allTextContents();
  const shown = page.getByRole('button', { name: /Branches shown/ });
  await expect.poll(subjects, WAIT).toEqual(['Storm', 'Calm', expect.any(String)]);
  await chooseOption(page, shown, 'quiet');
  await expect.poll(subjects, WAIT).toEqual(['Calm', expect.any(String)]);
  await expect.poll(holdsFocus(shown), WAIT).toBe(true);
  await chooseOption(page, shown, 'All branches');
  await expect.poll(subjects, WAIT).toHaveLength(3);
}

/** The folder is opened, left again, and restored as a whole. */
export async function restoreFolder({ page }: OpenWindow, root: string): Promise<void> {
  await tabTo(page, commitsOf(page).getByRole('row').first());
  await pressUntil(page, 'ArrowDown', commitsOf(page).getByRole('row', { name: 'Calm' }));
  const contents = await showContents(page);
  await chooseEntry(page, contents, 'days');
  await page.keyboard.press('Enter');
  const inside = page.getByRole('grid', { name: 'Contents of days/' });
  await inside.getByRole('row', { name: 'tuesday.txt' }).waitFor();
  // The row that was opened has gone, and the keyboard is in the folder.
  await expect.poll(holdsFocus(inside), WAIT).toBe(true);
  await press(page, page.getByRole('navigation', { name: 'Folder of the commit' }).getByText('Top'));
  await tabTo(page, contents);
  await chooseEntry(page, contents, 'days');
  await press(page, page.getByRole('button', { name: 'Restore...' }));
  const dialog = page.getByRole('dialog', { name: 'Restore days/' });
  await dialog.getByText(/^2 files \(\d+ B\) come back/).waitFor();
  await press(page, dialog.getByRole('button', { name: 'Restore', exact: true }));
  const read = () => DAYS.map((name) => readFileSync(join(root, 'days', name), 'utf8'));
  await expect.poll(read, WAIT).toEqual(DAYS);
}

/** Puts the focus on the entries of the chosen commit. */
export async function showContents(page: Page): Promise<Locator> {
  await tabTo(page, page.getByRole('tab', { name: 'Changes' }));
  await page.keyboard.press('ArrowRight');
  const contents = page.getByRole('grid', { name: 'Contents', exact: true });
  await tabTo(page, contents);
  return contents;
}

/** Chooses an entry by its name. The list has the focus. */
export async function chooseEntry(page: Page, contents: Locator, name: string): Promise<void> {
  await page.keyboard.type(name);
  await contents.getByRole('row', { name, selected: true }).waitFor();
}

/** The reading is stopped first. */
export async function readOn({ page }: OpenWindow, root: string): Promise<void> {
  await commitMany(testContext(root), COMMITS, (path) => path === 'notes.txt');
  await command(page, 'Changes');
  const held = await holdRequests(page);
  held.holdAnswers('history.ofPath');
  await command(page, 'History');
  await page.getByText('200 commits').waitFor();
  for (const count of [400, COMMITS + 3]) {
    await press(page, page.getByRole('button', { name: 'Show older commits' }));
    await page.getByText(`${count} commits`).waitFor();
    await expect.poll(holdsFocus(commitsOf(page)), WAIT).toBe(true);
  }
  const contents = await showContents(page);
  await chooseEntry(page, contents, 'notes.txt');
  await chooseInMenu(page, 'History of this file...');
  const dialog = page.getByRole('dialog', { name: 'History of notes.txt' });
  await dialog.getByText(/^500 commits so far\. 50\d commits read, .* Reading older commits\.$/).waitFor();
  await press(page, dialog.getByRole('button', { name: 'Stop' }));
  await dialog.getByText('There are older ones.').waitFor();
  // The button has gone, as the next one does, and the keyboard stays in the dialog.
  await expect.poll(holdsFocus(dialog), WAIT).toBe(true);
  held.release();
  await press(page, dialog.getByRole('button', { name: 'Read on' }));
  await dialog.getByText(`${COMMITS + 1} commits changed it.`).waitFor();
  await expect.poll(holdsFocus(dialog), WAIT).toBe(true);
  await press(page, dialog.getByRole('button', { name: 'Close' }).last());
  await dialog.waitFor({ state: 'detached' });
}
