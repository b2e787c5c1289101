/** Versions by the keyboard: branches and tags change, versions come back, and objects are shown. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { OpenWindow } from '../open-window.ts';
import { rowOf } from '../window-workspace.ts';
import {
  chooseByName,
  chooseInMenu,
  command,
  findRef,
  press,
  pressUntil,
  tabTo,
  undo,
} from './press-keys.ts';

const WAIT = { timeout: 120_000, interval: 100 };

/** The dialog in front. A popover is one as well, but has no heading. */
const dialogOf = (page: Page) => page.getByRole('dialog').filter({ has: page.getByRole('heading') });

/**
 * The command pushes the commits `Spring` and `Autumn`, which has no `draft.txt`. Both have the tag of their
 * name in small letters, and `Autumn` the branch `side`.
 */
export async function pushTwoSeasons({ folder }: OpenWindow, root: string): Promise<void> {
  const environment = { HOME: join(folder, 'home'), DRAY_AUTHOR: 'tester' };
  const dray = async (...parameters: string[]) =>
    expect(await runCli(parameters, { cwd: root, environment })).toMatchObject({ exitCode: 0 });
  for (const season of ['Spring', 'Autumn']) {
    writeFileSync(join(root, 'notes.txt'), `of ${season}`);
    if (season === 'Autumn') rmSync(join(root, 'draft.txt'));
    await dray('push', '--message', season);
    await dray('tag', season.toLowerCase());
  }
  await dray('branch', 'side');
}

/** The branch `side` and the tag `autumn` are renamed, then moved to `Spring`. Undo moves them back. */
export async function renameAndMove({ folder, page }: OpenWindow): Promise<void> {
  const dialog = dialogOf(page);
  const refAt = (path: string): { readonly commit: string; readonly state?: string } =>
    JSON.parse(readFileSync(join(folder, 'versions', 'refs', path), 'utf8'));
  const commitAt = (path: string): string => refAt(path).commit;
  const [spring, autumn] = [commitAt('tags/spring'), commitAt('tags/autumn')];
  for (const { kind, name, to, path } of [
    { kind: 'branch', name: 'side', to: 'shore', path: 'heads' },
    { kind: 'tag', name: 'autumn', to: 'harvest', path: 'tags' },
  ]) {
    await findRef(page, `${kind} ${name}`);
    await chooseInMenu(page, `Rename the ${kind} ${name}...`);
    await tabTo(page, dialog.getByLabel(`Name of the ${kind}`));
    await page.keyboard.press('Control+a');
    await page.keyboard.type(to);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // A ref that was removed stays in the store and says so.
    expect([refAt(`${path}/${name}`).state, commitAt(`${path}/${to}`)]).toEqual(['removed', autumn]);
    await findRef(page, `${kind} ${to}`);
    await chooseInMenu(page, `Move the ${kind} ${to}...`);
    await press(page, dialog.getByRole('button', { name: /^Move it to/ }));
    await chooseVersion(page, 'Spring');
    await press(page, dialog.getByRole('button', { name: 'Move', exact: true }));
    await dialog.waitFor({ state: 'detached' });
    expect(commitAt(`${path}/${to}`)).toBe(spring);
    await undo(page, new RegExp(`^The ${kind} ${to} is at`));
    await expect.poll(() => commitAt(`${path}/${to}`), WAIT).toBe(autumn);
  }
}

/** Two tags are chosen by their names. */
export async function compareSeasons({ page }: OpenWindow): Promise<void> {
  await command(page, 'Compare two versions');
  const ends = page.getByRole('region', { name: 'Comparison' });
  for (const [label, name] of [
    ['A, before', 'spring'],
    ['B, after', 'autumn'],
  ] as const) {
    await press(page, ends.getByRole('button', { name: label }));
    await chooseVersion(page, name);
  }
  await ends.getByRole('heading', { name: 'From spring to autumn' }).waitFor();
  const rows = ends.getByRole('grid', { name: 'Differences' }).getByRole('row');
  await expect
    .poll(() => rows.allTextContents(), WAIT)
    .toEqual([expect.stringContaining('draft.txt'), expect.stringContaining('notes.txt')]);
  await press(page, ends.getByRole('button', { name: 'End the comparison' }));
  await ends.waitFor({ state: 'detached' });
}

/** The list of versions is open, with the focus in its search. */
async function chooseVersion(page: Page, subject: string): Promise<void> {
  await page.getByRole('option', { name: subject, exact: true }).waitFor();
  await tabTo(page, page.getByRole('searchbox', { name: 'Find a branch, a tag or a commit' }));
  await page.keyboard.type(subject);
  await page.getByRole('option', { name: 'main', exact: true }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
}

/** The whole version comes back over a change that was never pushed. Undo brings that change back. */
export async function restoreVersion({ page }: OpenWindow, root: string): Promise<void> {
  const [notes, draft] = [join(root, 'notes.txt'), join(root, 'draft.txt')];
  writeFileSync(notes, 'never pushed');
  await command(page, 'History');
  const commits = page.getByRole('grid', { name: 'Commits' });
  await tabTo(page, commits.getByRole('row').first());
  await pressUntil(page, 'ArrowDown', commits.getByRole('row', { name: 'Spring' }));
  await chooseInMenu(page, 'Restore this whole version...');
  const dialog = dialogOf(page);
  await dialog.getByText('1 file changed here since the last push').waitFor();
  await press(page, dialog.getByRole('button', { name: 'Replace and restore' }));
  await expect.poll(() => existsSync(draft) && readFileSync(notes, 'utf8'), WAIT).toBe('of Spring');
  await undo(page, '1 local file was overwritten');
  await expect.poll(() => readFileSync(notes, 'utf8'), WAIT).toBe('never pushed');
}

/** The menu of a file's row opens its history, which shows and restores an older version. */
export async function restoreOlder({ page }: OpenWindow, root: string): Promise<void> {
  await command(page, 'See what a push would do');
  await rowOf(page, 'notes.txt').waitFor();
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('End');
  await rowOf(page, 'notes.txt').and(page.locator('.change-row-active')).waitFor();
  await chooseInMenu(page, 'History of this file...');
  const history = page.getByRole('dialog', { name: 'History of notes.txt' });
  const row = history.getByRole('row', { name: 'Changed in Spring' });
  await tabTo(page, history.getByRole('row').first());
  await pressUntil(page, 'ArrowDown', row);
  await pressUntil(page, 'ArrowRight', row.getByRole('button', { name: 'Restore it from Spring' }));
  await page.keyboard.press('Enter');
  await press(page, dialogOf(page).getByRole('button', { name: 'Replace and restore' }));
  await expect.poll(() => readFileSync(join(root, 'notes.txt'), 'utf8'), WAIT).toBe('of Spring');
  await page.keyboard.press('Escape');
  await history.waitFor({ state: 'detached' });
}

/** A repository is shown by its branches, then by its objects. A deletion asks for its name first. */
export async function showObjects({ folder, page }: OpenWindow): Promise<void> {
  await command(page, 'Browse');
  const left = page.getByRole('region', { name: /^Left pane/ });
  await left.getByRole('row', { name: 'coast' }).waitFor();
  await tabTo(page, left.getByRole('grid'));
  await page.keyboard.press('Backspace');
  await left.getByRole('row', { name: 'versions' }).waitFor();
  await chooseByName(page, left, 'versions');
  await page.keyboard.press('Enter');
  const shown = left.getByRole('region', { name: 'Repository versions' });
  await shown.getByText('Autumn').first().waitFor();
  expect(await left.getByRole('row', { name: 'dray.json' }).count()).toBe(0);
  await press(page, shown.getByRole('button', { name: 'Show the stored objects' }));
  await left.getByText('These are the stored objects of the repository versions.').waitFor();
  // The button has gone, and the keyboard is in the list.
  await left.getByRole('grid').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('dray.json');
  await left.getByRole('row', { name: 'dray.json', selected: true }).waitFor();
  await page.keyboard.press('Delete');
  const dialog = dialogOf(page);
  await tabTo(page, dialog.getByRole('textbox'));
  await page.keyboard.type('dray.json');
  await press(page, dialog.getByRole('button', { name: 'Delete' }));
  const asked = page.getByRole('dialog', { name: 'versions is a Dray repository' });
  await press(page, asked.getByRole('button', { name: 'Cancel' }));
  await asked.waitFor({ state: 'detached' });
  expect(existsSync(join(folder, 'versions', 'dray.json'))).toBe(true);
}
