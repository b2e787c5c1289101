/**
 * Measures a million rows in the Changes screen: the page's memory, and its longest frame while scrolling.
 */
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright';
import { createS3Dataset } from '../../e2e/s3-dataset.ts';
import type { S3Server } from '../../e2e/servers/versitygw.ts';
import { commitMillion, FILES_EACH } from '../../e2e/window/million-commit.ts';
import { openWorkspace } from '../../e2e/window/window-workspace.ts';
import { push } from '../../engine/jobs/push/push.ts';

export interface RowsRun {
  readonly openMs: number;
  /** JavaScript's heap after scrolling. */
  readonly heapBytes: number;
  /** The renderer process: its own memory and its share of shared memory. */
  readonly processBytes: number;
  readonly longestFrameMs: number;
  readonly frames: number;
  /** 99 of 100 gaps between frames are at most this. */
  readonly usualFrameMs: number;
}

const OPEN_MS_MAX = 180_000;

/** Scrolls in steps like a wheel, then drags the thumb down and up again. Returns the gaps between frames. */
export const SCROLL = `(async () => {
  const rows = document.querySelector('.change-rows');
  const frame = () => new Promise(requestAnimationFrame);
  const gaps = [];
  let last = await frame();
  const step = async (move) => {
    move();
    const now = await frame();
    gaps.push(now - last);
    last = now;
  };
  for (let at = 0; at < 300; at += 1) await step(() => { rows.scrollTop += 120; });
  const way = rows.scrollHeight - rows.clientHeight;
  for (let at = 0; at <= 300; at += 1) await step(() => { rows.scrollTop = (way * at) / 300; });
  for (let at = 300; at >= 0; at -= 1) await step(() => { rows.scrollTop = (way * at) / 300; });
  return gaps;
})()`;

export async function measureRows(
  browser: Browser,
  { command, server }: { readonly command: string; readonly server: S3Server },
): Promise<RowsRun> {
  using dataset = createS3Dataset(server, 'million');
  const root = await dataset.init('work');
  dataset.sandbox.write('work/a.jpg', 'the content of every frame');
  await push(dataset.context('work'), {});
  await commitMillion(dataset, 'work', { folders: 1_000_000 / FILES_EACH });
  await using window = await openWorkspace(browser, {
    command,
    environment: server.environment,
    root,
    screen: '#/changes?direction=pull',
  });
  const { page } = window;
  const began = performance.now();
  await page.getByRole('button', { name: 'Pull 1,000,000 changes' }).waitFor({ timeout: OPEN_MS_MAX });
  const openMs = performance.now() - began;
  await page.getByRole('radio', { name: 'Flat' }).click();
  await page.getByText('frame-000000.jpg').first().waitFor();
  const gaps = ((await page.evaluate(SCROLL)) as number[]).sort((one, other) => one - other);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  return {
    openMs,
    heapBytes,
    processBytes: await processBytesOf(browser),
    longestFrameMs: gaps.at(-1) ?? Number.NaN,
    usualFrameMs: gaps[Math.floor(gaps.length * 0.99)] ?? Number.NaN,
    frames: gaps.length,
  };
}

/** The largest renderer of the browser; others hold blank pages. */
export async function processBytesOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => memoryOf(id));
  return Math.max(...sizes);
}

function memoryOf(processId: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/smaps_rollup`, 'utf8'));
  return Number(found?.[1] ?? Number.NaN) * 1024;
}
