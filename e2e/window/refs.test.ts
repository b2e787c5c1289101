/** Branches and tags: made, renamed, moved, deleted, switched and compared, by mouse and by keys. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { NOTES, startHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { holdRequests } from './hold-request.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('Branches and tags', () => {
  const repository = startHistoryRepository();

  longIt(
    'makes a tag at a commit by the right button, renames, moves and deletes it, and undoes that',
    async () => {
      await using window = await repository.open();
      const { complaints, page } = window;
      await commit(page, 'second').click({ button: 'right' });
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await page.getByRole('menuitem', { name: 'New tag here...' }).click();
      await dialog(page).getByLabel('Name of the tag').fill('a b');
      await dialog(page).getByRole('button', { name: 'Make the tag' }).click();
      await dialog(page)
        .getByText(/cannot name a branch or a tag/)
        .waitFor();
      await dialog(page).getByLabel('Name of the tag').fill('v2');
      await page.keyboard.press('Enter');
      await dialog(page).waitFor({ state: 'detached' });
      await expect.poll(() => badges(page, 'second'), WAIT).toEqual(['Tag v2']);

      // By the Menu key on the row.
      await commit(page, 'second').click();
      await page.keyboard.press('ContextMenu');
      await page.getByRole('menuitem', { name: 'Rename the tag v2...' }).click();
      await dialog(page).getByLabel('Name of the tag').fill('v2.0');
      await dialog(page).getByRole('button', { name: 'Rename' }).click();
      await expect.poll(() => badges(page, 'second'), WAIT).toEqual(['Tag v2.0']);

      await commit(page, 'second').getByText('v2.0').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Move the tag v2.0...' }).click();
      await choose(page, 'Move it to', 'first');
      await dialog(page).getByRole('button', { name: 'Move', exact: true }).click();
      await expect.poll(() => badges(page, 'first'), WAIT).toContain('Tag v2.0');

      await commit(page, 'first').getByText('v2.0').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Delete the tag v2.0...' }).click();
      await dialog(page).getByText('Other branches and tags contain all of its commits.').waitFor();
      await dialog(page).getByRole('button', { name: 'Delete the tag' }).click();
      await expect.poll(() => badges(page, 'first'), WAIT).toEqual(['Tag v1']);
      await undo(page, 'The tag v2.0 was deleted');
      await expect.poll(() => badges(page, 'first'), WAIT).toEqual(['Tag v1', 'Tag v2.0']);
      expect(complaints.filter((text) => !text.includes('status of 4'))).toEqual([]);
    },
  );

  longIt(
    'counts the commits in no other branch before a deletion, and Undo restores the branch',
    async () => {
      await using window = await repository.open();
      const { page } = window;
      await page.getByRole('button', { name: 'Branch main' }).click();
      const refs = page.getByRole('grid', { name: 'Branches and tags' });
      await refs.getByRole('row', { name: /branch side/ }).waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await page.getByRole('button', { name: 'More of side' }).click();
      await page.getByRole('menuitem', { name: 'Delete the branch side...' }).click();
      await dialog(page).getByText('1 commit is in no other branch or tag').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await dialog(page).getByRole('button', { name: 'Delete the branch' }).click();
      await expect.poll(() => commit(page, 'on the side').count(), WAIT).toBe(0);
      await undo(page, 'The branch side was deleted');
      await expect.poll(() => badges(page, 'on the side'), WAIT).toEqual(['Branch side']);

      // The branch of this folder is not deleted.
      await commit(page, 'Merge: ours').click({ button: 'right' });
      const item = page.getByRole('menuitem', { name: /Delete the branch main/ });
      expect(await item.getAttribute('aria-disabled')).toBe('true');
    },
  );

  it('switches to a branch as a transfer, from Home and by the palette, and refuses to overwrite', async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'first').waitFor();
    await page.goto(`${window.origin}/#/home`);
    await page.getByRole('button', { name: 'Branch main' }).click();
    await page.getByRole('row', { name: /branch side/ }).click();
    await dialog(page)
      .getByText(/^In your folder: /)
      .waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Switch', exact: true }).click();
    await expect.poll(() => existsSync(join(root, 'side.txt')), WAIT).toBe(true);
    await page.getByRole('button', { name: 'Branch side' }).waitFor();

    writeFileSync(join(root, 'notes.md'), 'not pushed');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('switch to another');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /branch main/ }).click();
    await dialog(page)
      .getByText(/1 path changed here since the last push/)
      .waitFor();
    expect(await dialog(page).getByRole('listitem').allTextContents()).toEqual(['notes.md']);
    await dialog(page).getByRole('button', { name: 'Open Changes' }).click();
    await page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Branch side' }).waitFor();

    // The whole version comes back, with the warning that it costs the change.
    await page.goto(`${window.origin}/#/history`);
    await commit(page, 'first').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Restore this whole version...' }).click();
    await dialog(page)
      .getByText(/1 file changed here since the last push/)
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Replace and restore' }).click();
    await expect.poll(() => readFileSync(join(root, 'notes.md'), 'utf8'), WAIT).toBe(NOTES.first);
    expect(existsSync(join(root, 'side.txt'))).toBe(true);
    await page.getByRole('button', { name: 'Branch side' }).click();
    await page.getByRole('row', { name: /branch main/ }).click();
    await dialog(page).getByRole('button', { name: 'Switch', exact: true }).click();
    await page.getByRole('button', { name: 'Branch main' }).waitFor();
  });

  longIt('compares any two versions by two labelled choices, over a reload too', async () => {
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'first').waitFor();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await choose(page, 'A, before', 'v1');
    await choose(page, 'B, after', 'side');
    await page.getByRole('heading', { name: 'From v1 to side' }).waitFor();
    const differences = page.getByRole('grid', { name: 'Differences' }).getByRole('row');
    await expect
      .poll(() => differences.allTextContents(), WAIT)
      .toEqual([expect.stringContaining('side.txt')]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Swap A and B' }).click();
    await page.getByRole('heading', { name: 'From side to v1' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'From side to v1' }).waitFor();
    await page.getByRole('button', { name: 'End the comparison' }).click();

    await commit(page, 'second').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Compare with...' }).click();
    await page.getByRole('heading', { name: /^From \w{10} to the commit of this folder$/ }).waitFor();
  });

  longIt('waits for the list of commits before it takes a typed subject', async () => {
    await using window = await repository.open();
    const { page } = window;
    const held = await holdRequests(page);
    await page.goto('about:blank');
    await page.goto(`${window.origin}/#/settings`);
    await page.getByRole('radio', { name: 'Compact' }).waitFor();
    held.hold('history.list');
    await page.goto(`${window.origin}/#/history?do=branch`);
    await dialog(page).getByLabel('Name of the branch').fill('typed');
    const picker = page.getByRole('button', { name: /^At/ });
    await picker.click();
    await page.keyboard.type('SECOND');
    await page.getByRole('option', { name: 'SECOND' }).waitFor();
    await page.keyboard.press('Enter');
    held.release();
    await picker.and(page.getByRole('button', { name: /^At [0-9a-f]{10}$/ })).waitFor();
    await dialog(page).getByRole('button', { name: 'Make the branch' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await expect.poll(() => badges(page, 'second'), WAIT).toContain('Branch typed');
    await undo(page, 'Created the branch typed');
    await expect.poll(() => badges(page, 'second'), WAIT).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'lists the files of the first commit as added, and shows short hashes with the whole one to copy',
    async () => {
      await using window = await repository.open();
      const { context, page } = window;
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: window.origin });
      await commit(page, 'first').click();
      const rows = page.getByRole('grid', { name: 'Differences' }).getByRole('row');
      await expect.poll(() => rows.count(), WAIT).toBe(5);
      expect(await rows.allTextContents()).toContainEqual(expect.stringContaining('Addedcoast.png'));
      await rows.getByRole('button', { name: 'Preview notes.md' }).click();
      await dialog(page).getByText('Another.').waitFor();
      await page.keyboard.press('Escape');
      expect(await page.locator('main').innerText()).not.toMatch(/[0-9a-f]{64}/);
      await page.getByRole('button', { name: 'Copy the whole hash' }).click();
      await page.getByText('Copied the hash').waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  it('merges a branch by its menu, and the next push records that', async () => {
    const { root, server } = repository;
    await using window = await repository.open();
    const { page } = window;
    await page.getByRole('button', { name: 'Branch main' }).click();
    await page.getByRole('button', { name: 'More of side' }).click();
    await page.getByRole('menuitem', { name: 'Merge side...' }).click();
    await dialog(page)
      .getByText(/^In your folder: 1 added/)
      .waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Merge', exact: true }).click();
    await expect.poll(() => existsSync(join(root, 'side.txt')), WAIT).toBe(true);
    await expect
      .poll(() => readFileSync(join(root, '.dray/state.json'), 'utf8'), WAIT)
      .not.toContain('isUnfinished');
    const { environment } = server;
    const pushed = await runCli(['push'], { cwd: root, environment });
    expect(pushed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('It records the merge of') });
    await page.getByRole('button', { name: 'Branch main' }).click();
    await page.getByRole('button', { name: 'More of side' }).click();
    await page.getByRole('menuitem', { name: 'Merge side...' }).click();
    await dialog(page).getByText('Your branch has all of side already.').waitFor();
  });

  it('reverts a commit, with a side for each conflict, and takes that back before it is pushed', async () => {
    const { root, server } = repository;
    const run = (...words: string[]) => runCli(words, { cwd: root, environment: server.environment });
    for (const name of ['x.txt', 'y.txt', 'z.txt']) writeFileSync(join(root, name), 'bad');
    expect(await run('push', '-m', 'bad labels')).toMatchObject({ exitCode: 0 });
    for (const name of ['x.txt', 'y.txt']) writeFileSync(join(root, name), 'mine');
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'bad labels').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Revert this commit...' }).click();
    await dialog(page)
      .getByText(/^2 paths changed here since/)
      .waitFor();
    const confirm = dialog(page).getByRole('button', { name: 'Revert', exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog(page).getByRole('radio', { name: 'Keep mine' }).click();
    await dialog(page)
      .getByRole('button', { name: /Which version of y.txt stays/ })
      .click();
    await page.getByRole('option', { name: 'Take the older one' }).click();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await confirm.click();
    await expect.poll(() => existsSync(join(root, 'z.txt')), WAIT).toBe(false);
    const notice = page.locator('.notice').filter({ hasText: 'Your next push records the revert' });
    await page.getByRole('button', { name: 'Branch main reverting' }).waitFor();
    expect(existsSync(join(root, 'y.txt'))).toBe(false);
    expect(readFileSync(join(root, 'x.txt'), 'utf8')).toBe('mine');
    await page.goto(`${window.origin}/#/changes`);
    await notice.getByRole('button', { name: 'Take it back' }).click();
    await dialog(page).getByRole('button', { name: 'Take it back' }).click();
    await notice.waitFor({ state: 'detached' });
    expect(readFileSync(join(root, 'z.txt'), 'utf8')).toBe('bad');
  });

  it('says that a folder shows another version, and goes back to its branch', async () => {
    const { root, server } = repository;
    const { environment } = server;
    expect(await runCli(['pull', 'v1', '--theirs'], { cwd: root, environment })).toMatchObject({
      exitCode: 0,
    });
    await using window = await repository.open();
    const { page } = window;
    await page.getByRole('button', { name: 'Branch main at v1' }).waitFor();
    await page.goto(`${window.origin}/#/changes`);
    await page.getByText('This folder shows v1, and not the newest version of main.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Back to main' }).click();
    await dialog(page).getByRole('button', { name: 'Switch' }).click();
    await page.getByRole('button', { name: 'Branch main', exact: true }).waitFor();
    expect(existsSync(join(root, 'side.txt'))).toBe(true);
  });
});

function commit(page: Page, subject: string): Locator {
  const list = page.getByRole('grid', { name: 'Commits' });
  return list.getByRole('row', { name: subject, exact: true });
}

/** The names at a commit, with their kinds. */
async function badges(page: Page, subject: string): Promise<readonly string[]> {
  const texts = await commit(page, subject).locator('.ref').allTextContents();
  return texts.map((text) => text.trim());
}

function dialog(page: Page): Locator {
  return page.getByRole('dialog').filter({ has: page.getByRole('heading') });
}

/** Chooses a version in a labelled picker. */
async function choose(page: Page, label: string, version: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${label}`) }).click();
  await page.getByRole('option', { name: version, exact: true }).click();
}

async function undo(page: Page, message: string): Promise<void> {
  const toast = page.getByRole('alertdialog').filter({ hasText: message });
  await toast.getByRole('button', { name: 'Undo' }).click();
}
