/** A transfer survives a reload of the page, a kill of `dray ui`, and a crash of the engine's thread. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { isPart } from '../servers/request-gate.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf, WAIT, writeLarge } from './page/transfer-rows.ts';

const MIB = 1024 * 1024;
const PART = 8 * MIB;
const PARTS = 4;

describe.skipIf(!findChromium())('A running transfer', () => {
  const slow = startBrowserAndSlowStore();

  /** Starts a copy, and holds it once one part has arrived. Resolves when that part is on record. */
  const startCopy = async (page: Page, folder: string, name: string) => {
    await askEngine(page, 'settings.set', { transfers: 2 });
    await slow.store.server.resetRequests();
    const { bytes, source } = writeLarge(folder, name, PARTS * PART);
    const destination = `s3://${slow.store.server.bucket}/${name}/`;
    slow.store.gate.hold(isPart, 1);
    await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
    await untilSaved(folder, 1);
    return bytes;
  };

  it('continues while the page is reloaded, and the page shows it again', async () => {
    await using window = await openWindow(slow.browser, {
      environment: slow.store.environment,
      path: '/#/transfers',
    });
    const { folder, page } = window;
    const bytes = await startCopy(page, folder, 'reloaded');
    await page.reload();
    const row = rowOf(page, 'Copy reloaded');
    await expect.poll(stateOf(row), WAIT).toBe('Uploading');
    slow.store.gate.release();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(slow.store.read('reloaded/large.bin').equals(bytes)).toBe(true);
    expect(await slow.store.answered('UploadPart')).toBe(PARTS);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'continues after a kill of `dray ui`, waits after a second one, and shows what had arrived',
    async () => {
      const killed = await openWindow(slow.browser, {
        environment: slow.store.environment,
        path: '/#/transfers',
      });
      const { folder } = killed;
      const bytes = await startCopy(killed.page, folder, 'killed');
      await kill(killed);
      expect(await findViolationsInBothThemes(killed.page)).toEqual([]);
      await killed.context.close();

      const reopen = () =>
        openWindow(slow.browser, { environment: slow.store.environment, folder, path: '/#/transfers' });
      slow.store.gate.hold(isPart, 1);
      const second = await reopen();
      const again = rowOf(second.page, 'Copy killed');
      await expect.poll(stateOf(again), WAIT).toBe('Uploading');
      await untilSaved(folder, 2);
      await kill(second);
      await second.context.close();

      await using window = await reopen();
      const row = rowOf(window.page, 'Copy killed');
      await expect.poll(stateOf(row), WAIT).toBe('Paused');
      expect(await row.textContent()).toContain('Dray ended twice within minutes');
      expect(await row.textContent()).toContain('16.0 MiB of 32.0 MiB');
      expect(await findViolationsInBothThemes(window.page)).toEqual([]);
      slow.store.gate.release();
      await window.page.getByRole('button', { name: 'Resume Copy killed' }).click();
      await expect.poll(stateOf(row), WAIT).toBe('Done');
      expect(slow.store.read('killed/large.bin').equals(bytes)).toBe(true);
      expect(await slow.store.answered('CreateMultipartUpload')).toBe(1);
      expect(await slow.store.answered('UploadPart')).toBe(PARTS);
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('continues after a crash of the engine, which restarts, and the window says so', async () => {
    await using window = await openWindow(slow.browser, {
      environment: { ...slow.store.environment, NODE_OPTIONS: `--import=${CRASH_ON_DEMAND}` },
      path: '/#/transfers',
    });
    const { folder, page } = window;
    const bytes = await startCopy(page, folder, 'crashed');
    writeFileSync(join(folder, 'home', 'crash'), '');
    await page.getByText("Dray's engine is back").waitFor();
    const row = rowOf(page, 'Copy crashed');
    slow.store.gate.release();
    await expect.poll(stateOf(row), WAIT).toBe('Done');
    expect(slow.store.read('crashed/large.bin').equals(bytes)).toBe(true);
    expect(await slow.store.answered('CreateMultipartUpload')).toBe(1);
    expect(await slow.store.answered('UploadPart')).toBe(PARTS);
  });
});

/** Kills `dray ui`, and waits until the window has seen that it is gone. */
async function kill({ engine, page }: OpenWindow): Promise<void> {
  process.kill(engine.processId!, 'SIGKILL');
  await page.getByText("Dray's engine does not answer.").waitFor();
}

async function untilSaved(folder: string, parts: number): Promise<void> {
  const path = join(folder, 'home/.config/dray/transfers-progress.json');
  const saved = () => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).runs[0]?.bytesDone : 0);
  await expect.poll(saved, WAIT).toBe(parts * PART);
}

/**
 * Code for the engine's thread alone: it throws once the home folder has a file `crash`, which it removes.
 */
const CRASH_ON_DEMAND = `data:text/javascript,${encodeURIComponent(`
  import { rmSync } from 'node:fs';
  import { threadName } from 'node:worker_threads';
  const demand = process.env.HOME + '/crash';
  if (threadName === 'dray-host') setInterval(() => {
    let isAsked = true;
    try { rmSync(demand); } catch { isAsked = false; }
    if (isAsked) throw new Error('crashed on demand');
  }, 50).unref();
`)}`;
