/**
 * Every screen at the widths of a phone, half a laptop, a tablet and a large monitor, and at 200 % zoom.
 * Nothing is wider than the window, the primary action is in sight, and names keep enough room to be read.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { PLAYED_JOB, PLAYED_SERVER, playFleet } from './data/played-fleet.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, type OpenWindow } from './open-window.ts';
import { openWorkspace } from './window-workspace.ts';

/** Browsers zoom by giving the page fewer pixels: 200 % of 1280 by 800 is the last one. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 640, height: 720 },
  { width: 1024, height: 768 },
  { width: 1920, height: 1080 },
  { width: 640, height: 400 },
] as const;

/** The narrowest one leaves the least room. */
const TRIED = runBudget<readonly (typeof SIZES)[number][]>({
  short: SIZES.slice(0, 1),
  long: SIZES,
});

/** A name that is cut keeps at least this much of itself, and a field shows at least this much. */
const NAME_PX_MIN = 88;
const FIELD_PX_MIN = 120;
/** The share of an icon that its count may cover. */
const COVERED_MAX = 0.2;

const SCREENS: readonly { readonly at: string; readonly shows: string; readonly action: RegExp }[] = [
  { at: 'home', shows: 'Home', action: /^Push/ },
  { at: 'changes?direction=push', shows: 'Changes', action: /^Push \d/ },
  { at: 'changes?direction=pull', shows: 'Changes', action: /^Pull \d/ },
  { at: 'plan', shows: 'Plan', action: /./ },
  { at: 'transfers', shows: 'Transfers', action: /^Pause all/ },
  { at: 'jobs', shows: 'Jobs', action: /^New job/ },
  { at: 'fleet', shows: 'Fleets', action: /^Add a server/ },
  { at: `fleet?job=${PLAYED_JOB}`, shows: 'Fleets', action: /^Pause/ },
  { at: 'history', shows: 'History', action: /./ },
  { at: 'browse', shows: 'Browse', action: /^Copy/ },
  { at: 'repositories', shows: 'Repositories', action: /./ },
  { at: 'remotes', shows: 'Remotes', action: /^Add remote/ },
  { at: 'settings', shows: 'Settings', action: /./ },
];

describe.skipIf(!findChromium())('A narrow window', () => {
  let browser: Browser;
  let sandbox: Sandbox;
  let window: OpenWindow;
  beforeAll(async () => {
    browser = await launchBrowser();
    sandbox = createSandbox();
    const root = sandbox.path('measurements of the second campaign');
    const folder = join(root, 'raw data of the northern station', '2026-01');
    mkdirSync(folder, { recursive: true });
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: root, environment: {} });
    for (let count = 0; count < 30; count += 1)
      writeFileSync(join(folder, `temperature and humidity of day ${count}.csv`), `row ${count}`);
    await dray('init', '--remote', sandbox.path('versions'));
    await dray('push', '-m', 'The first campaign, with all stations of the north and the south');
    const theirs = sandbox.path('campaign of the other laboratory');
    await runCli(['clone', sandbox.path('versions'), theirs], { cwd: sandbox.folder, environment: {} });
    const theirFolder = join(theirs, 'raw data of the northern station', '2026-01');
    writeFileSync(join(theirFolder, 'temperature and humidity of day 3.csv'), 'changed there');
    writeFileSync(join(theirFolder, 'temperature and humidity of day 4.csv'), 'changed there');
    rmSync(join(theirFolder, 'temperature and humidity of day 5.csv'));
    await runCli(['push', '-m', 'Corrections of the other laboratory'], { cwd: theirs, environment: {} });
    writeFileSync(join(folder, 'temperature and humidity of day 3.csv'), 'changed');
    writeFileSync(join(folder, 'a new file with a long and detailed name.csv'), 'new');
    window = await openWorkspace(browser, { root, screen: '#/home' });
    const { page } = window;
    await askEngine(page, 'fleet.keepServer', { server: PLAYED_SERVER });
    await playFleet(page, Date.now(), ['laboratory-workstation-north', 'laboratory-workstation-south']);
    await page.reload();
    // Every row of the pull shows its choices.
    const look = { filter: '', kinds: [], sort: 'path', isTree: false, open: [] } as const;
    await askEngine(page, 'changes.keep', { root, direction: 'pull', look });
    await askEngine(page, 'remotes.add', { name: 'laboratory-archive', url: sandbox.path('archive') });
    await askEngine(page, 'transfers.start', {
      kind: 'copy',
      source: folder,
      destination: sandbox.path('archive', 'copies of everything that was measured'),
    });
    const requests = {
      ...{ reads: 12_345, writes: 67_890, lists: 1_234, deletes: 0, total: 81_469 },
      ...{ sentBytes: 123_456_789_012, receivedBytes: 987_654_321_098, dollars: 123.45 },
    };
    const place = 's3://archive-of-the-laboratory/copies of everything that was measured';
    const usage = { months: [{ month: '2026-01', place, transfers: 1_234, requests }] };
    writeFileSync(join(window.folder, 'home', '.config', 'dray', 'usage.json'), JSON.stringify(usage));
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
    await browser?.close();
  });

  it.each(TRIED)(
    'of $width by $height px needs no sideways scrolling, and shows each action',
    async (size) => {
      const { page } = window;
      await page.setViewportSize(size);
      const found: string[] = [];
      for (const { action, at, shows } of SCREENS) {
        await page.goto(`${window.origin}/#/${at}`);
        await page.getByRole('heading', { level: 1, name: shows }).waitFor();
        await page.getByRole('main').getByRole('button').first().waitFor();
        if (at.startsWith('changes'))
          await page.locator('.change-name').first().waitFor({ state: 'attached' });
        if (at.endsWith('pull')) await page.getByText('day 5.csv').first().waitFor();
        if (at.includes('job=')) await page.getByRole('listbox', { name: 'Ranges' }).waitFor();
        if (at === 'remotes') await page.getByText('1,234').waitFor();
        await page.evaluate(
          () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
        );
        if (at.endsWith('pull')) {
          expect(await rowsInSight(page), `${size.width} by ${size.height}`).toBeGreaterThan(1);
          expect(await nameInSight(page, 'day 5.csv')).toBe(true);
        }
        const faults = await faultsOf(page, action);
        found.push(...faults.map((fault) => `${at}: ${fault}`));
      }
      expect(found).toEqual([]);
      expect(window.complaints).toEqual([]);
    },
  );

  it.each(TRIED)('of $width by $height px shows the steps to a first push whole', async (size) => {
    const { page } = window;
    await page.setViewportSize(size);
    await page.goto(`${window.origin}/#/home?add=yes`);
    await page.reload();
    await page.getByRole('radio', { name: /^My files/ }).waitFor();
    const found = [...(await faultsOf(page, /^My files/))];
    await page.getByLabel('Folder with your files').fill(window.folder);
    await page.getByRole('button', { name: 'Next' }).click();
    for (const kind of [/^Object storage/, /^An address/, /^A folder/]) {
      const radio = page.getByRole('radio', { name: kind });
      await radio.click({ force: true });
      await expect.poll(() => radio.isChecked()).toBe(true);
      await page.getByRole('button', { name: 'Set up' }).scrollIntoViewIfNeeded();
      found.push(...(await faultsOf(page, /^Set up/)));
    }
    expect(found).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it.each(TRIED)('of $width by $height px shows a repository in Browse whole', async (size) => {
    const { page } = window;
    await page.setViewportSize(size);
    const place = encodeURIComponent(sandbox.path('versions'));
    await page.goto(`${window.origin}/#/browse?place=${place}`);
    await page.getByRole('button', { name: 'Show the stored objects' }).scrollIntoViewIfNeeded();
    expect(await faultsOf(page, /^Show the stored objects/)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it.each(TRIED)('of $width by $height px shows a dialog whole, with its buttons', async (size) => {
    const { page } = window;
    await page.setViewportSize(size);
    await page.goto(`${window.origin}/#/remotes?add=yes`);
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    const found: string[] = [];
    for (const kind of ['Bucket', 'Folder', 'Another machine']) {
      const radio = dialog.getByRole('radio', { name: kind, exact: true });
      await radio.click({ force: true });
      await expect.poll(() => radio.isChecked()).toBe(true);
      const faults = await faultsOf(page, /^Add$/);
      found.push(...faults.map((fault) => `${kind}: ${fault}`));
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(found).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it.each(TRIED)('of $width by $height px keeps a long name of a branch within its badge', async (size) => {
    const { page } = window;
    const name = 'corrections_of_the_northern_station_by_the_other_laboratory';
    const cwd = sandbox.path('measurements of the second campaign');
    await runCli(['branch', name], { cwd, environment: {} });
    await page.setViewportSize(size);
    await page.goto(`${window.origin}/#/history`);
    await page.reload();
    await page.locator('.ref', { hasText: name }).first().waitFor();
    const parts = page.locator('.ref, .commit-list, .commit-panel, .history, .screen-full');
    const wide = await parts.evaluateAll((all) =>
      all.filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.className),
    );
    expect(wide).toEqual([]);
  });
});

/** Rows of the list whose middle is not under anything else. */
function rowsInSight(page: Page): Promise<number> {
  return page.locator('.change-row').evaluateAll((rows) => {
    const isInSight = (row: Element) => {
      const { bottom, left, right, top } = row.getBoundingClientRect();
      return row.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
    };
    return rows.filter(isInSight).length;
  });
}

/** Whether the end of a path has room in its row. */
function nameInSight(page: Page, end: string): Promise<boolean> {
  return page.locator(`.change-name[title$="${end}"]`).evaluate((name, length) => {
    const file = document.createRange();
    const text = name.querySelector('bdi')!.lastChild as Text;
    file.setStart(text, text.length - length);
    file.setEnd(text, text.length);
    const shown = file.getBoundingClientRect();
    const room = name.getBoundingClientRect();
    return shown.left >= room.left && shown.right <= room.right + 1;
  }, end.length);
}

interface Looked {
  /** The source of a pattern for the name of the primary action. */
  readonly action: string;
  readonly nameMin: number;
  readonly fieldMin: number;
  readonly coveredMax: number;
}

/** The parts that are cut off or out of sight, one line each. */
function faultsOf(page: Page, action: RegExp): Promise<readonly string[]> {
  const looked: Looked = {
    action: action.source,
    nameMin: NAME_PX_MIN,
    fieldMin: FIELD_PX_MIN,
    coveredMax: COVERED_MAX,
  };
  return page.evaluate(({ action, coveredMax, fieldMin, nameMin }) => {
    const faults: string[] = [];
    const { innerHeight, innerWidth } = globalThis;
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.className} ${(element.textContent ?? '').slice(0, 30)}`;
    const isSeen = (element: Element) => {
      const { height, width } = element.getBoundingClientRect();
      return (
        width > 1 &&
        height > 1 &&
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      );
    };
    if (document.documentElement.scrollWidth > innerWidth) faults.push('the page is wider than the window');
    for (const element of document.querySelectorAll('#window *, [role=dialog] *')) {
      if (!isSeen(element)) continue;
      const style = getComputedStyle(element);
      const isWide = element.scrollWidth > element.clientWidth + 1;
      if (isWide && ['auto', 'scroll'].includes(style.overflowX))
        faults.push(`scrolls sideways: ${nameOf(element)}`);
      if (isWide && style.overflowX === 'visible' && element.matches('label, button, .card'))
        faults.push(`wider than its box: ${nameOf(element)}`);
      if (isWide && style.textOverflow === 'ellipsis' && element.clientWidth < nameMin)
        faults.push(`cut at ${element.clientWidth} px: ${nameOf(element)}`);
      if (!element.matches('button, a, input, select, textarea, th, td')) continue;
      // The kit keeps a list of the browser's own beside each of its lists, clipped to one pixel.
      if (element.closest('[aria-hidden=true]')) continue;
      const { left, right } = element.getBoundingClientRect();
      if (left < -1 || right > innerWidth + 1) faults.push(`out of the window: ${nameOf(element)}`);
    }
    for (const field of document.querySelectorAll('main input:not([type]), main input[type=text]'))
      if (isSeen(field) && field.clientWidth < fieldMin)
        faults.push(`a field of ${field.clientWidth} px: ${field.getAttribute('placeholder')}`);
    for (const count of document.querySelectorAll('.rail-count')) {
      const [over, icon] = [count, count.parentElement!.querySelector('svg')!].map((element) =>
        element.getBoundingClientRect(),
      ) as [DOMRect, DOMRect];
      const shared = (low: number, high: number) => Math.max(0, high - low);
      const covered =
        shared(Math.max(over.left, icon.left), Math.min(over.right, icon.right)) *
        shared(Math.max(over.top, icon.top), Math.min(over.bottom, icon.bottom));
      const share = covered / (icon.width * icon.height);
      if (share > coveredMax)
        faults.push(
          `a count covers ${Math.round(share * 100)} % of the icon of ${nameOf(count.parentElement!)}`,
        );
    }
    const pattern = new RegExp(action);
    const isInside = (element: Element) => {
      const { bottom, left, right, top } = element.getBoundingClientRect();
      const middle = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return top >= 0 && bottom <= innerHeight + 1 && right <= innerWidth + 1 && element.contains(middle);
    };
    const actions = [...document.querySelectorAll('main button, main a.button, [role=dialog] button')].filter(
      (element) =>
        isSeen(element) &&
        pattern.test((element.getAttribute('aria-label') ?? element.textContent ?? '').trim()),
    );
    if (!actions.some(isInside)) faults.push(`no ${action} in sight among ${actions.length}`);
    return [...new Set(faults)];
  }, looked);
}
