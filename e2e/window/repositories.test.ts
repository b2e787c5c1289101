/** The overview of all repositories: remembered, asked cheaply, measured on request, and stopped. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { addCommits } from '../../engine/host/repositories/repository.fixture.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import type { SlowStore } from './data/slow-store.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { RECENTLY } from './window-workspace.ts';

const WAIT = { timeout: 120_000, interval: 100 };
const SCREEN = { path: '/#/repositories' };

describe.skipIf(!findChromium())('Repositories', () => {
  const slow = startBrowserAndSlowStore();

  longIt('teach what they are where there is none, and are reached by the keyboard', async () => {
    await using window = await openWindow(slow.browser, { path: '/#/home' });
    const { page } = window;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Reposi');
    await page.getByRole('menuitem', { name: 'Repositories' }).and(page.locator('[data-focused]')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No repositories yet' }).waitFor();
    await page.getByText('The first push of a workspace creates one').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('link', { name: 'Add a workspace' }).press('Enter');
    await page.waitForURL(/#\/home/);
    expect(window.complaints).toEqual([]);
  });

  it('show size, growth, cost, push and verify of each, and why one cannot be reached', async () => {
    using folder = temporaryFolder();
    const { environment, server } = slow.store;
    const home = join(folder.path, 'home');
    const root = join(folder.path, 'coast');
    mkdirSync(root, { recursive: true });
    const dray = async (...parameters: string[]) => {
      const kept = { ...environment, HOME: home, XDG_CONFIG_HOME: join(home, '.config'), DRAY_AUTHOR: 'Ada' };
      const { exitCode, stderr } = await runCli(parameters, { cwd: root, environment: kept });
      if (exitCode !== 0) throw new Error(stderr);
    };
    await dray('init', '--compress', 'off', '--remote', `s3://${server.bucket}/coast`);
    writeFileSync(join(root, 'a.bin'), Buffer.alloc(3_000_000, 'a'));
    await dray('push');
    writeFileSync(join(root, 'b.bin'), Buffer.alloc(2_000_000, 'b'));
    await dray('push');
    await dray('verify', '--read-data=100');
    const archive = join(folder.path, 'archive');
    await addCommits(archive, [
      { time: '2025-02-03T10:00:00.000Z', bytes: 40 * 1024 ** 2 },
      { time: '2025-06-03T10:00:00.000Z', bytes: 90 * 1024 ** 2 },
    ]);
    mkdirSync(join(folder.path, 'plain'));
    await dray('remote', 'add', '--user', 'archive', pathToFileURL(archive).href);
    await dray('remote', 'add', '--user', 'plain', pathToFileURL(join(folder.path, 'plain')).href);
    await dray('remote', 'add', '--user', 'gone', 's3://gone?endpoint=http://127.0.0.1:9&region=us-east-1');
    writeFileSync(join(home, '.config', 'dray', 'window.json'), JSON.stringify({ workspaces: [root] }));

    const commitReads = () => countCommitReads(slow.store);
    const before = await commitReads();
    const kept = { folder: folder.path, environment: { ...environment, ...SHORT_PAUSES } };
    {
      await using window = await openWindow(slow.browser, { ...kept, ...SCREEN });
      const { page } = window;
      const coast = cardOf(page, 'coast');
      await coast.getByText('Last push').waitFor();
      await expect.poll(() => figureOf(page, 'coast', 'Newest version'), WAIT).toBe('4.8 MiB 2 files');
      expect(await figureOf(page, 'coast', 'Last push')).toMatch(new RegExp(`^(?:${RECENTLY.source}) Ada$`));
      expect(await figureOf(page, 'coast', 'Last verified')).toMatch(
        new RegExp(`^(?:${RECENTLY.source}) 100 % of the content$`),
      );
      expect(await figureOf(page, 'coast', 'Cost a month')).toBe('Not known no price known for this store');
      expect(await figureOf(page, 'archive', 'Newest version')).toBe('90.0 MiB 1 file');
      expect(await figureOf(page, 'archive', 'Cost a month')).toBe('$0 your own disk');
      expect(await figureOf(page, 'archive', 'Last verified')).toContain('Never');
      await cardOf(page, 'gone').getByText('It has not answered yet.').waitFor();
      await expect.poll(() => page.getByText('Asking').count(), WAIT).toBe(0);
      expect(await cardOf(page, 'plain').count()).toBe(0);
      expect(await commitReads()).toBe(before + 2);
      const plot = cardOf(page, 'archive').getByRole('img', {
        name: /^Growth of archive: 40.0 MiB in Feb 2025, 90.0 MiB in /,
      });
      expect(await plot.locator('rect').count()).toBeGreaterThan(10);
      await cardOf(page, 'archive').getByText('Growth of archive as a table').press('Enter');
      const june = cardOf(page, 'archive').getByRole('row', { name: /Jun(e)? 2025/ });
      expect(await june.innerText()).toMatch(/90.0 MiB\s+1\s+1/);
      expect(await findViolationsInBothThemes(page)).toEqual([]);

      await slow.store.network.hang();
      await coast.getByRole('button', { name: 'Measure coast' }).press('Enter');
      await coast.getByText('0 objects so far').waitFor();
      await coast.getByRole('button', { name: 'Stop' }).press('Enter');
      await coast.getByText('Not measured').waitFor();
      await slow.store.network.restore();
      await coast.getByRole('button', { name: 'Measure coast' }).press('Enter');
      await expect
        .poll(() => figureOf(page, 'coast', 'Stored'), WAIT)
        .toMatch(new RegExp(`^4\\.8 MiB \\d+ objects, (?:${RECENTLY.source})`));
      expect(window.complaints).toEqual([]);
    }
    // Another window on the same home: nothing is read again, and the remembered shows without the store.
    await slow.store.network.cut();
    try {
      await using window = await openWindow(slow.browser, { ...kept, ...SCREEN });
      const { page } = window;
      await expect.poll(() => figureOf(page, 'coast', 'Stored'), WAIT).toMatch(/^4\.8 MiB \d+ objects/);
      await cardOf(page, 'coast').getByText('These figures are from its last answer').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await slow.store.network.restore();
      await cardOf(page, 'coast').getByRole('button', { name: 'Ask again' }).press('Enter');
      await expect
        .poll(() => cardOf(page, 'coast').getByText('These figures are from its last answer').count(), WAIT)
        .toBe(0);
    } finally {
      await slow.store.network.restore();
    }
    expect(await commitReads()).toBe(before + 2);
  });
});

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'dray-window-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function cardOf(page: Page, name: string) {
  return page.locator('.repository').filter({ has: page.getByRole('heading', { name, exact: true }) });
}

/** A figure's value and note in one line. */
async function figureOf(page: Page, name: string, label: string): Promise<string> {
  const figure = cardOf(page, name)
    .locator('.figure')
    .filter({ has: page.getByText(label, { exact: true }) });
  return (await figure.innerText()).replace(/\s+/g, ' ').slice(label.length).trim();
}

async function countCommitReads({ server }: SlowStore): Promise<number> {
  const requests = await server.requests();
  return requests.filter(({ operation, path }) => operation === 'GetObject' && path.includes('/commits/'))
    .length;
}
