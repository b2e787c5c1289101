/** Errors in the window: its own words and buttons, and the command only as a detail. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace } from './window-workspace.ts';

describe.skipIf(!findChromium())('An error in the window', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('speaks of no command, offers it as a detail to copy, and is mended by a button', async () => {
    using sandbox = createSandbox();
    const root = sandbox.path('work');
    mkdirSync(root);
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: root, environment: {} });
    for (let count = 0; count < 12; count += 1) writeFileSync(join(root, `${count}.csv`), `row ${count}`);
    await dray('init', '--remote', sandbox.path('remote'));
    await dray('push');
    for (let count = 0; count < 12; count += 1) writeFileSync(join(root, `${count}.csv`), '');

    await using window = await openWorkspace(browser, { root, screen: '#/transfers' });
    const { context, page } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await askEngine(page, 'transfers.start', { kind: 'push', root });
    const ended = page.getByRole('list', { name: 'Ended transfers' });
    await ended.getByText('12 files have become empty').waitFor();
    const main = page.getByRole('main');
    expect(await main.innerText()).not.toMatch(/\bdray [a-z]|--[a-z]/);

    await ended.getByText('At a command line').click();
    await ended.getByText('dray push --allow-emptied', { exact: true }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await ended.getByRole('button', { name: 'Copy' }).click();
    await ended.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('dray push --allow-emptied');

    await ended.getByRole('button', { name: 'Push them as they are' }).click();
    await ended.getByText('Done').waitFor();
    expect(window.complaints).toEqual([]);
  });
});
