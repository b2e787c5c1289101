/**
 * A commit of many files, a million in the long run, in Contents: one level and a search, with few rows in
 * the page, and a search that ends with the next letter.
 */
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { createS3Dataset } from '../s3-dataset.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { commitMillion, FILES_EACH, FOLDERS } from './data/million-commit.ts';
import { findChromium } from './find-chromium.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const FILES = FOLDERS * FILES_EACH;
const DRAWN_MAX = 80;
/** The ends of texts whose search the next one ends. */
const LETTERS = runBudget({ short: ['1'], long: ['1', '2', '3', '4', '5'] });

describe.skipIf(!findChromium())(`A commit of ${FILES.toLocaleString('en')} files`, () => {
  const started = startBrowserAndStore();

  it('is browsed by level and searched by name, and the page draws few rows', async () => {
    using dataset = createS3Dataset(started.server, 'million-version');
    const root = await dataset.init('work');
    dataset.sandbox.write('work/a.jpg', 'the content of every frame');
    await push(dataset.context('work'), {});
    await commitMillion(dataset, 'work');
    const { environment } = started.server;
    await using opened = await openWorkspace(started.browser, { environment, root, screen: '#/history' });
    const { complaints, page } = opened;
    const entries = page.locator('[data-entry]');
    const status = page.locator('.contents-foot [role="status"]');
    const countOf = (count: number) => count.toLocaleString('en');
    await page.getByRole('tab', { name: 'Contents' }).click();
    // The folders, and the file of the first push.
    await expect.poll(() => status.innerText(), WAIT).toBe(`${countOf(FOLDERS + 1)} entries`);
    expect(await entries.count()).toBeLessThanOrEqual(DRAWN_MAX);

    const search = page.getByRole('searchbox', { name: /^Search names/ });
    for (const letter of LETTERS) {
      await search.fill(`frame-00000${letter}`);
      await expect.poll(() => status.innerText(), WAIT).toMatch(/found/);
    }
    // The next text ends the search before it, whose finds never come back.
    await search.fill('frame-000042.');
    await expect.poll(() => status.innerText(), WAIT).toBe(`${countOf(FOLDERS)} entries found`);
    expect(await entries.count()).toBeLessThanOrEqual(DRAWN_MAX);
    expect(await entries.first().innerText()).toContain('in camera-0000/');

    await search.fill('frame');
    await expect.poll(() => status.innerText(), WAIT).toBe(`${countOf(FILES)} entries found`);
    await page.getByRole('grid', { name: 'Contents' }).focus();
    await page.keyboard.press('End');
    await entries
      .getByText(`frame-${String(FILES_EACH - 1).padStart(6, '0')}.jpg`)
      .first()
      .waitFor();
    expect(await entries.count()).toBeLessThanOrEqual(DRAWN_MAX);

    await page.keyboard.press('Control+a');
    await expect
      .poll(() => status.innerText(), WAIT)
      .toContain(`${countOf(FILES)} of ${countOf(FILES)} chosen`);
    await page.getByRole('button', { name: 'Restore...' }).click();
    await page.getByText('These are too many to name one by one').waitFor();
    expect(complaints).toEqual([]);
  });
});
