/**
 * The space of a repository in the window: what is kept of it, which commits its retention policy forgets,
 * and the collection that removes the rest. By the keyboard alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowserAndSlowStore, startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf } from './page/transfer-rows.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const SCREEN = '#/repositories';
const BYTES = 1_000_000;

describe.skipIf(!findChromium())('The space of a repository', () => {
  const started = startBrowserAndStore();

  it('is checked, and a policy is tried, applied and kept, before a collection frees what it forgot', async () => {
    using sandbox = createSandbox();
    const { dray, root } = await pushedCoast(sandbox, { remote: sandbox.path('store'), versions: 4 });
    await using window = await openWorkspace(started.browser, { root, screen: SCREEN });
    const { origin, page } = window;
    const space = page.getByRole('region', { name: 'Space of coast' });
    await space.getByText('Nobody has checked here yet').waitFor();
    await space.getByRole('button', { name: 'Check the space of coast' }).press('Enter');
    await expect
      .poll(() => figureOf(page, 'Kept'), WAIT)
      .toMatch(/^3\.8 MiB of 3\.8 MiB on the store, in 4 commits$/);
    expect(await figureOf(page, 'A collection frees')).toBe('0 B nothing to remove');
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // A rule is typed, and each commit says what becomes of it.
    await space.getByRole('button', { name: 'Retention... of coast' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Without a rule every commit stays.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save the rules' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Newest commits').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('3');
    await dialog.getByText('Would forget 1 commit and keep 3.').waitFor();
    await page.keyboard.press('Backspace');
    await page.keyboard.type('1');
    await dialog.getByText('Would forget 2 commits and keep 2.').waitFor();
    const verdicts = () =>
      dialog.getByRole('region', { name: 'Commits' }).getByRole('listitem').allInnerTexts();
    expect(
      (await verdicts()).map((text) => text.replace(/\s+/g, ' ').replace(/ \d+ \w{3} \d{4}.*/, '')),
    ).toEqual([
      'Keep version 4 main, last',
      'Forget version 3',
      'Keep version 2 tag: paper',
      'Forget version 1',
    ]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Forget 2 commits...' }).press('Enter');
    const sure = page.getByRole('dialog', { name: 'Forget 2 commits of coast?' });
    await sure.getByText('There is no undo.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await sure.getByRole('button', { name: 'Forget 2 commits' }).press('Enter');
    await page.getByText('Forgot 2 commits of coast').waitFor();
    expect((await dray('log')).split('(forgotten)').length - 1).toBe(2);
    // The policy is kept: the terminal knows it.
    expect(await dray('forget', '--dry-run')).toContain('Nothing to forget. Kept 2 commits.');

    // What was found before no longer holds.
    await space.getByText('Nobody has checked here yet').waitFor();
    await space.getByRole('button', { name: 'Check the space of coast' }).press('Enter');
    await expect
      .poll(() => figureOf(page, 'Kept'), WAIT)
      .toMatch(/^1\.9 MiB of 3\.8 MiB on the store, in 2 commits, 2 commits forgotten$/);
    expect(await figureOf(page, 'Younger than a day')).toMatch(/^1\.9 MiB \d objects that no commit needs$/);

    await space.getByRole('button', { name: 'Collect garbage... of coast' }).press('Enter');
    const collect = page.getByRole('dialog', { name: 'Collect garbage of coast' });
    const young = collect.getByRole('checkbox', {
      name: /^Also what is younger than a day \(\d objects, 1\.9 MiB\)/,
    });
    await young.focus();
    await page.keyboard.press('Space');
    await collect.getByText('A push that is under way may have to send again').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await collect.getByRole('button', { name: 'Collect garbage' }).press('Enter');
    await page.getByText('Garbage of coast is being collected').waitFor();
    // The card is up to date without being asked again.
    await expect
      .poll(() => figureOf(page, 'Kept'), WAIT)
      .toMatch(/^1\.9 MiB of 1\.9 MiB on the store, in 2 commits, 2 commits forgotten$/);
    await dray('verify', '--read-data');

    await page.goto(`${origin}/#/transfers`);
    const row = rowOf(page, 'Collect garbage of coast');
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(await row.innerText()).toMatch(/1\.9 MiB freed\s+\d objects removed/);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  longIt('says when the history has changed since its rules were tried, and forgets nothing', async () => {
    using sandbox = createSandbox();
    const { dray, push, root } = await pushedCoast(sandbox, { remote: sandbox.path('store'), versions: 3 });
    await using window = await openWorkspace(started.browser, { root, screen: SCREEN });
    const { page } = window;
    await page.getByRole('button', { name: 'Retention... of coast' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Newest commits').fill('1');
    await dialog.getByText('Would forget 1 commit and keep 2.').waitFor();
    await push(4);
    await dialog.getByRole('button', { name: 'Forget 1 commit...' }).press('Enter');
    await page.getByRole('button', { name: 'Forget 1 commit' }).press('Enter');
    await dialog.getByText('The history has changed: 2 commits would be forgotten now, not 1.').waitFor();
    await dialog.getByText('Would forget 2 commits and keep 2.').waitFor();
    expect(await dray('log')).not.toContain('(forgotten)');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    for (const [label, text, error] of [
      ['Days', '0', 'It must be a whole number from 1.'],
      ['Newer than', '30', 'It must be a duration such as 30d or 1y6m.'],
    ] as const) {
      await dialog.getByLabel(label).fill(text);
      await dialog.getByText(error).waitFor();
      // The other rules are still there.
      await dialog.getByText('Correct the marked field to see what the rules forget.').waitFor();
      expect(await dialog.getByRole('button', { name: 'Save the rules' }).isDisabled()).toBe(true);
      await dialog.getByLabel(label).fill('');
    }
    expect(window.complaints).toEqual([]);
  });

  longIt('fits the width of a phone', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedCoast(sandbox, { remote: sandbox.path('store'), versions: 3 });
    await using window = await openWorkspace(started.browser, { root, screen: SCREEN });
    const { page } = window;
    await page.setViewportSize({ width: 360, height: 740 });
    const fits = () =>
      expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), WAIT).toBe(360);
    await page.getByRole('button', { name: 'Check the space of coast' }).press('Enter');
    await expect.poll(() => figureOf(page, 'Kept'), WAIT).toContain('on the store');
    await fits();
    await page.getByRole('button', { name: 'Retention... of coast' }).press('Enter');
    await page.getByLabel('Newest commits').fill('1');
    const rows = page.getByRole('region', { name: 'Commits' });
    await rows.getByText('version 1').waitFor();
    await fits();
    expect(await rows.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });
});

/** Only the long run has it: a suite must not be empty. */
const describeLong = runBudget<(name: string, suite: () => void) => void>({
  short: () => {},
  long: describe.skipIf(!findChromium()),
});

describeLong('A collection on a store that hangs', () => {
  const slow = startBrowserAndSlowStore();

  longIt('shows itself on the card, is paused and goes on, and a check is stopped', async () => {
    using sandbox = createSandbox();
    const { environment, network, server } = slow.store;
    const remote = `s3://${server.bucket}/coast`;
    const { root } = await pushedCoast(sandbox, { remote, versions: 3, environment });
    await using window = await openWorkspace(slow.browser, { root, screen: SCREEN, environment });
    const { origin, page } = window;
    const space = page.getByRole('region', { name: 'Space of coast' });
    await space.waitFor();
    await expect.poll(() => page.getByText('Asking').count(), WAIT).toBe(0);
    await network.hang();
    await space.getByRole('button', { name: 'Check the space of coast' }).press('Enter');
    await space.getByText('Reading the commits').waitFor();
    await space.getByRole('button', { name: 'Checking coast: Stop' }).press('Enter');
    await space.getByText('Nobody has checked here yet').waitFor();

    await space.getByRole('button', { name: 'Collect garbage... of coast' }).press('Enter');
    await page.getByRole('button', { name: 'Collect garbage', exact: true }).press('Enter');
    await space.getByText('Collecting garbage').waitFor();
    expect(await space.getByRole('button', { name: 'Collect garbage... of coast' }).isDisabled()).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await space.getByRole('link', { name: 'See Transfers' }).press('Enter');
    await page.waitForURL(`${origin}/#/transfers`);
    const title = 'Collect garbage of coast';
    await page.getByRole('button', { name: `Pause ${title}` }).press('Enter');
    await expect.poll(stateOf(rowOf(page, title)), WAIT).toBe('Paused');
    await network.restore();
    await page.getByRole('button', { name: `Resume ${title}` }).press('Enter');
    await expect.poll(stateOf(rowOf(page, title)), WAIT).toBe('Nothing to remove');
    expect(window.complaints).toEqual([]);
  });
});

interface CoastOptions {
  readonly remote: string;
  /** The second one is tagged. */
  readonly versions: number;
  readonly environment?: Readonly<Record<string, string>>;
}

async function pushedCoast(sandbox: Sandbox, { remote, versions, environment = {} }: CoastOptions) {
  const root = sandbox.path('coast');
  mkdirSync(root);
  const dray = async (...parameters: string[]): Promise<string> => {
    const { exitCode, stderr, stdout } = await runCli(parameters, { cwd: root, environment });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  const push = async (version: number) => {
    writeFileSync(join(root, 'depths.bin'), Buffer.alloc(BYTES, version));
    await dray('push', '-m', `version ${version}`);
    if (version === 2) await dray('tag', 'paper');
  };
  await dray('init', '--compress', 'off', '--remote', remote);
  for (let version = 1; version <= versions; version += 1) await push(version);
  return { dray, push, root };
}

/** A figure's value and note in one line. */
async function figureOf(page: Page, label: string): Promise<string> {
  const figure = page.locator('.figure').filter({ has: page.getByText(label, { exact: true }) });
  if ((await figure.count()) === 0) return '';
  return (await figure.innerText()).replace(/\s+/g, ' ').slice(label.length).trim();
}
