/**
 * Measures a prefix of many objects in Browse: the time to the first rows, the page's memory, and its longest
 * task while the rows are listed, scrolled, sorted, filtered, sought by typing and all chosen.
 */
import type { Browser } from 'playwright';
import { manyName, startManyObjects } from '../../e2e/servers/many-objects.ts';
import { openWindow } from '../../e2e/window/open-window.ts';
import { formatCount } from '../../engine/api/text/numbers.ts';
import { memoryOf, type PageMemory, scrollThrough, watchTasks } from './page-watch.ts';

const WAIT_MS = 600_000;

export interface BrowseRun extends PageMemory {
  readonly firstRowsMs: number;
  readonly listedMs: number;
  /** By kind of work: the longest task of the page in ms, or 0 if none took 50 ms. */
  readonly longestTaskMs: Readonly<Record<BrowseWork, number>>;
  /** While scrolling. */
  readonly frameGapsMs: readonly number[];
  /** The time from a click or the first letter to the resulting row. */
  readonly answerMs: Readonly<Record<'sort' | 'filter' | 'typed', number>>;
}

export type BrowseWork = 'listing' | 'scrolling' | 'sorting' | 'filtering' | 'typing' | 'choosing';

export interface BrowseBench {
  readonly command: string;
  readonly rows: number;
}

export async function measureBrowse(browser: Browser, { command, rows }: BrowseBench): Promise<BrowseRun> {
  await using many = await startManyObjects(rows);
  await using window = await openWindow(browser, {
    command,
    environment: many.environment,
    path: '/#/browse',
  });
  const { page } = window;
  const pane = page.getByRole('region', { name: /^Right pane/ });
  await pane.getByRole('grid').waitFor();
  const tasks = await watchTasks(page);
  const row = (index: number) => pane.getByRole('row').filter({ hasText: manyName(index) });
  const count = formatCount(rows);
  const middle = Math.floor(rows * 0.7) + 432;
  const beganMs = performance.now();
  await page.evaluate(`location.hash = '#/browse?place=${encodeURIComponent(many.place)}'`);
  await row(0).waitFor({ timeout: WAIT_MS });
  const firstRowsMs = performance.now() - beganMs;
  await pane.getByText(`${count} entries`, { exact: true }).waitFor({ timeout: WAIT_MS });
  const listedMs = performance.now() - beganMs;
  const longestTaskMs: Record<string, number> = { listing: await tasks.longestMs() };
  const answerMs: Record<string, number> = {};
  const work = async <T>(name: BrowseWork, act: () => Promise<T>): Promise<T> => {
    console.error(name);
    const result = await act();
    longestTaskMs[name] = await tasks.longestMs();
    return result;
  };
  const timed = async (name: string, act: () => Promise<unknown>, shown: number) => {
    const startMs = performance.now();
    await act();
    await row(shown).first().waitFor({ timeout: WAIT_MS });
    answerMs[name] = performance.now() - startMs;
  };
  const frameGapsMs = await work('scrolling', () => scrollThrough(page, '.panes > :last-child .row-grid'));
  await work('sorting', async () => {
    await timed('sort', () => pane.getByRole('button', { name: 'Size', exact: true }).click(), 0);
    await pane.getByRole('button', { name: 'Name', exact: true }).click();
    await row(1).waitFor({ timeout: WAIT_MS });
  });
  await work('typing', async () => {
    await row(0).click();
    await timed('typed', () => page.keyboard.type(manyName(middle).slice(0, -4)), middle);
  });
  await work('filtering', () => {
    const typed = manyName(middle).slice('object-'.length, -4);
    return timed('filter', () => pane.getByRole('searchbox').pressSequentially(typed), middle);
  });
  await work('choosing', async () => {
    await pane.getByRole('searchbox').fill('');
    // The chosen row stays in sight.
    await row(middle - 1).waitFor({ timeout: WAIT_MS });
    await row(middle).click();
    await page.keyboard.press('Control+A');
    await pane.getByText(`${count} of ${count} chosen`).waitFor();
  });
  return {
    firstRowsMs,
    listedMs,
    longestTaskMs: longestTaskMs as BrowseRun['longestTaskMs'],
    frameGapsMs,
    answerMs: answerMs as BrowseRun['answerMs'],
    ...(await memoryOf(browser, page)),
  };
}
