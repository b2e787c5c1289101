/** The Transfers screen over a real store behind a slow network: pause, resume, cancel, retry, reorder. */
import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { isPart, isUpload } from '../servers/request-gate.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf, WAIT, writeLarge } from './page/transfer-rows.ts';

const MIB = 1024 * 1024;

describe.skipIf(!findChromium())('The queue of transfers', () => {
  const slow = startBrowserAndSlowStore();
  let window: OpenWindow;
  let page: Page;
  let place: string;

  beforeAll(async () => {
    window = await openWindow(slow.browser, { environment: slow.store.environment, path: '/#/transfers' });
    page = window.page;
    place = `s3://${slow.store.server.bucket}/`;
    // Few requests are in flight when it is paused.
    await askEngine(page, 'settings.set', { transfers: 2 });
  });
  afterAll(() => window?.[Symbol.asyncDispose]());

  const folder = (name: string, sizeBytes: number) => writeLarge(window.folder, name, sizeBytes);
  const copy = (source: string, to: string) =>
    askEngine(page, 'transfers.start', { kind: 'copy', source, destination: `${place}${to}/` });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  afterEach(async () => {
    slow.store.gate.release();
    await askEngine(page, 'transfers.change', { ids: 'all', action: 'cancel' });
    await askEngine(page, 'transfers.change', { ids: 'all', action: 'remove' });
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    await slow.store.server.resetRequests();
  });

  it('says that nothing moves when it is empty', async () => {
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });

  it('pauses without further requests, and resumes from the finished parts', async () => {
    const { bytes, source } = folder('paused', 40 * MIB);
    slow.store.gate.hold(isPart, 2);
    const sentBefore = slow.store.counter.sentBytes();
    // The page looks for itself: a transfer that is held shows no rate for long.
    const rate = page.waitForFunction(() => /of 40\.0 MiB.*MiB\/s/.test(document.body.textContent ?? ''));
    await copy(source, 'paused');
    const row = rowOf(page, 'Copy paused');
    await expect.poll(() => slow.store.answered('UploadPart'), WAIT).toBe(2);
    await expect.poll(() => slow.store.gate.held(), WAIT).toBe(2);
    await rate;
    await press('Pause Copy paused');
    await expect.poll(stateOf(row), WAIT).toBe('Paused');
    // The requests in flight end.
    await expect.poll(() => slow.store.gate.held(), WAIT).toBe(0);
    slow.store.gate.release();
    const answered = async () => (await slow.store.server.requests()).length;
    const before = await answered();
    await page.reload();
    await expect.poll(stateOf(row), WAIT).toBe('Paused');
    expect(await answered()).toBe(before);
    expect(await slow.store.uploads()).toContain('large.bin');

    await press('Resume Copy paused');
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(slow.store.read('paused/large.bin').equals(bytes)).toBe(true);
    expect(slow.store.counter.sentBytes() - sentBefore).toBeLessThan(1.5 * bytes.length);
    expect(await slow.store.answered('UploadPart')).toBe(5);
    expect(await slow.store.uploads()).not.toContain('large.bin');
  });

  longIt('cancels a running or paused upload and leaves no parts in the store', async () => {
    for (const isPaused of [false, true]) {
      await slow.store.server.resetRequests();
      const name = isPaused ? 'cancelled-paused' : 'cancelled';
      slow.store.gate.hold(isPart, 1);
      await copy(folder(name, 24 * MIB).source, name);
      const row = rowOf(page, `Copy ${name}`);
      await expect.poll(() => slow.store.answered('UploadPart'), WAIT).toBe(1);
      if (isPaused) {
        await press(`Pause Copy ${name}`);
        await expect.poll(stateOf(row), WAIT).toBe('Paused');
        await press(`Cancel Copy ${name}`);
      } else {
        await press('Cancel all');
        await page.getByRole('button', { name: 'Cancel 1 transfer' }).click();
      }
      await expect.poll(stateOf(row), WAIT).toBe('Cancelled');
      await expect.poll(() => slow.store.uploads(), WAIT).not.toContain('large.bin');
    }
  });

  longIt('runs a transfer that was moved up before older ones', async () => {
    slow.store.gate.hold(isUpload);
    for (const name of ['one', 'two', 'three', 'four']) await copy(folder(name, 1 * MIB).source, name);
    const titles = () => page.locator('[aria-label="Queue"] .transfer-title').allTextContents();
    await expect.poll(titles, WAIT).toHaveLength(4);
    await expect.poll(stateOf(rowOf(page, 'Copy two')), WAIT).toBe('Uploading');
    await expect.poll(stateOf(rowOf(page, 'Copy four')), WAIT).toBe('Waiting');
    expect(await rowOf(page, 'Copy four').textContent()).toContain('2 transfers run at once');
    await page.getByRole('row', { name: 'Copy one' }).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Alt+ArrowUp']) await page.keyboard.press(key);
    const order = async () => (await titles()).map((title) => title.split(' ')[1]);
    await expect.poll(order, WAIT).toEqual(['one', 'two', 'four', 'three']);
    // Does the same by mouse, there and back.
    const drag = async (name: string, onto: string, expected: readonly string[]) => {
      await page
        .locator('.transfer-item', { has: rowOf(page, `Copy ${name}`) })
        .dragTo(page.locator('.transfer-item', { has: rowOf(page, `Copy ${onto}`) }), {
          sourcePosition: { x: 20, y: 30 },
          targetPosition: { x: 200, y: 2 },
        });
      await expect.poll(order, WAIT).toEqual(expected);
    };
    await drag('three', 'four', ['one', 'two', 'three', 'four']);
    await drag('four', 'three', ['one', 'two', 'four', 'three']);
    await press('Cancel Copy one');
    await expect.poll(stateOf(rowOf(page, 'Copy four')), WAIT).toBe('Uploading');
    await expect.poll(stateOf(rowOf(page, 'Copy three')), WAIT).toBe('Waiting');
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await press('Pause all');
    await expect.poll(() => page.locator('.transfer.is-paused').count(), WAIT).toBe(3);
    slow.store.gate.release();
    await press('Resume all');
    await expect.poll(() => page.locator('[aria-label="Queue"]').count(), WAIT).toBe(0);
    for (const name of ['two', 'three', 'four'])
      await expect.poll(stateOf(rowOf(page, `Copy ${name}`)), WAIT).toBe('Done');
  });

  it('says how to repair a failed transfer, and runs it again on demand', async () => {
    // Its body arrives with its head. The server answers a larger one unread, and may then break off.
    const { source, bytes } = folder('retried', 1_000);
    const destination = 's3://made-later/retried/';
    await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
    const row = rowOf(page, 'Copy retried');
    await expect.poll(stateOf(row), WAIT).toBe('Failed');
    const said = await row.getByRole('alert').textContent();
    expect(said).toContain('made-later');
    expect(said).toContain('Check the address of the remote.');
    expect(await row.getByRole('link', { name: 'Open Remotes' }).getAttribute('href')).toBe('#/remotes');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await slow.store.server.createBucket('made-later');
    await row.getByRole('button', { name: 'Retry', exact: true }).click();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    const { bytes: arrived } = await askEngine(page, 'browse.size', { place: destination });
    expect(arrived).toBe(bytes.length);
  });

  it('keeps ended transfers until the list is cleared', async () => {
    await copy(folder('small', 10).source, 'small');
    await expect.poll(stateOf(rowOf(page, 'Copy small')), WAIT).toBe('Done');
    await press('Clear the list');
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    expect(window.complaints).toEqual([]);
  });
});
