/** The ticks of folders in the Changes screen, and which folders are struck through. */
import { rmSync, unlinkSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { startBrowserAndStore } from './browser-and-store.ts';
import { ageFiles, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The folders of the Changes screen', () => {
  const started = startBrowserAndStore();

  it('are ticked in full, in part or not at all, and struck through only if all of them goes', async () => {
    using dataset = await pushedDataset(started.server, 'ticks');
    const { sandbox } = dataset;
    for (const name of ['a', 'b', 'c']) sandbox.write(`${WORK}/added/${name}.txt`, name);
    ageFiles(sandbox.path(WORK));
    unlinkSync(sandbox.path(WORK, 'notes/kept.md'));
    rmSync(sandbox.path(WORK, 'pictures'), { recursive: true });
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    const folder = page.getByRole('checkbox', { name: 'Push added/', exact: true });
    await rowOf(page, 'added/').getByRole('button', { name: 'Open' }).click();
    expect(await stateOf(page, 'Push added/')).toBe('true');
    await page.getByRole('checkbox', { name: 'Push added/a.txt' }).uncheck();
    await expect.poll(() => stateOf(page, 'Push added/'), WAIT).toBe('mixed');
    expect(await folder.evaluate((box: HTMLInputElement) => [box.indeterminate, box.checked])).toEqual([
      true,
      false,
    ]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.reload();
    await expect.poll(() => stateOf(page, 'Push added/'), WAIT).toBe('mixed');
    await page.getByRole('checkbox', { name: 'Push added/b.txt' }).uncheck();
    await page.getByRole('checkbox', { name: 'Push added/c.txt' }).uncheck();
    await expect.poll(() => stateOf(page, 'Push added/'), WAIT).toBe('false');
    // One click on a folder brings all of it back.
    await folder.click();
    await expect.poll(() => stateOf(page, 'Push added/'), WAIT).toBe('true');
    await page.getByText('excluded').waitFor({ state: 'detached' });
    expect(await isStruck(page, 'notes/')).toBe(false);
    expect(await isStruck(page, 'pictures/')).toBe(true);
    await rowOf(page, 'notes/').getByRole('button', { name: 'Open' }).click();
    await rowOf(page, 'notes/kept.md').waitFor();
    expect(await isStruck(page, 'notes/kept.md')).toBe(true);
    expect(window.complaints).toEqual([]);
  });
});

function stateOf(page: Page, name: string): Promise<string | null> {
  return page.getByRole('checkbox', { name, exact: true }).getAttribute('aria-checked');
}

function isStruck(page: Page, path: string): Promise<boolean> {
  return rowOf(page, path)
    .locator('.change-name')
    .evaluate((name) => getComputedStyle(name).textDecorationLine === 'line-through');
}
