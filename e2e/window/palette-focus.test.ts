/** What is typed after Ctrl-K reaches the palette, also over a dialog that holds the focus. */
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { holdRequests } from './hold-request.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The palette', () => {
  const repository = startHistoryRepository();

  it('takes the letters over an open form, whose text and focus are there again after Escape', async () => {
    await using window = await repository.open();
    const { page } = window;
    await page.goto(`${window.origin}/#/history?do=branch`);
    const name = page.getByRole('dialog', { name: 'New branch' }).getByLabel('Name of the branch');
    await name.fill('half a na');
    await page.keyboard.press('Control+k');
    await expectTyped(page, 'sett');
    await page.keyboard.press('Escape');
    await searchOf(page).waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(name), WAIT).toBe(true);
    await page.keyboard.type('me');
    expect(await name.inputValue()).toBe('half a name');
    // Again, and this time to another screen.
    await page.keyboard.press('Control+k');
    await expectTyped(page, 'sett');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await name.waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(page.locator('#screen')), WAIT).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  longIt('keeps the focus over a new screen, which has it after Escape', async () => {
    await using window = await repository.open();
    const { page } = window;
    await page.goto(`${window.origin}/#/remotes`);
    await page.getByRole('heading', { name: 'Remotes', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).press('Enter');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await expect.poll(() => hasFocus(page.locator('#screen')), WAIT).toBe(true);
    await page.keyboard.press('Control+k');
    await expectTyped(page, 'his');
    await page.goBack();
    await page.getByRole('heading', { name: 'Remotes', level: 1, includeHidden: true }).waitFor();
    expect(await hasFocus(searchOf(page))).toBe(true);
    await page.keyboard.press('Escape');
    await searchOf(page).waitFor({ state: 'detached' });
    await expect.poll(() => hasFocus(page.locator('#screen')), WAIT).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'takes the letters while a branch, deleted in the list of branches, is still in the list',
    async () => {
      await using window = await repository.open();
      const { page } = window;
      const held = await holdRequests(page);
      await page.getByRole('button', { name: 'Branch main' }).click();
      await page.getByRole('button', { name: 'More of side' }).click();
      await page.getByRole('menuitem', { name: 'Delete the branch side...' }).click();
      const dialog = page.getByRole('dialog').filter({ has: page.getByRole('heading') });
      await dialog.getByText('1 commit is in no other branch or tag').waitFor();
      held.hold('history.list');
      await dialog.getByRole('button', { name: 'Delete the branch' }).click();
      await page.getByText('The branch side was deleted').waitFor();
      await page.keyboard.press('Control+k');
      await expectTyped(page, 'sett');
      held.release();
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.type('ing');
      await expect.poll(() => searchOf(page).inputValue(), WAIT).toBe('setting');
      await page.keyboard.press('Escape');
      const toast = page.getByRole('alertdialog').filter({ hasText: 'The branch side was deleted' });
      await toast.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('grid', { name: 'Commits' }).getByRole('row', { name: 'on the side' }).waitFor();
      expect(window.complaints).toEqual([]);
    },
  );
});

function searchOf(page: Page): Locator {
  return page.getByRole('searchbox', { name: 'Search commands' });
}

/** Types as a person does who waits for the palette alone, and not for its focus. */
async function expectTyped(page: Page, letters: string): Promise<void> {
  await page.getByRole('menu', { name: 'Commands' }).waitFor();
  await page.keyboard.type(letters);
  await expect.poll(() => searchOf(page).inputValue(), { timeout: 10_000 }).toBe(letters);
  expect(await hasFocus(searchOf(page))).toBe(true);
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}
