/**
 * A transfer queue that the engine cannot open: the screen says why, and shows the queue as soon as that is
 * repaired.
 */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

it.skipIf(!findChromium())('a queue that cannot be opened is reported, and appears once it can', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dray-stuck-'));
  const browser = await launchBrowser();
  try {
    const inTheWay = join(folder, 'home', '.config', 'dray', 'transfers.json');
    mkdirSync(inTheWay, { recursive: true });
    await using window = await openWindow(browser, { folder, path: '/#/transfers' });
    const { page } = window;
    const alert = page.getByRole('alert');
    await alert.getByText('Cannot open the queue').waitFor();
    expect(await alert.textContent()).toContain(`${inTheWay} cannot be read.`);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    rmdirSync(inTheWay);
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    expect(await alert.count()).toBe(0);
    expect(window.complaints).toEqual([]);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
