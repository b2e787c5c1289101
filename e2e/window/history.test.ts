/**
 * History of a real repository on a real store: its graph, its differences, the contents of commits, and
 * files restored from them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { NOTES, PICTURES, startHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { PATIENCE_MS } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 100 };

describe.skipIf(!findChromium())('History', () => {
  const repository = startHistoryRepository();

  it('draws branches, a tag and a merge, and filters by branch', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    await commit(page, 'first').waitFor();
    const rows = commits(page).getByRole('row');
    const subjects = await rows.locator('.commit-subject').allTextContents();
    expect([subjects[0], ...subjects.slice(1, 3).toSorted(), ...subjects.slice(3)]).toEqual([
      'Merge: ours',
      'ours',
      'theirs',
      'on the side',
      'second',
      'first',
    ]);
    expect(await commit(page, 'Merge: ours').locator('.is-merge').count()).toBe(1);
    expect(await commit(page, 'Merge: ours').innerText()).toContain('main');
    expect(await commit(page, 'on the side').innerText()).toContain('side');
    expect(await commit(page, 'first').innerText()).toContain('v1');
    const lanes = await Promise.all(
      ['ours', 'theirs', 'on the side', 'second', 'first'].map((name) => lane(page, name)),
    );
    // Each branch has its own lane, and all end in the first one.
    expect(new Set(lanes.slice(0, 3)).size).toBe(3);
    expect(lanes.slice(3)).toEqual([lanes[1], lanes[1]]);
    await page.getByRole('button', { name: /Branches shown/ }).click();
    await page.getByRole('option', { name: 'side' }).click();
    await expect
      .poll(() => rows.locator('.commit-subject').allTextContents(), WAIT)
      .toEqual(['on the side', 'first']);
    expect(complaints).toEqual([]);
  });

  longIt('compares any two commits, and shows changes in a text and a picture', async () => {
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'second').click();
    const against = page.locator('.compare-head .select-button', {
      hasText: 'Compared with the previous commit',
    });
    const parts = against.locator('.select-value, .menu-item-label');
    await parts.first().waitFor();
    const isCut = (words: readonly Element[]) => words.some((one) => one.scrollWidth > one.clientWidth);
    expect(await parts.evaluateAll(isCut)).toBe(false);
    await expect
      .poll(() => differences(page), WAIT)
      .toEqual([
        'Changed coast.png',
        'Changed notes.md',
        'Deleted obsolete.bin',
        'Renamed reads/run-2.csv to reads/run-02.csv',
      ]);
    // Chooses two commits by keyboard: the newer one and the one two rows below it.
    await commit(page, 'on the side').click();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByRole('heading', { name: /^From \w{10} to \w{10}$/ }).waitFor();
    await expect.poll(() => differences(page), WAIT).toEqual(['Added side.txt']);

    await commit(page, 'second').click();
    await page.getByRole('button', { name: 'Preview notes.md' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A third.').waitFor();
    expect(await dialog.locator('.text-removed').allTextContents()).toEqual(['Another.']);
    expect(await dialog.locator('.text-added').allTextContents()).toEqual(['A third.']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Preview coast.png' }).click();
    await expect.poll(() => dialog.getByRole('img').count(), WAIT).toBe(2);
    const sources = await dialog
      .getByRole('img')
      .evaluateAll((images) => images.map((image) => image.getAttribute('src')));
    expect(sources).toEqual([PICTURES.red, PICTURES.blue].map((base64) => `data:image/png;base64,${base64}`));
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: /reads\/run-02.csv/ }).press('Enter');
    await dialog.getByText(/as reads\/run-2.csv/).waitFor();
  });

  it("lists a commit's files, and restores a file and a folder from it", async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'first').click();
    await page.getByRole('tab', { name: 'Contents' }).click();
    const contents = page.getByRole('grid', { name: /^Contents/ });
    const askToRestore = async (name: string) => {
      await contents.getByRole('row', { name }).click();
      await page.getByRole('button', { name: 'Restore...' }).click();
    };
    const year = String(new Date().getFullYear());
    expect(await contents.getByRole('row', { name: 'obsolete.bin' }).innerText()).toContain(year);
    await contents.getByRole('row', { name: 'reads' }).dblclick();
    await contents.getByRole('row', { name: 'run-2.csv' }).dblclick();
    await page.getByRole('dialog').getByRole('cell', { name: '20', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Restore this file' }).click();
    await restore(page, 'Restore');
    await expect.poll(() => existsSync(join(root, 'reads/run-2.csv')), WAIT).toBe(true);
    expect(readFileSync(join(root, 'reads/run-2.csv'), 'utf8')).toBe('run,value\n2,20\n');

    // Restoring over a pushed file loses nothing, so it needs no warning.
    await page.getByRole('button', { name: 'Top' }).click();
    await askToRestore('notes.md');
    await restore(page, 'Restore');
    await expect.poll(() => readFileSync(join(root, 'notes.md'), 'utf8'), WAIT).toBe(NOTES.first);

    // Restoring over a file that was never pushed needs the user's consent.
    writeFileSync(join(root, 'coast.png'), 'work of this morning');
    await askToRestore('coast.png');
    await page.getByRole('dialog').getByText('changed since the last push and will be replaced.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(readFileSync(join(root, 'coast.png'), 'utf8')).toBe('work of this morning');
    await askToRestore('coast.png');
    await restore(page, 'Replace and restore');
    await expect.poll(() => readFileSync(join(root, 'coast.png'), 'base64'), WAIT).toBe(PICTURES.red);

    await askToRestore('coast.png');
    await page.getByRole('dialog').getByText('Nothing to restore:').waitFor();
  });

  longIt('explains itself before the first push, and says when the store is away', async () => {
    const { emptyRoot } = repository;
    await using window = await repository.open({ root: emptyRoot });
    const { page } = window;
    await page.getByText('No commits yet').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const config = join(emptyRoot, '.dray/config.json');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, text.replaceAll(repository.server.bucket, 'no-such-bucket'));
    await page.reload();
    await page.getByRole('alert').getByText('Cannot read the history').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    writeFileSync(config, text);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No commits yet').waitFor();
  });

  longIt('has no accessibility violation by axe, in either theme', async () => {
    await using window = await repository.open();
    const { page } = window;
    await commit(page, 'second').click();
    await page.getByRole('grid', { name: 'Differences' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Preview notes.md' }).click();
    await page.getByRole('dialog').getByText('A third.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Contents' }).click();
    await page.getByRole('grid', { name: 'Contents' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });
});

function commits(page: Page): Locator {
  return page.getByRole('grid', { name: 'Commits' });
}

function commit(page: Page, subject: string): Locator {
  return commits(page).getByRole('row', { name: subject, exact: true });
}

/** The horizontal position of the commit's dot. */
function lane(page: Page, subject: string): Promise<string | null> {
  return commit(page, subject).locator('circle').getAttribute('cx');
}

function differences(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole('grid', { name: 'Differences' }).getByRole('row');
  return rows.evaluateAll((all) =>
    all.map((row) =>
      ['.change-mark .unseen', '.cut'].map((part) => row.querySelector(part)?.textContent).join(' '),
    ),
  );
}

async function restore(page: Page, action: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
