/** Events of the engine do not close open details, move the keyboard focus, or change the workspace. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore, startBrowserAndStore } from './browser-and-store.ts';
import { changeDataset, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf, writeLarge } from './page/transfer-rows.ts';
import { WAIT } from './window-workspace.ts';

const MIB = 1024 * 1024;
/** At which no transfer ends during a test. */
const CRAWL_KIB_PER_SECOND = 8;

describe.skipIf(!findChromium())('A transfer that ends', () => {
  const slow = startBrowserAndSlowStore();

  it('keeps its details open and the keyboard in them, though it moves to another list', async () => {
    await using window = await openWindow(slow.browser, {
      environment: slow.store.environment,
      path: '/#/transfers',
    });
    const { page } = window;
    await slow.store.network.setBandwidth(CRAWL_KIB_PER_SECOND);
    const { source } = writeLarge(window.folder, 'watched', 16 * MIB);
    const destination = `s3://${slow.store.server.bucket}/watched/`;
    const { id } = await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
    const row = rowOf(page, 'Copy watched');
    const details = page.getByRole('button', { name: 'Details of Copy watched' });
    await details.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => details.getAttribute('aria-expanded'), WAIT).toBe('true');
    await askEngine(page, 'transfers.change', { ids: [id], action: 'cancel' });
    await slow.store.network.setBandwidth(0);
    await expect.poll(stateOf(row), WAIT).toBe('Cancelled');
    await page.getByRole('list', { name: 'Ended transfers' }).waitFor();
    expect(await details.getAttribute('aria-expanded')).toBe('true');
    expect(await details.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(window.complaints).toEqual([]);
  });
});

describe.skipIf(!findChromium())('An answer of the engine', () => {
  const started = startBrowserAndStore();

  longIt('leaves the keyboard in the field that it is about', async () => {
    await using window = await openWindow(started.browser, { path: '/#/settings' });
    const { page } = window;
    await page.getByRole('radio', { name: 'Fixed' }).click();
    await page.getByRole('radio', { name: 'At some hours' }).click();
    for (const [label, value] of [
      ['At once', '24'],
      ['At most', '25'],
      ['From', '09:30'],
    ] as const) {
      const field = page.getByLabel(label, { exact: true });
      await field.fill(value);
      await field.press('Enter');
      await expect
        .poll(async () => JSON.stringify(await askEngine(page, 'settings.get', {})), WAIT)
        .toContain(label === 'At most' ? String(25 * MIB) : value);
      expect(await field.evaluate((input) => input === document.activeElement), label).toBe(true);
      expect(await field.inputValue()).toBe(value);
    }
    // A setting of another window shows here.
    await askEngine(page, 'settings.set', { transfers: 32 });
    await page.getByRole('link', { name: 'Home' }).first().click();
    await page.getByRole('link', { name: 'Settings' }).first().click();
    await expect.poll(() => page.getByLabel('At once', { exact: true }).inputValue(), WAIT).toBe('32');
    expect(window.complaints).toEqual([]);
  });

  it('never puts another workspace under the pointer when the folder of the chosen one is away', async () => {
    using dataset = await pushedDataset(started.server, 'away');
    changeDataset(dataset);
    const root = dataset.sandbox.path(WORK);
    const other = dataset.sandbox.path('other');
    mkdirSync(other);
    writeFileSync(join(other, 'private.txt'), 'never meant for this remote');
    const prepare = (home: string) => {
      const settings = join(home, '.config', 'dray');
      mkdirSync(settings, { recursive: true });
      writeFileSync(join(settings, 'window.json'), JSON.stringify({ workspaces: [root, other] }));
    };
    await dataset.init('other');
    await using window = await openWindow(started.browser, {
      environment: started.server.environment,
      prepare,
      path: '/#/home',
    });
    const { page } = window;
    await page.goto(`${window.origin}/#/changes?workspace=${encodeURIComponent(root)}`);
    await page.getByRole('button', { name: /^Push \d+ changes$/ }).waitFor();
    // As a disk that is pulled out.
    renameSync(root, `${root}-away`);
    await page.getByRole('link', { name: 'Home' }).first().click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('link', { name: 'Changes' }).first().click();
    await page.getByRole('heading', { name: `${WORK} is not there` }).waitFor();
    expect(await page.getByRole('button', { name: /^Push / }).count()).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    renameSync(`${root}-away`, root);
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('button', { name: /^Push \d+ changes$/ }).waitFor();
    rmSync(other, { recursive: true });
    expect(window.complaints).toEqual([]);
  });
});
