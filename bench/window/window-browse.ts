/**
 * Measures a prefix of a million objects in Browse: the time to the first rows, the page's memory, and the
 * long tasks (over 50 ms, as Chromium reports them) during scrolling, sorting, filtering, typing a name and
 * selecting all.
 */
import type { Browser, Page } from 'playwright';
import { manyName, startManyObjects } from '../../e2e/servers/many-objects.ts';
import { openWindow } from '../../e2e/window/open-window.ts';
import { processBytesOf, SCROLL } from './window-rows.ts';

const ROWS = 1_000_000;
const WAIT_MS = 600_000;

export interface BrowseRun {
  readonly firstRowsMs: number;
  readonly listedMs: number;
  readonly heapBytes: number;
  readonly processBytes: number;
  /** By kind of work: the longest task of the page in ms, or 0 if none took 50 ms. */
  readonly longestTaskMs: Readonly<Record<BrowseWork, number>>;
  readonly longestFrameMs: number;
  /** The time from a key press or a click to the resulting row. */
  readonly answerMs: Readonly<Record<'sort' | 'filter' | 'typed', number>>;
}

export type BrowseWork = 'listing' | 'scrolling' | 'sorting' | 'filtering' | 'typing' | 'choosing';

const WATCH = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });`;

export async function measureBrowse(
  browser: Browser,
  { command }: { readonly command: string },
): Promise<BrowseRun> {
  await using many = await startManyObjects(ROWS);
  await using window = await openWindow(browser, {
    command,
    environment: many.environment,
    path: '/#/browse',
  });
  const { page } = window;
  await page
    .getByRole('region', { name: /^Right pane/ })
    .getByRole('grid')
    .waitFor();
  await page.evaluate(WATCH);
  const pane = page.getByRole('region', { name: /^Right pane/ });
  const row = (index: number) => pane.getByRole('row').filter({ hasText: manyName(index) });
  const beganMs = performance.now();
  await page.evaluate(`location.hash = '#/browse?place=${encodeURIComponent(many.place)}'`);
  await row(0).waitFor({ timeout: WAIT_MS });
  const firstRowsMs = performance.now() - beganMs;
  await pane.getByText('1,000,000 entries', { exact: true }).waitFor({ timeout: WAIT_MS });
  const listedMs = performance.now() - beganMs;
  const longestTaskMs: Record<string, number> = { listing: await longestTask(page) };
  const answerMs: Record<string, number> = {};
  const work = async (name: BrowseWork, act: () => Promise<unknown>) => {
    await act();
    longestTaskMs[name] = await longestTask(page);
  };
  let gaps: number[] = [];
  await work('scrolling', async () => {
    gaps = (await page.evaluate(
      SCROLL.replace('.change-rows', '.panes > :last-child .row-grid'),
    )) as number[];
  });
  const timed = async (name: string, act: () => Promise<unknown>, shown: number) => {
    const startMs = performance.now();
    await act();
    await row(shown).first().waitFor({ timeout: WAIT_MS });
    answerMs[name] = performance.now() - startMs;
  };
  await work('sorting', async () => {
    await timed('sort', () => pane.getByRole('button', { name: 'Size', exact: true }).click(), 0);
    await pane.getByRole('button', { name: 'Name', exact: true }).click();
    await row(1).waitFor({ timeout: WAIT_MS });
  });
  await work('typing', async () => {
    await row(0).click();
    await timed('typed', () => page.keyboard.type('object-0765432'), 765_432);
  });
  await work('filtering', () =>
    timed('filter', () => pane.getByRole('searchbox').pressSequentially('0424242'), 424_242),
  );
  await work('choosing', async () => {
    await pane.getByRole('searchbox').fill('');
    await row(1).waitFor({ timeout: WAIT_MS });
    await row(1).click();
    await page.keyboard.press('Control+A');
    await pane.getByText('1,000,000 of 1,000,000 chosen').waitFor();
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  return {
    firstRowsMs,
    listedMs,
    heapBytes: metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN,
    processBytes: await processBytesOf(browser),
    longestTaskMs: longestTaskMs as BrowseRun['longestTaskMs'],
    longestFrameMs: Math.max(...gaps),
    answerMs: answerMs as BrowseRun['answerMs'],
  };
}

/** The longest task since the last call. */
async function longestTask(page: Page): Promise<number> {
  // The observer reports a task after it has ended.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))');
  return (await page.evaluate('Math.max(0, ...longTasks.splice(0))')) as number;
}
