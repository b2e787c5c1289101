/** A button that works keeps the focus, so the next key is not lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import type { HostRequestName } from '../../engine/api/host.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { createHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { type HeldRequests, holdRequests } from './hold-request.ts';
import { openBrowse } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('A button that works', () => {
  const started = startBrowserAndStore();

  it('lets Escape close its dialog', async () => {
    await using panes = await openBrowse(started.browser, { server: started.server, bucket: 'focus' });
    const { complaints, left, page, row } = panes;
    const held = await holdRequests(page);
    await left.getByRole('button', { name: 'New folder' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('new');
    await pressHeld(page, held, dialog.getByRole('button', { name: 'Make folder' }), 'browse.makeFolder');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    held.release();
    await row(left, 'new').waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps the focus until it has ended, on Home, in Plan, Changes and History', async () => {
    await using repository = await createHistoryRepository(started.server);
    writeFileSync(join(repository.root, 'more.txt'), 'more');
    await using window = await repository.open(started.browser);
    const { page } = window;
    const held = await holdRequests(page);
    const keeps = async (path: string, name: string, request: HostRequestName) => {
      await page.goto(`${window.origin}/#/${path}`);
      const button = page.getByRole('button', { name });
      await pressHeld(page, held, button, request);
      held.release();
      await expect.poll(() => button.getAttribute('aria-disabled'), WAIT).toBeNull();
      expect(await hasFocus(button), name).toBe(true);
    };
    await keeps('home', 'Check for changes', 'home.look');
    await keeps('plan', 'Refresh', 'plan.push');
    await keeps('changes?direction=push', 'Refresh', 'changes.open');

    await page.goto(`${window.origin}/#/history?do=branch`);
    const form = page.getByRole('dialog', { name: 'New branch' });
    await form.getByLabel('Name of the branch').fill('other');
    await pressHeld(page, held, form.getByRole('button', { name: 'Make the branch' }), 'history.placeRef');
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
  });
});

/** Presses it by the keyboard, and waits until it works on the request, which does not reach the engine. */
async function pressHeld(page: Page, held: HeldRequests, button: Locator, name: HostRequestName) {
  await expect.poll(() => button.isEnabled(), WAIT).toBe(true);
  held.hold(name);
  await button.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => button.isDisabled(), WAIT).toBe(true);
  // A browser takes the focus from a disabled button when it draws the next frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  expect(await hasFocus(button)).toBe(true);
}

function hasFocus(button: Locator): Promise<boolean> {
  return button.evaluate((element) => element === document.activeElement);
}
