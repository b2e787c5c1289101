/** The remote of a workspace is verified from the window: a transfer, whose result Repositories shows. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startBrowserAndStore } from './browser-and-store.ts';
import { pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf } from './page/transfer-rows.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

/** As `design/icon.tsx` draws it. */
const CHECK_MARK = 'M3 8.4 6.4 11.8 13 4.6';

describe.skipIf(!findChromium())('A verification', () => {
  const started = startBrowserAndStore();

  it('is a transfer from Home, the palette or Repositories, and names the files that are not whole', async () => {
    using dataset = await pushedDataset(started.server, 'verify');
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/home',
    });
    const { origin, page } = window;
    const name = `Verify ${WORK}`;
    await page.getByRole('button', { name: `More of ${WORK}` }).click();
    await page.getByRole('menuitem', { name: 'Verify its remote' }).click();
    const begun = page.locator('.toast').filter({ hasText: `The remote of ${WORK} is being verified` });
    await begun.waitFor();
    expect(await begun.locator(`path[d="${CHECK_MARK}"]`).count()).toBe(0);
    await page.goto(`${origin}/#/transfers`);
    const row = rowOf(page, name);
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(await row.innerText()).toMatch(/\d objects?/);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await page.goto(`${origin}/#/repositories`);
    const figure = page.locator('.figure').filter({ hasText: 'Last verified' });
    await expect.poll(() => figure.innerText(), WAIT).toMatch(/existence and sizes/);
    const packs = join(started.server.dataFolder, started.server.bucket, 'verify');
    const isPack = (path: string) => /(^|\/)(packs|objects)\/.*[0-9a-f]{40}/.test(path);
    const stored = readdirSync(packs, { recursive: true, encoding: 'utf8' }).filter(isPack);
    expect(stored.length).toBeGreaterThan(0);
    for (const path of stored) rmSync(join(packs, path), { recursive: true, force: true });
    const button = page.getByRole('button', { name: 'Verify', exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    // The screen shows the result without being opened anew.
    await expect.poll(() => figure.innerText(), WAIT).toMatch(/\d missing/);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await page.goto(`${origin}/#/transfers`);
    await expect.poll(stateOf(row.first()), WAIT).toBe('Failed');
    expect(await row.first().locator(`path[d="${CHECK_MARK}"]`).count()).toBe(0);
    await page
      .getByRole('button', { name: `Details of ${name}` })
      .first()
      .click();
    await page
      .getByRole('list', { name: /^Files that failed/ })
      .getByText('notes/method.md')
      .waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('Verify the');
    await page
      .getByRole('menuitem', { name: /^Verify the remote/ })
      .and(page.locator('[data-focused]'))
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => row.count(), WAIT).toBe(3);
    expect(window.complaints).toEqual([]);
  });
});
