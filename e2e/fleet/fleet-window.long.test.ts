/** A fleet's job in the window, with a real Temporal server and two workers. A gate stops it at one point. */
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Counted, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { findChromium } from '../window/find-chromium.ts';
import { launchBrowser, openWindow } from '../window/open-window.ts';
import { findViolationsInBothThemes } from '../window/page/find-violations.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, numberedFiles, openFleet } from './open-fleet.ts';

/** More than a page of a listing, so that the plan cuts them into ranges. */
const FILES = 1_100;
const isWrite: Counted = ({ method, url }) => method === 'PUT' && url.pathname.includes('/copied/');
const isRefused: Counted = (request) => isWrite(request) && /\/3\/object-/.test(request.url.pathname);

describe.skipIf(!findChromium())('the window on a fleet', () => {
  let browser: Browser;
  let fleet: Fleet;
  let gate: RequestGate;
  beforeAll(async () => {
    [browser, fleet] = await Promise.all([launchBrowser(), openFleet()]);
    gate = await startRequestGate(fleet.s3.endpoint);
    await fleet.put('source', numberedFiles(FILES));
  });
  afterAll(async () => {
    await gate[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
    await browser.close();
  });

  it('shows a job with its map and its workers, pauses it, and tries its failed files again', async () => {
    const { s3, temporal } = fleet;
    const workers = await Promise.all([1, 2].map(() => fleet.startWorker({ endpoint: gate.endpoint })));
    await using window = await openWindow(browser, { environment: s3.environment, path: '/#/fleet' });
    const { page } = window;
    await page.getByRole('button', { name: 'Connect to Temporal' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Connect to Temporal' });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByLabel('Address').fill(temporal.address);
    await page.keyboard.press('Enter');
    await page.getByText('No jobs yet').waitFor();

    gate.hold(isWrite, 300);
    const place = (prefix: string) => `s3://${s3.bucket}/${prefix}/`;
    const small = ['--part-files', '25', '--ranges', '64', '--id', 'watched', '--detach'];
    await fleet.run('copy', place('source'), place('copied'), ...small);
    await page.getByRole('link', { name: 'watched' }).press('Enter');
    await page.getByRole('heading', { name: 'watched' }).waitFor();
    const map = page.getByRole('listbox', { name: 'Ranges' });
    await map
      .getByRole('option', { name: /running, \d+ of .* on .*:\d+/ })
      .first()
      .waitFor();
    // Each has as many held requests as it has steps, so both keep working.
    for (const { processId } of workers)
      await page.getByRole('rowheader', { name: `:${processId}` }).waitFor();
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    await map.press('Home');
    await page.getByText(/^Range 1: /).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await page.getByRole('button', { name: 'Pause watched' }).press('Enter');
    await page.getByRole('button', { name: 'Resume watched' }).and(page.locator(':focus')).waitFor();
    gate.release();
    gate.refuse(isRefused);
    await page.getByRole('button', { name: 'Resume watched' }).press('Enter');
    await page.getByText('Done, some failed').waitFor();
    await map.getByRole('option', { name: 'with failures' }).first().waitFor();

    await page.getByRole('button', { name: 'Show the failed files' }).press('Enter');
    await page.getByRole('rowheader', { name: '3/object-' }).first().waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    gate.release();
    await page.getByRole('button', { name: 'Try failed files again: watched' }).press('Enter');
    await page.getByText('Done', { exact: true }).waitFor();
    expect(differences(fleet, 'source', 'copied')).toEqual([]);
    const link = page.getByRole('link', { name: 'Open in Temporal' });
    expect(await link.getAttribute('href')).toBe(
      'http://127.0.0.1:8233/namespaces/default/workflows/dray-fleet-watched',
    );
    expect(window.complaints).toEqual([]);
    await Promise.all(workers.map((worker) => worker.stop()));
  });
});
