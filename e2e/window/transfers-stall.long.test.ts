/** A transfer that stands still says why, and shows its last requests. */
import { describe, expect, it } from 'vitest';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { startHeldCopy } from './data/held-copy.ts';
import { findChromium } from './find-chromium.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { stateOf, WAIT } from './page/transfer-rows.ts';

describe.skipIf(!findChromium())('A transfer that stands still', () => {
  const slow = startBrowserAndSlowStore();

  it('says since when, which request waits and how often it was repeated, until bytes move again', async () => {
    await using window = await openWindow(slow.browser, {
      environment: slow.store.environment,
      path: '/#/transfers',
    });
    const { page } = window;
    await askEngine(page, 'settings.set', { transfers: 1 });
    const { bytes, row } = await startHeldCopy(slow.store, window, 'still');
    await expect.poll(() => row.textContent(), WAIT).toMatch(/No byte has moved for \d+/);
    await expect
      .poll(() => row.textContent(), WAIT)
      .toMatch(/PUT PART large\.bin has waited for its answer since \d\d:\d\d:\d\d/);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await row.getByRole('button', { name: 'Show the requests' }).click();
    const log = page.getByRole('list', { name: 'Last requests' });
    await log.getByText(/PUT PART large\.bin: no answer yet/).waitFor();
    await log
      .getByText(/PUT PART large\.bin: done after/)
      .first()
      .waitFor();
    expect(await log.textContent()).not.toContain(slow.store.server.environment.AWS_SECRET_ACCESS_KEY);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // Without the network each attempt fails, and is repeated.
    await slow.store.network.cut();
    await expect.poll(() => log.textContent(), WAIT).toMatch(/unreachable after .*\(attempt 2\)/);
    slow.store.gate.release();
    await slow.store.network.restore();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(await row.textContent()).not.toContain('No byte has moved');
    expect(slow.store.read('still/large.bin').equals(bytes)).toBe(true);
    expect(window.complaints).toEqual([]);
  });
});
