/** Home and the rail count what to pull and to push: a request to each remote, and one to each new commit. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, RECENTLY, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('Home and the rail', () => {
  const started = startBrowserAndStore();
  const folder = mkdtempSync(join(tmpdir(), 'dray-incoming-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('count the commits to pull and to push, and show when they checked', async () => {
    const { browser, server } = started;
    const roots = ['mine', 'theirs'].map((name) => join(folder, name));
    const [mine, theirs] = roots as [string, string];
    const run = async (cwd: string, ...args: string[]) => {
      const environment = { ...server.environment, DRAY_AUTHOR: 'tester' };
      expect((await runCli(args, { cwd, environment })).exitCode).toBe(0);
    };
    const url = `s3://${server.bucket}/shared`;
    mkdirSync(mine);
    writeFileSync(join(mine, 'a.txt'), 'a');
    await run(mine, 'init', '--remote', url);
    await run(mine, 'push');
    await run(folder, 'clone', url, theirs);
    await run(mine, 'tag', 'first');
    await using window = await openWorkspace(browser, {
      root: mine,
      screen: '#/home',
      environment: server.environment,
    });
    const { page } = window;
    await askEngine(page, 'home.addWorkspace', { root: theirs });
    await page.reload();
    const card = page.getByRole('article', { name: 'mine' });
    await card.getByText('Nothing to pull').waitFor();
    const rail = page.getByRole('navigation', { name: 'Screens' });
    expect(await rail.innerText()).not.toMatch(/\d/);

    for (const name of ['b.txt', 'd.txt']) {
      writeFileSync(join(theirs, name), name);
      await run(theirs, 'push');
    }
    for (const at of ['mine/c.txt', 'mine/e.txt', 'theirs/f.txt']) writeFileSync(join(folder, at), 'new');
    await server.resetRequests();
    const check = page.getByRole('button', { name: 'Check for changes' });
    await check.click();
    await card.getByText('2 commits to pull').waitFor();
    await card.getByText('2 files to push').waitFor();
    expect(await card.innerText()).toMatch(new RegExp(`Checked (?:${RECENTLY.source})`));
    const counted = (name: string) => rail.getByRole('link', { name }).textContent();
    await expect.poll(() => counted('Home'), WAIT).toContain('2 commits to pull');
    // Of both workspaces.
    await expect.poll(() => counted('Home'), WAIT).toContain('3 files to push');
    await expect.poll(() => counted('Changes'), WAIT).toContain('2 files to push');
    const asked = async () => (await server.requests()).map(({ operation }) => operation);
    // The branch, two new commits, and the one that the workspace has.
    expect(await asked()).toEqual(Array(4).fill('GetObject'));
    await server.resetRequests();
    await check.click();
    await expect.poll(asked, WAIT).toEqual(['GetObject']);
    await card.getByText('2 commits to pull').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // A pull changes the base, so the answer of before no longer counts.
    await askEngine(page, 'transfers.start', { kind: 'pull', root: mine });
    await card.getByText('Nothing to pull').waitFor();
    await expect.poll(() => counted('Home'), WAIT).not.toContain('pull');
    await expect.poll(() => counted('Home'), WAIT).toContain('3 files to push');

    await run(theirs, 'tag', 'newest');
    await run(theirs, 'branch', '-f', 'main', 'first');
    await check.click();
    await card.getByText('The branch was moved back to an older commit').waitFor();
    await card.getByText('To pull', { exact: true }).waitFor();
    await expect.poll(() => counted('Home'), WAIT).toContain('2 workspaces have something to pull');
    await run(theirs, 'branch', '-f', 'main', 'newest');
    await check.click();
    await card.getByText('Nothing to pull').waitFor();

    // With looks switched off, only the button asks.
    await askEngine(page, 'settings.set', { looksForIncoming: false });
    await server.resetRequests();
    await page.reload();
    await card.getByText('Nothing to pull').waitFor();
    expect(await askEngine(page, 'home.look', { maxAgeMs: 0 })).toMatchObject({
      looks: expect.arrayContaining([
        expect.objectContaining({ root: mine, hasIncoming: false, outgoing: 2 }),
      ]),
    });
    expect(await server.requests()).toEqual([]);
    await server.stop();
    await page.getByRole('button', { name: 'Check for changes' }).click();
    await card.getByText('The remote did not answer').waitFor();
    expect(await card.innerText()).toContain('Nothing to pull');
    expect(window.complaints).toEqual([]);
  });
});
