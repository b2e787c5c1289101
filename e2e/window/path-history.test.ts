/** The history of one file, from the menus of its rows: who changed it, and its versions brought back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './find-violations.ts';
import { NOTES, startHistoryRepository } from './history-repository.ts';
import { rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The history of a file', () => {
  const repository = startHistoryRepository();

  it('opens from a row of History, says who changed it last, shows and restores each version', async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { complaints, page } = window;
    await page.getByRole('tab', { name: 'Contents' }).click();
    const contents = page.getByRole('grid', { name: 'Contents' });
    await contents.getByRole('row', { name: 'notes.md' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'History of this file...' }).click();
    await expect.poll(() => versions(page), WAIT).toEqual(['Changed in second', 'Added in first']);
    await page.getByText('2 commits changed it.').waitFor();
    await page.getByText('Last changed by Ada Okafor').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Look at it in second' }).click();
    await page.getByRole('dialog').getByText('A third.').waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Restore it from first' }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await expect.poll(() => readFileSync(join(root, 'notes.md'), 'utf8'), WAIT).toBe(NOTES.first);
    expect(complaints).toEqual([]);
  });

  longIt('opens by the Menu key from a row of Changes', async () => {
    const { root } = repository;
    writeFileSync(join(root, 'coast.png'), 'not a picture any more');
    await using window = await repository.open();
    const { page } = window;
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await rowOf(page, 'coast.png').click();
    await page.keyboard.press('ContextMenu');
    await page.getByRole('menuitem', { name: 'History of this file...' }).click();
    await expect.poll(() => versions(page), WAIT).toEqual(['Changed in second', 'Added in first']);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

function versions(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole('grid', { name: /^Commits that changed/ }).getByRole('row');
  return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
}
