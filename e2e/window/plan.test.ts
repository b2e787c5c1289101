/**
 * The Plan screen: what a push will request and why, and afterwards the actual figures, against a real store.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import type { S3Server } from '../servers/versitygw.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { ageFiles, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

/** Objects of other clients in the repository, so many that a sample estimates their number. */
const OTHERS = 6_000;
const KNOWN = 20;
/** Candidates that the remote has already. */
const PRESENT = 40;
const NEW = 60;

describe.skipIf(!findChromium())('The Plan screen', () => {
  const started = startBrowserAndStore();

  const open = ({ sandbox }: S3Dataset) =>
    openWorkspace(started.browser, {
      environment: started.server.environment,
      root: sandbox.path(WORK),
      screen: '#/plan',
    });

  it('compares both ways to look up objects, and after the push shows the actual figures', async () => {
    using dataset = await crowdedDataset(started.server, 'crowded');
    await using window = await open(dataset);
    const { page } = window;
    await page.getByRole('heading', { name: 'List the remote' }).waitFor();
    expect(await funnelOf(page)).toEqual([KNOWN + PRESENT + NEW, KNOWN, PRESENT + NEW]);
    const remote = /some ([\d,]+) objects, estimated from a sample.*between ([\d,]+) and ([\d,]+) with 95 %/;
    const [, estimate, low, high] = remote.exec(await page.innerText('main')) ?? [];
    expect(numberOf(low)).toBeLessThan(numberOf(estimate));
    expect(numberOf(estimate)).toBeLessThan(numberOf(high));
    const plot = page.getByRole('img', { name: /takes .* listing the remote of some .* they are even at/ });
    expect(await plot.locator('canvas').count()).toBe(1);
    expect(await page.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Way\s+Requests\s+Time\s+Price/),
      expect.stringMatching(/^Check each\s+120\s+[\d.]+ s\s+Not known$/),
      expect.stringMatching(/^List the remote\s+Chosen\s+\d+\s+[\d.]+ s\s+Not known$/),
    ]);
    // The price table does not have this server.
    const prices = page.locator('.figure', { hasText: 'Price' });
    expect(await prices.allInnerTexts()).toEqual(Array(2).fill(expect.stringMatching(/^Price\s+Not known$/)));
    expect(await figureOf(page, 'Objects to send')).toBe(String(NEW));
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 360, height: 740 });
    const isWide = (screen: Element) => screen.scrollWidth > screen.clientWidth;
    await expect.poll(() => page.locator('.screen-page').evaluate(isWide)).toBe(false);
    await page.setViewportSize(size);

    await pushFrom(page);
    await page.getByRole('link', { name: 'Plan', exact: true }).first().click();
    await page.getByText('These are the figures of the last push').waitFor();
    expect(await figureOf(page, 'Missing')).toBe(String(NEW));
    expect(await figureOf(page, 'Requests to find out')).toMatch(/^\d+\s+planned \d+$/);
    expect(await figureOf(page, 'Time to find out')).toMatch(/^[\d.]+ s\s+planned [\d.]+ s$/);
    expect(await figureOf(page, 'Requests in total')).toMatch(/^\d+\s+planned \d+$/);
    expect(await figureOf(page, 'Sent')).toMatch(/^([\d.]+ KiB)\s+planned \1$/);
    expect(await figureOf(page, 'Price')).toBe('Not known');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  longIt('forecasts every request of a push of small files', async () => {
    using dataset = await pushedDataset(started.server, 'packed');
    for (let at = 0; at < 30; at += 1) dataset.sandbox.write(`${WORK}/more/${at}.csv`, `depth\n${at}.5\n`);
    await using window = await open(dataset);
    const { page } = window;
    await page.getByRole('heading', { name: 'Check nothing' }).waitFor();
    expect(await funnelOf(page)).toEqual([30, 0, 30, 0]);
    expect(await figureOf(page, 'Objects to send')).toBe('1');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await pushFrom(page);
    await page.getByRole('link', { name: 'Plan', exact: true }).first().click();
    await page.getByText('These are the figures of the last push').waitFor();
    // Reads the branch; writes a pack, the commit and the branch; confirms the first two.
    expect(await figureOf(page, 'Requests in total')).toMatch(/^6\s+planned 6$/);
    expect(window.complaints).toEqual([]);
  });

  longIt('says when there is nothing to push', async () => {
    using dataset = await pushedDataset(started.server, 'same');
    await using window = await open(dataset);
    await window.page.getByText('there was nothing to plan').waitFor();
    expect(await findViolationsInBothThemes(window.page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });
});

/**
 * Makes a repository with an object for each content, most of them of other clients, and a workspace with
 * files of every kind to push.
 */
async function crowdedDataset(server: S3Server, name: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  // The planned bytes are those of plain content.
  await dataset.init(WORK, { layout: { kind: 'objects' }, compression: 'off' });
  const { sandbox } = dataset;
  const writeAll = (folder: string, count: number, contentOf: (at: number) => string) => {
    for (let at = 0; at < count; at += 1) sandbox.write(`${WORK}/${folder}/${at}.txt`, contentOf(at));
  };
  writeAll('known', KNOWN, (at) => `known ${at}`);
  ageFiles(sandbox.path(WORK));
  await push(dataset.context(WORK), { message: 'First' });
  for (let at = 0; at < OTHERS; at += 1)
    putObject(join(server.dataFolder, server.bucket, name), `of others ${at}`);
  writeAll('copies', KNOWN, (at) => `known ${at}`);
  writeAll('present', PRESENT, (at) => `of others ${at}`);
  writeAll('new', NEW, (at) => `new ${at} `.repeat(100));
  return dataset;
}

/** Writes an object as another client's push would. */
function putObject(repository: string, content: string): void {
  const hash = createHash('sha256').update(content).digest('hex');
  const path = join(repository, 'objects', hash.slice(0, 2), hash.slice(2));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function pushFrom(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'See the changes' }).click();
  await page.getByRole('button', { name: /^Push \d/ }).click();
  await page.getByText('Pushed as commit').waitFor(WAIT);
}

async function funnelOf(page: Page): Promise<number[]> {
  return (await page.locator('.funnel-step strong').allInnerTexts()).map(numberOf);
}

async function figureOf(page: Page, label: string): Promise<string> {
  const figure = page.locator('.figure').filter({ has: page.getByText(label, { exact: true }) });
  return (await figure.getByRole('definition').allInnerTexts()).join(' ');
}

function numberOf(text = ''): number {
  return Number(text.replaceAll(',', ''));
}
