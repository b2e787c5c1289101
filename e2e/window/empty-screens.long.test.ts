/** Every screen where there is nothing to show yet: it says what it is for, and how to fill it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace } from './window-workspace.ts';

/** Each screen teaches its use where this user has no workspace, no remote and no transfer. */
const LESSONS = {
  changes: 'Changes lists every file that a push would send or a pull would write',
  plan: 'Plan says which requests a push will take',
  history: 'History shows every version that was pushed',
  transfers: 'Pushes, pulls and copies appear here while they run',
  fleet: 'A fleet is many machines that copy',
  repositories: 'A repository keeps all versions of a folder',
  remotes: 'A remote is a place for your data',
} as const;

describe.skipIf(!findChromium())('An empty screen', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('says what it is for and offers the first step, for a user who has nothing yet', async () => {
    await using window = await openWindow(browser, { path: '/#/home' });
    const { origin, page } = window;
    await page.getByText('Keep every version of a folder').waitFor();
    for (const [screen, lesson] of Object.entries(LESSONS)) {
      await page.goto(`${origin}/#/${screen}`);
      await page.getByText(lesson).waitFor();
      expect(await stepsOf(page), screen).not.toEqual([]);
      expect(await findViolationsInBothThemes(page), screen).toEqual([]);
    }
    await page.goto(`${origin}/#/browse`);
    await page.getByRole('heading', { level: 1, name: 'Browse' }).waitFor();
    await page.getByRole('main').getByRole('button').first().waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('says so too in a workspace without files and without commits', async () => {
    using folder = temporaryFolder();
    const root = join(folder.path, 'new');
    mkdirSync(root);
    const environment = { HOME: join(folder.path, 'home') };
    await runCli(['init', '--remote', join(folder.path, 'versions')], { cwd: root, environment });
    await using window = await openWorkspace(browser, { root, screen: '#/history' });
    const { origin, page } = window;
    await page.getByText('The first push makes the first commit').waitFor();
    expect(await stepsOf(page)).toEqual(['See what a push would do']);
    await page.getByRole('link', { name: 'See what a push would do' }).press('Enter');
    await page.getByRole('heading', { name: 'Nothing to push' }).waitFor();
    expect(await stepsOf(page)).not.toEqual([]);
    await page.goto(`${origin}/#/plan`);
    await page.getByText('Once a file changes, Plan says').waitFor();
    expect(await stepsOf(page)).toEqual(['See what was pushed']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });
});

/** The names of the buttons and links that an empty state offers. */
function stepsOf(page: Page): Promise<readonly string[]> {
  return page.locator('.state .state-actions :is(a, button)').allInnerTexts();
}

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'dray-window-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
