/**
 * Remotes as a user manages them: added, tested, imported from other programs with their keys, counted,
 * forgotten.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { writeOtherPrograms } from './data/other-programs.ts';
import { installFakeDesktop, savedKeys } from './fake-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { NO_KEYS, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: 120_000, interval: 200 };

describe.skipIf(!findChromium())('Remotes', () => {
  const started = startBrowserAndStore();

  it('are added by a form that tests them first, and can be forgotten', async () => {
    await using window = await openWindow(started.browser, {
      environment: started.server.environment,
      path: '/#/remotes',
    });
    const { page } = window;
    await page.getByRole('heading', { name: 'No remotes yet' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const door = page.getByRole('button', { name: 'Add remote' });
    await door.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    await expect.poll(() => isFocused(dialog.getByLabel('Name')), WAIT).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => isFocused(door), WAIT).toBe(true);
    await door.press('Enter');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('3 or more characters, no slashes').waitFor();
    await dialog.getByLabel('Name').fill('lab');
    await dialog.getByLabel('Bucket').fill(started.server.bucket);
    // A click beside the dialog does not close it, and the typed text stays.
    await page.mouse.click(8, 8);
    await page.mouse.click(1_200, 700);
    expect(await dialog.getByLabel('Bucket').inputValue()).toBe(started.server.bucket);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await verdictOf(dialog, 'supports everything that Dray needs');
    expect(await dialog.getByRole('list', { name: 'Checks' }).getByRole('listitem').count()).toBe(11);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'lab' }) });
    await card.getByText(`s3://${started.server.bucket}`).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await card.getByRole('button', { name: 'Remove lab' }).click();
    await page.getByRole('heading', { name: 'No remotes yet' }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('with wrong keys or without a connection are reported with a remedy', async () => {
    const wrong = { ...started.server.environment, AWS_SECRET_ACCESS_KEY: 'wrong' };
    await using window = await openWindow(started.browser, { environment: wrong, path: '/#/remotes' });
    const dialog = await openForm(window.page, { name: 'lab', bucket: started.server.bucket });
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.innerText()).toMatch(/secret/i);
    await dialog.getByLabel('Endpoint (optional)').fill('http://127.0.0.1:9');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('127.0.0.1:9').last().waitFor();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.innerText()).toMatch(/cannot be reached|refused/i);
    expect(await findViolationsInBothThemes(window.page)).toEqual([]);
  });

  longIt('are imported from ~/.aws and rclone.conf with their keys, which stay there', async () => {
    const { browser, server } = started;
    await using window = await openWindow(browser, {
      prepare: (home) => writeOtherPrograms(home, server),
      environment: NO_KEYS,
      path: '/#/remotes',
    });
    await runCli(['copy', '.aws/config', `s3://${server.bucket}/kept/one.txt`], {
      cwd: join(window.folder, 'home'),
      environment: server.environment,
    });
    const { page } = window;
    for (const [found, name] of [
      ['lab', 'from-aws'],
      ['my store', 'from-rclone'],
    ] as const) {
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByRole('button', { name: `Use ${found}` }).waitFor();
      expect(await page.content()).not.toContain(started.server.secretAccessKey);
      await page.getByRole('button', { name: `Use ${found}` }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a remote' });
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Bucket').fill(started.server.bucket);
      await dialog.getByLabel('Folder in it (optional)').fill('kept');
      await dialog.getByRole('button', { name: 'Test', exact: true }).click();
      await verdictOf(dialog, 'supports everything that Dray needs');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
      await card.getByRole('button', { name: 'Count its contents' }).click();
      await card.getByText('1 object').waitFor();
    }
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  longIt('list their requests by month after a push', async () => {
    await using window = await openWindow(started.browser, { environment: started.server.environment });
    const { page } = window;
    const root = join(window.folder, 'data');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'first');
    await page.getByLabel('Folder with your files').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Object storage', { exact: true }).click();
    await page.getByLabel('Bucket', { exact: true }).fill(started.server.bucket);
    await page.getByLabel('Folder in it (optional)').fill('months');
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('button', { name: 'Push', exact: true }).click();
    // The window opens Transfers by itself once the push has begun.
    await page.getByRole('heading', { name: 'Transfers', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Remotes' }).click();
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'months' }) });
    const cells = () => row.getByRole('cell').allInnerTexts();
    await expect.poll(async () => (await cells())[0], WAIT).toBe('1');
    const [, requests, sent, received, cost] = await cells();
    expect(Number(requests)).toBeGreaterThan(3);
    expect([sent, received, cost].every((text) => /\d/.test(text ?? ''))).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });

  longIt('take typed keys in the desktop app, and test them before storing them', async () => {
    await using window = await openWindow(started.browser, { environment: NO_KEYS });
    const { context, origin } = window;
    const page = await context.newPage();
    await installFakeDesktop(page, window.page);
    await page.goto(`${origin}/#/remotes`);
    const dialog = await openForm(page, { name: 'lab', bucket: started.server.bucket });
    await dialog.getByLabel('Endpoint (optional)').fill(started.server.endpoint);
    await dialog.getByRole('button', { name: /Keys/ }).click();
    await page.getByRole('option', { name: 'An access key' }).click();
    await dialog.getByRole('textbox', { name: 'Access key' }).fill(started.server.accessKeyId);
    await dialog.getByLabel('Secret key', { exact: true }).fill('wrong');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Secret key', { exact: true }).fill(started.server.secretAccessKey);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await verdictOf(dialog, 'supports everything that Dray needs');
    expect(await savedKeys(page)).toEqual({});
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('profile lab').waitFor();
    const keys = { accessKeyId: started.server.accessKeyId, secretAccessKey: started.server.secretAccessKey };
    expect(await savedKeys(page)).toEqual({ lab: keys });
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Remove: Keys of lab' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await page.getByRole('link', { name: 'Remotes' }).click();
    await page.getByRole('button', { name: 'Remove lab' }).click();
    await expect.poll(() => savedKeys(page), WAIT).toEqual({});
  });
});

async function openForm(
  page: Page,
  { bucket, name }: { readonly name: string; readonly bucket: string },
): Promise<Locator> {
  await page.getByRole('button', { name: 'Add remote' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a remote' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Bucket').fill(bucket);
  return dialog;
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

async function verdictOf(dialog: Locator, words: string): Promise<void> {
  await dialog.getByRole('status').filter({ hasText: words }).waitFor();
}
