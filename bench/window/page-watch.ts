/** Watches a page of Chromium while something is done with its rows: long tasks, frames, memory. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';

export interface PageMemory {
  readonly heapBytes: number;
  /** The renderer process: its own memory and its share of shared memory. */
  readonly processBytes: number;
}

const WATCH = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  }).observe({ type: 'longtask' });`;

/** Scrolls in steps like a wheel, then drags the thumb down and up again. Returns the gaps between frames. */
const SCROLL = `(async () => {
  const rows = document.querySelector('ROWS');
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

/** @param rows The selector of the element that scrolls. Returns the gaps between frames in ms. */
export async function scrollThrough(page: Page, rows: string): Promise<readonly number[]> {
  return (await page.evaluate(SCROLL.replace('ROWS', rows))) as number[];
}

/** Chromium reports tasks over 50 ms alone, by the wall's time. */
export async function watchTasks(page: Page): Promise<{ longestMs(): Promise<number> }> {
  await page.evaluate(WATCH);
  return {
    /** The longest since the last call, or 0 if none took 50 ms. */
    longestMs: async () => {
      // The observer reports a task after it has ended.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))');
      return (await page.evaluate('Math.max(0, ...longTasks.splice(0))')) as number;
    },
  };
}

export async function memoryOf(browser: Browser, page: Page): Promise<PageMemory> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  await session.detach();
  return { heapBytes, processBytes: await processBytesOf(browser) };
}

/** The largest renderer of the browser; others hold blank pages. */
async function processBytesOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => sizeOf(id));
  return Math.max(...sizes);
}

function sizeOf(processId: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/smaps_rollup`, 'utf8'));
  return Number(found?.[1] ?? Number.NaN) * 1024;
}
