/**
 * Many rows, a million in the long run, through the real engine: what the page draws, requests and holds
 * stays bounded from end to end.
 */
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { createS3Dataset } from '../s3-dataset.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { commitMillion, FILES_EACH, FOLDERS, millionPath } from './data/million-commit.ts';
import { findChromium } from './find-chromium.ts';
import type { OpenWindow } from './open-window.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

const ROWS = FOLDERS * FILES_EACH;
/** The visible rows and some beside them. */
const DRAWN_MAX = 80;
/** `use-scaled-rows.ts` takes a list for at rest after this time. */
const REST_MS = 160;
const STOPS = runBudget({ short: 10, long: 40 });
/** A stop lies in one page or two, and scrolling to it may pass one more. */
const PAGES_MAX = 3 * (STOPS + 2);

describe.skipIf(!findChromium())(`A list of ${ROWS.toLocaleString('en')} rows`, () => {
  const started = startBrowserAndStore();

  it('scrolls from end to end with few rows drawn and one or two pages read at each stop', async () => {
    using dataset = createS3Dataset(started.server, 'million');
    const root = await dataset.init('work');
    dataset.sandbox.write('work/a.jpg', 'the content of every frame');
    await push(dataset.context('work'), {});
    await commitMillion(dataset, 'work');
    await using opened = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root,
      screen: '#/changes?direction=pull',
    });
    const { page } = opened;
    await keepRestTimer(page);
    const asked = await countAsks(opened);
    await page
      .getByRole('button', { name: `Pull ${ROWS.toLocaleString('en')} changes` })
      .waitFor({ timeout: 5 * 60_000 });
    await rowOf(page, 'camera-0000/').waitFor();
    expect(await rowCount(page)).toBe(FOLDERS);
    await page.getByRole('radio', { name: 'Flat' }).click();
    await rowOf(page, millionPath(0)).waitFor();
    await expect.poll(() => rowCount(page), WAIT).toBe(ROWS);

    asked.reset();
    let drawnMost = 0;
    for (let stop = 1; stop <= STOPS; stop += 1) {
      const at = await scrollTo(page, stop / STOPS);
      await rowOf(page, millionPath(at)).waitFor();
      drawnMost = Math.max(drawnMost, await page.getByRole('row').count());
    }
    await rowOf(page, millionPath(ROWS - 1)).waitFor();
    await page.getByRole('treegrid').or(page.getByRole('grid')).focus();
    await page.keyboard.press('Home');
    await rowOf(page, millionPath(0)).waitFor();
    await page.keyboard.press('End');
    await rowOf(page, millionPath(ROWS - 1)).waitFor();
    // The list comes to rest after the next scroll has begun, and before its event.
    await scrollTo(page, 0.5);
    await page.locator('.change-rows').evaluate((element) => {
      element.scrollTop = element.scrollHeight;
      (window as unknown as RestTimer).comeToRest();
    });
    await rowOf(page, millionPath(ROWS - 1)).waitFor();
    expect(drawnMost).toBeLessThanOrEqual(DRAWN_MAX);
    expect(asked.pages()).toBeGreaterThanOrEqual(STOPS);
    expect(asked.pages()).toBeLessThanOrEqual(PAGES_MAX);

    await page.getByRole('searchbox', { name: 'Search paths' }).fill('0042/frame-00000');
    await expect.poll(() => rowCount(page), WAIT).toBe(10);
    expect(opened.complaints).toEqual([]);
  });
});

interface RestTimer {
  comeToRest: () => void;
}

/** Keeps what the page calls when scrolling has ended, so that a test can call it at any moment. */
async function keepRestTimer(page: Page): Promise<void> {
  await page.evaluate((restMs) => {
    const start = window.setTimeout;
    Object.assign(window, {
      setTimeout: (done: () => void, ms: number, ...parameters: unknown[]) => {
        if (ms === restMs) Object.assign(window, { comeToRest: done });
        return start(done, ms, ...parameters);
      },
    });
  }, REST_MS);
}

function rowCount(page: Page): Promise<number> {
  return page
    .getByLabel('Changes', { exact: true })
    .evaluate((grid) => Number(grid.getAttribute('aria-rowcount')));
}

/** Scrolls to a share of the way. Returns the first visible row once scrolling has stopped. */
async function scrollTo(page: Page, share: number): Promise<number> {
  const rows = page.locator('.change-rows');
  await rows.evaluate((element, to) => {
    element.scrollTop = to * (element.scrollHeight - element.clientHeight);
  }, share);
  const inSight = () =>
    rows.evaluate((element) => {
      const top = element.getBoundingClientRect().top;
      const row = [...element.querySelectorAll('[role=row]')].find(
        (one) => one.getBoundingClientRect().top >= top,
      );
      return Number(row?.getAttribute('aria-rowindex') ?? 0) - 1;
    });
  let last = -1;
  await expect
    .poll(async () => {
      const before = last;
      last = await inSight();
      return last >= 0 && last === before;
    }, WAIT)
    .toBe(true);
  return last;
}

/** Counts the pages of rows that the page requests from the engine. */
async function countAsks({ context, page }: OpenWindow): Promise<{ pages(): number; reset(): void }> {
  let pages = 0;
  const session = await context.newCDPSession(page);
  session.on('Network.webSocketFrameSent', ({ response }) => {
    if (response.payloadData.includes('"changes.rows"')) pages += 1;
  });
  await session.send('Network.enable');
  return {
    pages: () => pages,
    reset: () => {
      pages = 0;
    },
  };
}
