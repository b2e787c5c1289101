/** Settings as a user changes them: each takes effect, and survives a restart of `dray ui`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { isUpload, startRequestGate } from '../servers/request-gate.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow, type Theme } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: 120_000, interval: 200 };
const SETTINGS = { path: '/#/settings' };

describe.skipIf(!findChromium())('Settings', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('take effect at once and survive a restart', async () => {
    using kept = keptFolder();
    {
      await using window = await openWindow(browser, { ...kept, ...SETTINGS });
      const { page } = window;
      await page.getByRole('heading', { name: 'Updates' }).waitFor();
      await expectTheme(page, 'light');
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectTheme(page, 'dark');
      await page.getByRole('radio', { name: 'Light' }).click();
      await expectTheme(page, 'light');
      await page.getByRole('radio', { name: 'System' }).click();
      await expectTheme(page, 'dark');

      await page.getByRole('radio', { name: 'At some hours' }).click();
      await fillAndLeave(page, 'From', '25:00');
      await page.getByText('As 08:00.').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await fillAtOnce(page, { From: '22:15', To: '6:30' });
      await page.getByRole('img', { name: 'Limited from 22:15 to 06:30' }).waitFor();
      await fillAndLeave(page, 'At most', '2.5');
      await page.getByRole('radio', { name: 'Fixed' }).click();
      await fillAndLeave(page, 'At once', '7');
      await page.getByText('Notify me').click();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await page.getByRole('radio', { name: 'Dark' }).click();
      await expectTheme(page, 'dark');
      await expect.poll(() => valuesOf(page), WAIT).toEqual(['2.5', '22:15', '06:30', '7']);
      expect(window.complaints).toEqual([]);
    }
    await using window = await openWindow(browser, { ...kept, ...SETTINGS });
    const { page } = window;
    await expect.poll(() => valuesOf(page), WAIT).toEqual(['2.5', '22:15', '06:30', '7']);
    await expectTheme(page, 'dark');
    expect(await page.getByRole('switch', { name: 'Notify me' }).isChecked()).toBe(false);
    await page.getByRole('radio', { name: 'No limit' }).click();
    await page.getByRole('radio', { name: 'Adaptive' }).click();
    await expect.poll(() => valuesOf(page), WAIT).toEqual([]);
  });

  longIt('limit the requests that the next transfer has in flight', async () => {
    await using server = await startVersitygw();
    await using gate = await startRequestGate(server.endpoint);
    const environment = { ...server.environment, AWS_ENDPOINT_URL: gate.endpoint } as Record<string, string>;
    await using window = await openWindow(browser, { environment, ...SETTINGS });
    const { folder, page } = window;
    const root = join(folder, 'data');
    mkdirSync(root);
    const cli = (...parameters: string[]) =>
      runCli(parameters, { cwd: root, environment: { ...environment, HOME: join(folder, 'home') } });
    await cli('init', '--remote', `s3://${server.bucket}/fixed`);
    await page.getByRole('radio', { name: 'Fixed' }).click();
    await fillAndLeave(page, 'At once', '2');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByLabel('Folder with your files').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();

    writeLargeFiles(root, 'first');
    gate.hold(isUpload);
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    await expect.poll(gate.held, WAIT).toBe(2);
    gate.release();
    await waitUntilDone(page, 1);
    expect(gate.mostInFlight()).toBe(2);

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('radio', { name: 'Adaptive' }).click();
    await expect.poll(() => valuesOf(page), WAIT).toEqual([]);
    writeLargeFiles(root, 'second');
    gate.hold(isUpload);
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByRole('button', { name: /^Push/ }).click();
    await expect.poll(gate.held, WAIT).toBeGreaterThan(2);
    gate.release();
    await waitUntilDone(page, 2);
  });

  longIt('ask a browser for permission, and announce a failed transfer in the background', async () => {
    await using window = await openWindow(browser, { path: '/#/home' });
    const { context, folder, origin } = window;
    const page = await context.newPage();
    await page.addInitScript(() => {
      const shown: string[] = [];
      class FakeNotification extends EventTarget {
        static permission = 'default';
        static async requestPermission() {
          FakeNotification.permission = 'granted';
          return 'granted';
        }
        constructor(title: string) {
          super();
          shown.push(title);
        }
      }
      Object.assign(globalThis, { Notification: FakeNotification, shown });
      document.hasFocus = () => false;
    });
    const shown = () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    await page.goto(`${origin}/#/settings`);
    await page.getByText('This browser needs your permission').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('This browser shows them').waitFor();

    const root = join(folder, 'data');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'a');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByLabel('Folder with your files').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Folder for the versions').fill(join(folder, 'versions'));
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
    rmSync(join(folder, 'versions'), { recursive: true });
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    await expect.poll(shown, WAIT).toEqual(['Failed: Push data']);
  });
});

function keptFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'dray-window-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

async function expectTheme(page: Page, theme: Theme): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme), WAIT).toBe(theme);
}

/** The values of all text fields, in order. */
function valuesOf(page: Page): Promise<readonly string[]> {
  return page
    .getByRole('textbox')
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));
}

async function fillAndLeave(page: Page, label: string, value: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await field.fill(value);
  await field.press('Enter');
}

/** Before the page can draw anything in between. */
async function fillAtOnce(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  const fields = await Promise.all(
    Object.entries(values).map(
      async ([label, value]) =>
        [await page.getByLabel(label, { exact: true }).elementHandle(), value] as const,
    ),
  );
  await page.evaluate((all) => {
    for (const [field, value] of all) {
      // React replaces the setter of its fields, and takes no value that it has set itself.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, value);
      field?.dispatchEvent(new Event('input', { bubbles: true }));
      field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    }
  }, fields);
}

/** Writes 12 files of 3 MiB, each of which becomes an object. */
function writeLargeFiles(root: string, name: string): void {
  for (let count = 0; count < 12; count += 1)
    writeFileSync(join(root, `${name}-${count}.bin`), Buffer.alloc(3 * 1024 ** 2, `${name} ${count} `));
}

async function waitUntilDone(page: Page, count: number): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/#/transfers`);
  await expect
    .poll(async () => (await page.locator('main').innerText()).match(/\bDone\b/g)?.length, WAIT)
    .toBe(count);
}
