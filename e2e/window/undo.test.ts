/** A removed entry of a list comes back by one press. */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askEngine } from './ask-engine.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: 120_000, interval: 100 };

describe.skipIf(!findChromium())('Undo', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('puts transfers back that were removed one by one, all together, or by a command', async () => {
    await using window = await openWindow(browser, { path: '/#/transfers' });
    const { folder, page } = window;
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    for (const name of ['one', 'two', 'three'])
      await askEngine(page, 'transfers.start', {
        kind: 'copy',
        source: `${folder}/${name}/`,
        destination: `${folder}/copies/`,
      });
    await expect.poll(() => titlesOf(page), WAIT).toHaveLength(3);
    await expect.poll(() => page.getByRole('button', { name: 'Retry all failed' }).count(), WAIT).toBe(1);
    const titles = await titlesOf(page);

    await page.getByRole('button', { name: 'Clear the list' }).press('Enter');
    await page.getByText('Removed 3 transfers from the list').waitFor();
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    // The focus stops the clock of the message, so that a slow machine finds it after axe has run.
    await page.getByRole('button', { name: 'Undo' }).focus();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await expect.poll(() => titlesOf(page), WAIT).toEqual(titles);

    await page.getByRole('button', { name: /^Remove from the list: .*two/ }).press('Enter');
    await page.getByText('Removed 1 transfer from the list').waitFor();
    await expect.poll(() => titlesOf(page), WAIT).toHaveLength(2);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await expect.poll(() => titlesOf(page), WAIT).toEqual(titles);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('Remove ended');
    await page.getByRole('menuitem', { name: 'Remove ended' }).and(page.locator('[data-focused]')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Removed 3 transfers from the list').waitFor();
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await expect.poll(() => titlesOf(page), WAIT).toEqual(titles);
    // As the engine keeps them.
    await page.reload();
    await expect.poll(() => titlesOf(page), WAIT).toEqual(titles);
    expect(window.complaints).toEqual([]);
  });
});

function titlesOf(page: Page): Promise<readonly string[]> {
  return page.getByRole('list', { name: 'Ended transfers' }).locator('.transfer-title').allInnerTexts();
}
