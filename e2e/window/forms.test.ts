/** Forms and messages: Escape, examples, toasts beside buttons, remotes that are edited and undone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: 120_000, interval: 200 };

describe.skipIf(!findChromium())('A form or a message of the window', () => {
  const started = startBrowserAndStore();
  const open = (path: string) =>
    openWindow(started.browser, { environment: started.server.environment, path });

  it('is left by one Escape: the palette closes at once, also with text in it', async () => {
    await using window = await open('/#/home');
    const { page } = window;
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('searchbox', { name: 'Search commands' });
    await field.fill('remo');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await expect.poll(() => field.inputValue(), WAIT).toBe('');
  });

  it('is left by one Escape while a focused button shows its name', async () => {
    await using window = await open('/#/remotes?add=yes');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    const tooltip = page.getByRole('tooltip', { name: 'Close' });
    await dialog.getByLabel('Name').press('Tab');
    await dialog.getByRole('button', { name: 'Close' }).focus();
    await tooltip.waitFor();
    await page.keyboard.press('Escape');
    await tooltip.waitFor({ state: 'detached' });
    await dialog.waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
  });

  longIt('shows no example inside a field, where it looks filled in', async () => {
    await using window = await open('/#/remotes?add=yes');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    for (const kind of ['Bucket', 'Folder', 'Another machine']) {
      await dialog.getByRole('radio', { name: kind, exact: true }).click({ force: true });
      const shown = await dialog
        .locator('input')
        .evaluateAll((all) => all.map((input) => (input as HTMLInputElement).placeholder));
      expect(shown.join('')).toBe('');
      expect(await findViolationsInBothThemes(page)).toEqual([]);
    }
  });

  longIt('tests a remote and blames the endpoint where nothing answers, not the credentials', async () => {
    await using window = await open('/#/remotes?add=yes');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'Add a remote' });
    await dialog.getByLabel('Name').fill('lab');
    await dialog.getByLabel('Bucket').fill(started.server.bucket);
    await dialog.getByLabel('Endpoint (optional)').fill('http://127.0.0.1:9');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    const checks = dialog.getByRole('list', { name: 'Checks' });
    await checks.getByText(/^endpoint/).waitFor();
    await dialog.getByRole('alert').waitFor();
    expect(await checks.getByText(/^credentials/).count()).toBe(0);
  });

  longIt('edits a remote with the same test, and takes a removed one back', async () => {
    await using window = await open('/#/remotes?add=yes');
    const { page } = window;
    const { bucket } = started.server;
    const adding = page.getByRole('dialog', { name: 'Add a remote' });
    await adding.getByLabel('Name').fill('lab');
    await adding.getByLabel('Bucket').fill(bucket);
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    const cardOf = (name: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });

    await cardOf('lab').getByRole('button', { name: 'Edit lab' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit lab' });
    expect(await editing.getByLabel('Bucket').inputValue()).toBe(bucket);
    await editing.getByLabel('Name').fill('office');
    await editing.getByLabel('Folder in it (optional)').fill('a b/raw');
    await editing.getByRole('button', { name: 'Test', exact: true }).click();
    await editing.getByRole('status').filter({ hasText: 'supports everything' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await editing.getByRole('button', { name: 'Save', exact: true }).click();
    await cardOf('office').getByText(`s3://${bucket}/a%20b/raw`).waitFor();
    expect(await cardOf('lab').count()).toBe(0);

    await cardOf('office').getByRole('button', { name: 'Remove office' }).click();
    await page.getByRole('heading', { name: 'No remotes yet' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await cardOf('office').getByText(`s3://${bucket}/a%20b/raw`).waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('never covers a button at the foot of a screen or a dialog, at any size', async () => {
    await using window = await open('/#/home');
    const { page } = window;
    const root = join(window.folder, 'data');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'first');
    await page.getByLabel('Folder with your files').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Folder for the versions').fill(join(window.folder, 'versions'));
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByText('is now a workspace').waitFor();
    const cancelled = 'x'.repeat(60);
    for (const [width, height] of [
      [360, 740],
      [1280, 800],
      [640, 500],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`${window.origin}/#/remotes?add=yes`);
      const dialog = page.getByRole('dialog', { name: 'Add a remote' });
      await dialog.getByRole('radio', { name: 'Folder', exact: true }).click({ force: true });
      await dialog.getByLabel('Name').fill(`lab${width}`);
      await dialog.getByLabel('Folder', { exact: true }).fill(`/tmp/${cancelled}`);
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      const toast = page.getByText(`lab${width} is one of your remotes`);
      await toast.waitFor();
      await page.goto(`${window.origin}/#/changes`);
      const push = page.getByRole('button', { name: /^Push/ });
      await push.waitFor();
      await expect.poll(() => isCovered(push), WAIT).toBe(false);
      await page.goto(`${window.origin}/#/remotes?add=yes`);
      const add = dialog.getByRole('button', { name: 'Add', exact: true });
      await add.waitFor();
      await expect.poll(() => isCovered(add), WAIT).toBe(false);
      await toast.waitFor();
      await page.keyboard.press('Escape');
    }
  });
});

/** Whether something else lies over the middle or a corner of an element, or it is out of the window. */
function isCovered(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const { bottom, left, right, top } = element.getBoundingClientRect();
    const points = [
      [(left + right) / 2, (top + bottom) / 2],
      [left + 3, top + 3],
      [right - 3, bottom - 3],
    ] as const;
    return !points.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
  });
}
