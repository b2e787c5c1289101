/** Commits that a retention policy has forgotten, in History: they look so, and say what is left of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('A forgotten commit in History', () => {
  const started = startBrowserAndStore();

  it('looks forgotten, says why, and offers no restore; the next one is shown without it', async () => {
    using sandbox = createSandbox();
    const root = sandbox.path('coast');
    const dray = async (...parameters: string[]) => {
      const { exitCode, stderr } = await runCli(parameters, { cwd: root, environment: {} });
      if (exitCode !== 0) throw new Error(stderr);
    };
    sandbox.write('coast/depths.csv', '1');
    await dray('init', '--remote', sandbox.path('store'));
    for (const message of ['first', 'second', 'third', 'fourth']) {
      writeFileSync(join(root, 'depths.csv'), message);
      await dray('push', '-m', message);
    }
    await dray('forget', '--keep-last', '2');
    await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
    const { page } = window;
    await rowOf(page, 'second').getByText('Forgotten').waitFor();
    expect(await rowOf(page, 'first').getByText('Forgotten').count()).toBe(1);
    expect(await page.locator('.commit-item .badge').count()).toBe(2);

    // By the keyboard: the rows below the newest are the third, the second and the first commit.
    await rowOf(page, 'fourth').focus();
    await page.keyboard.press('ArrowDown');
    const panel = page.getByRole('region', { name: 'Commit', exact: true });
    await panel.locator('.select-value', { hasText: 'All files: the commit before is forgotten' }).waitFor();
    await panel.getByText('depths.csv').waitFor();
    await page.keyboard.press('ArrowDown');
    await panel.getByRole('heading', { name: 'Its files are not kept' }).waitFor();
    await panel.getByText('A retention policy has forgotten this commit.').waitFor();
    expect(await panel.innerText()).toContain('held 1 file');
    expect(await panel.getByRole('tab').count()).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await panel.getByRole('button', { name: 'More of this commit' }).press('Enter');
    await page.getByRole('menuitem', { name: 'New tag here...' }).waitFor();
    expect(await page.getByRole('menuitem', { name: /Restore|Compare/ }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), WAIT).toBe(360);
    expect(window.complaints).toEqual([]);
  });
});

function rowOf(page: Page, subject: string) {
  return page
    .getByRole('grid', { name: 'Commits' })
    .getByRole('row')
    .filter({ has: page.getByText(subject, { exact: true }) });
}
