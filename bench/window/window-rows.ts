/**
 * Measures many rows in the Changes screen, of a pull and of a push: the page's memory, and its longest task
 * and frame while the rows are scrolled, sorted, searched and all chosen.
 */
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright';
import { createS3Dataset, type S3Dataset } from '../../e2e/s3-dataset.ts';
import type { S3Server } from '../../e2e/servers/versitygw.ts';
import { commitMillion, FILES_EACH, millionPath } from '../../e2e/window/data/million-commit.ts';
import { openWorkspace, rowOf } from '../../e2e/window/window-workspace.ts';
import { formatCount } from '../../engine/api/text/numbers.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { pathOfFile, writeDataset } from '../data/dataset.ts';
import { memoryOf, type PageMemory, scrollThrough, watchTasks } from './page-watch.ts';

export interface RowsBench {
  readonly command: string;
  readonly server: S3Server;
  readonly rows: number;
}

export type RowsWork = 'opening' | 'scrolling' | 'sorting' | 'typing' | 'choosing';

export interface RowsRun extends PageMemory {
  /** From the open window to the list with its button. */
  readonly openMs: number;
  /** By kind of work: the longest task of the page in ms, or 0 if none took 50 ms. */
  readonly longestTaskMs: Readonly<Partial<Record<RowsWork, number>>>;
  /** While scrolling. */
  readonly frameGapsMs: readonly number[];
  /** The time from a click or the last letter to the resulting row. */
  readonly answerMs: { readonly sort?: number; readonly search: number };
}

const WAIT_MS = 600_000;
const WORK = 'work';
/** Letters of a path that no other path ends with. */
const SEARCHED = 21;
/** One folder, so that its tick excludes every row. */
const ALL = 'frames';

interface Opened {
  readonly root: string;
  readonly screen: string;
  readonly button: string;
  /** The folder that holds all rows, if they can be excluded. */
  readonly all?: string;
  /** A path in the middle. */
  readonly sought: string;
}

/** A pull of a commit with this many new files. */
export async function measurePullRows(browser: Browser, bench: RowsBench): Promise<RowsRun> {
  using dataset = await firstPush(bench, 'pulled');
  await commitMillion(dataset, WORK, { folders: bench.rows / FILES_EACH });
  return await measureList(browser, bench, {
    root: dataset.sandbox.path(WORK),
    screen: '#/changes?direction=pull',
    button: `Pull ${formatCount(bench.rows)} changes`,
    sought: millionPath(bench.rows / 2 + 345),
  });
}

/** A push of this many new files, which can be excluded. */
export async function measurePushRows(browser: Browser, bench: RowsBench): Promise<RowsRun> {
  using dataset = await firstPush(bench, 'pushed');
  const root = dataset.sandbox.path(WORK);
  writeDataset(join(root, ALL), { files: bench.rows, bytesMax: 64, sizes: 'spread' });
  return await measureList(browser, bench, {
    root,
    screen: '#/changes',
    button: `Push ${formatCount(bench.rows)} changes`,
    all: `${ALL}/`,
    sought: `${ALL}/${pathOfFile(bench.rows / 2 + 345)}`,
  });
}

async function firstPush({ server }: RowsBench, name: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  await dataset.init(WORK);
  dataset.sandbox.write(`${WORK}/a.jpg`, 'the content of every frame');
  await push(dataset.context(WORK), {});
  return dataset;
}

async function measureList(browser: Browser, bench: RowsBench, opened: Opened): Promise<RowsRun> {
  const { command, server } = bench;
  const { all, button, root, screen, sought } = opened;
  await using window = await openWorkspace(browser, {
    command,
    environment: server.environment,
    root,
    screen,
  });
  const { page } = window;
  const tasks = await watchTasks(page);
  const beganMs = performance.now();
  await page.getByRole('button', { name: button }).waitFor({ timeout: WAIT_MS });
  const openMs = performance.now() - beganMs;
  const longestTaskMs: Partial<Record<RowsWork, number>> = { opening: await tasks.longestMs() };
  const work = async <T>(name: RowsWork, act: () => Promise<T>): Promise<T> => {
    console.error(name);
    const result = await act();
    longestTaskMs[name] = await tasks.longestMs();
    return result;
  };
  if (all !== undefined) await work('choosing', () => chooseAll(page, { all, button }));
  await page.getByRole('radio', { name: 'Flat' }).click();
  await rowAt(page, 1).waitFor({ timeout: WAIT_MS });
  const frameGapsMs = await work('scrolling', () => scrollThrough(page, '.change-rows'));
  // The files of the pull have one size, so another order would not show.
  const sort = all === undefined ? {} : { sort: await work('sorting', () => sortBySize(page)) };
  const search = await work('typing', async () => {
    const box = page.getByRole('searchbox', { name: 'Search paths' });
    await box.click();
    await box.pressSequentially(sought.slice(-SEARCHED), { delay: 60 });
    const typedMs = performance.now();
    await rowOf(page, sought).waitFor({ timeout: WAIT_MS });
    return performance.now() - typedMs;
  });
  const answerMs = { ...sort, search };
  return { openMs, longestTaskMs, frameGapsMs, answerMs, ...(await memoryOf(browser, page)) };
}

/** Excludes every row by the tick of their folder, and takes it back. */
async function chooseAll(page: Page, { all, button }: { readonly all: string; readonly button: string }) {
  const box = page.getByRole('checkbox', { name: `Push ${all}`, exact: true });
  await box.click();
  await page.getByRole('button', { name: 'Push 0 changes' }).waitFor({ timeout: WAIT_MS });
  await box.click();
  await page.getByRole('button', { name: button }).waitFor({ timeout: WAIT_MS });
}

/** Returns the time to the first row of the other order, in ms. */
async function sortBySize(page: Page): Promise<number> {
  await page.evaluate('document.querySelector(".change-rows").scrollTop = 0');
  const before = await rowAt(page, 1).locator('.change-name').getAttribute('title');
  await page.getByRole('button', { name: 'Order' }).click();
  const beganMs = performance.now();
  await page.getByRole('option', { name: 'Largest first' }).click();
  await rowAt(page, 1).locator(`.change-name:not([title="${before}"])`).waitFor({ timeout: WAIT_MS });
  return performance.now() - beganMs;
}

function rowAt(page: Page, index: number): Locator {
  return page.locator(`.change-row[aria-rowindex="${index}"]`);
}
