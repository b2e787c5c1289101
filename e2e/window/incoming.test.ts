/** Home and the rail show what to pull and to push, by one cheap request to each remote. */
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
    await using window = await openWorkspace(browser, {
      root: mine,
      screen: '#/home',
      environment: server.environment,
    });
    const { page } = window;
    const card = page.getByRole('article', { name: 'mine' });
    await card.getByText('Nothing to pull').waitFor();
    const rail = page.getByRole('navigation', { name: 'Screens' });
    expect(await rail.innerText()).not.toMatch(/\d/);

    writeFileSync(join(theirs, 'b.txt'), 'b');
    await run(theirs, 'push');
    writeFileSync(join(mine, 'c.txt'), 'c');
    await server.resetRequests();
    await page.getByRole('button', { name: 'Check for changes' }).click();
    await card.getByText('To pull').waitFor();
    expect(await card.innerText()).toMatch(new RegExp(`Checked (?:${RECENTLY.source})`));
    const counted = (name: string) => rail.getByRole('link', { name }).textContent();
    await expect.poll(() => counted('Home'), WAIT).toContain('1 workspace has something to pull');
    await expect.poll(() => counted('Changes'), WAIT).toContain('1 change to push');
    const requests = await server.requests();
    expect(requests.map(({ operation }) => operation)).toEqual(['GetObject']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // A pull changes the base, so the answer of before no longer counts.
    await askEngine(page, 'transfers.start', { kind: 'pull', root: mine });
    await card.getByText('Nothing to pull').waitFor();
    await expect.poll(() => counted('Home'), WAIT).toBe('Home');

    // With looks switched off, only the button asks.
    await askEngine(page, 'settings.set', { looksForIncoming: false });
    await server.resetRequests();
    await page.reload();
    await card.getByText('Nothing to pull').waitFor();
    expect(await askEngine(page, 'home.look', { maxAgeMs: 0 })).toMatchObject({
      looks: [{ root: mine, hasIncoming: false, outgoing: 1 }],
    });
    expect(await server.requests()).toEqual([]);
    await server.stop();
    await page.getByRole('button', { name: 'Check for changes' }).click();
    await card.getByText('The remote did not answer').waitFor();
    expect(await card.innerText()).toContain('Nothing to pull');
    expect(window.complaints).toEqual([]);
  });
});
