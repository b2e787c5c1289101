/**
 * A remote that goes away during a transfer and comes back: what the Transfers screen says, and that the data
 * is correct.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { HELD_COPY_PARTS, startHeldCopy } from './data/held-copy.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { stateOf, WAIT } from './page/transfer-rows.ts';

describe.skipIf(!findChromium())('A remote that goes away during a transfer', () => {
  const slow = startBrowserAndSlowStore();

  const open = async (more: Readonly<Record<string, string>> = {}) => {
    // Connects directly to the bad network: a counter before it would accept bytes that it cannot pass on.
    const environment = { ...slow.store.environment, AWS_ENDPOINT_URL: slow.store.network.endpoint, ...more };
    const window = await openWindow(slow.browser, { environment, path: '/#/transfers' });
    await askEngine(window.page, 'settings.set', { transfers: 2 });
    return window;
  };

  afterEach(() => comeBack());

  const comeBack = async () => {
    slow.store.gate.release();
    await slow.store.network.restore();
  };

  it('is awaited visibly, and the transfer ends by itself once it is back', async () => {
    await using window = await open();
    const { bytes, row } = await startHeldCopy(slow.store, window, 'back-soon');
    await slow.store.network.cut();
    await row.getByText('Trying again. Files that have arrived stay.').waitFor();
    expect(await findViolationsInBothThemes(window.page)).toEqual([]);
    await comeBack();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(slow.store.read('back-soon/large.bin').equals(bytes)).toBe(true);
    expect(await row.textContent()).not.toContain('Trying again');
    expect(window.complaints).toEqual([]);
  });

  it('makes the transfer fail when it stays away, and Retry resumes the transfer', async () => {
    await using window = await open(SHORT_PAUSES);
    const { bytes, row } = await startHeldCopy(slow.store, window, 'back-late');
    await slow.store.network.cut();
    await expect.poll(stateOf(row), { ...WAIT, timeout: 300_000 }).toBe('Failed');
    const said = await row.getByRole('alert').textContent();
    expect(said).toContain('Files that have arrived stay. Try again when the remote can be reached');
    expect(await slow.store.answered('UploadPart')).toBe(1);
    await comeBack();
    await row.getByRole('button', { name: 'Retry', exact: true }).click();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(slow.store.read('back-late/large.bin').equals(bytes)).toBe(true);
    expect(await slow.store.answered('UploadPart')).toBe(HELD_COPY_PARTS);
    expect(window.complaints).toEqual([]);
  });
});
