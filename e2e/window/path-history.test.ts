/** The history of one file, from the menus of its rows: who changed it, and its versions brought back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { NOTES, startHistoryRepository } from './data/history-repository.ts';
import { commitMany } from './data/many-commits.ts';
import { findChromium } from './find-chromium.ts';
import type { OpenWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The history of a file', () => {
  const repository = startHistoryRepository();

  it('opens from a row of History, says who changed it last, shows and restores each version', async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { complaints, page } = window;
    await openHistory(page, 'notes.md');
    await expect.poll(() => versions(page), WAIT).toEqual(['Changed in second', 'Added in first']);
    await page.getByText('2 commits changed it.').waitFor();
    await page.getByText('Last changed by Ada Okafor').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Preview it in second' }).click();
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

  longIt(
    'of many versions is read on from where it stopped, by the keyboard, and its place stays',
    async () => {
      using sandbox = createSandbox();
      const root = await manyCommits(sandbox, 520, () => true);
      await using window = await openHistoryOf(root, 'often.txt');
      const { page } = window;
      const dialog = page.getByRole('dialog', { name: 'History of often.txt' });
      await dialog.getByText(/500 commits changed it so far\. 50\d commits read, back to/).waitFor();
      const list = dialog.getByRole('grid');
      await list.getByRole('row').first().focus();
      await page.keyboard.press('End');
      const last = list.getByRole('row', { name: 'Changed in Commit 21', exact: true });
      await expect.poll(() => last.evaluate((row) => row === document.activeElement), WAIT).toBe(true);
      const place = () => list.evaluate((one) => one.scrollTop);
      const before = await place();
      await page.keyboard.press('Tab');
      await dialog.getByRole('button', { name: 'Read on' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await dialog.getByText('521 commits changed it.').waitFor();
      expect([before > 0, await place()]).toEqual([true, before]);
      // The button has gone, the keyboard stays in the dialog.
      await expect
        .poll(() => dialog.evaluate((one) => one.contains(document.activeElement)), WAIT)
        .toBe(true);
      expect((await versions(page)).slice(498)).toEqual([
        ...Array.from({ length: 22 }, (_, at) => `Changed in Commit ${22 - at}`),
        'Added in first',
      ]);
      expect(window.complaints).toEqual([]);
    },
  );

  longIt(
    'over more commits than are read at once says how far it came, and reads on, also after Stop',
    async () => {
      using sandbox = createSandbox();
      const count = 10_300;
      const root = await manyCommits(sandbox, count, (at) => at === count);
      const whole = [`Changed in Commit ${count}`, 'Added in first'];
      await using window = await openHistoryOf(root, 'often.txt');
      const { page } = window;
      const dialog = page.getByRole('dialog', { name: 'History of often.txt' });
      const stop = dialog.getByRole('button', { name: 'Stop' });
      const readOn = dialog.getByRole('button', { name: 'Read on' });
      await stop.press('Enter');
      await dialog.getByText('There are older ones.').waitFor();
      await readOn.press('Enter');
      await dialog
        .getByText('2 commits changed it.')
        .or(dialog.getByText('1 commit changed it so far. 10,'))
        .waitFor();
      if ((await readOn.count()) > 0) await readOn.press('Enter');
      await expect.poll(() => versions(page), WAIT).toEqual(whole);

      await page.reload();
      await openHistory(page, 'often.txt');
      await dialog.getByText(/1 commit changed it so far\. 10,00\d commits read, back to/).waitFor();
      await readOn.press('Enter');
      await dialog.getByText('2 commits changed it.').waitFor();
      expect(await versions(page)).toEqual(whole);
      expect(window.complaints).toEqual([]);
    },
  );

  async function openHistoryOf(root: string, file: string): Promise<OpenWindow> {
    const window = await openWorkspace(repository.browser, { root, screen: '#/history' });
    await openHistory(window.page, file);
    return window;
  }
});

/** From the newest commit's contents. */
async function openHistory(page: Page, file: string): Promise<void> {
  await page.getByRole('tab', { name: 'Contents' }).click();
  const contents = page.getByRole('grid', { name: 'Contents' });
  await contents.getByRole('row', { name: file }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'History of this file...' }).click();
}

/** A workspace whose file `often.txt` was pushed first, and then changed by some of many commits. */
async function manyCommits(
  sandbox: Sandbox,
  count: number,
  isChanged: (at: number) => boolean,
): Promise<string> {
  const root = dirname(sandbox.write('work/often.txt', 'first'));
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store') });
  await push(testContext(root), { message: 'first' });
  await commitMany(testContext(root), count, (_path, at) => isChanged(at));
  return root;
}

function versions(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole('grid', { name: /^Commits that changed/ }).getByRole('row');
  return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
}
