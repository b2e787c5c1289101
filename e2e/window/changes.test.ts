/**
 * The Changes screen: what a push or a pull would do, seen and decided in a real Chromium, done on a real
 * store.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, unlinkSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import type { S3Dataset } from '../s3-dataset.ts';
import { isObject, startRequestGate } from '../servers/request-gate.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { CHANGED_PATHS, changeDataset, noise, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, rowsShown, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The Changes screen', () => {
  const started = startBrowserAndStore();

  const open = ({ sandbox }: S3Dataset, screen = '#/changes') =>
    openWorkspace(started.browser, {
      environment: started.server.environment,
      root: sandbox.path(WORK),
      screen,
    });

  it('shows changes as a tree or flat, by kind, by size and by search', async () => {
    using dataset = await pushedDataset(started.server, 'rows');
    changeDataset(dataset);
    await using window = await open(dataset);
    const { page } = window;
    const shown = () => rowsShown(page);
    await expect
      .poll(shown, WAIT)
      .toEqual([
        expect.stringMatching(/^measurements 4 changes/),
        expect.stringMatching(/^notes 1 change/),
        'obsolete.txt Deleted 16 B',
        expect.stringMatching(/^pictures 1 change/),
      ]);
    await page.getByRole('button', { name: 'Open' }).first().click();
    await rowOf(page, 'measurements/2026/').waitFor();
    await page.getByRole('radio', { name: 'Flat' }).click();
    await expect.poll(shown, WAIT).toHaveLength(CHANGED_PATHS.length);
    for (const path of CHANGED_PATHS) await rowOf(page, path).waitFor();
    await choose(page, 'Order', 'Largest first');
    await expect.poll(async () => (await shown())[0], WAIT).toMatch(/^measurements\/raw.bin Changed/);
    await page.getByRole('button', { name: 'Added 1' }).click();
    await expect.poll(shown, WAIT).toEqual(['measurements/2026/april.csv Added 27 B']);
    await page.getByRole('button', { name: 'Added 1' }).click();
    await page.getByRole('searchbox', { name: 'Search paths' }).fill('2026');
    await expect.poll(shown, WAIT).toHaveLength(2);
    await page.getByRole('searchbox', { name: 'Search paths' }).fill('no path has it');
    await page.getByText('No change matches').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'compares texts side by side, pictures before and after, other files by size, hash and first bytes',
    async () => {
      using dataset = await pushedDataset(started.server, 'sides');
      changeDataset(dataset);
      await using window = await open(dataset);
      const { page } = window;
      const preview = page.getByRole('region', { name: 'Preview' });
      await page.getByRole('radio', { name: 'Flat' }).click();
      await rowOf(page, 'notes/method.md').click();
      const changed = preview.getByRole('row').filter({ hasText: 'measured anew' });
      await expect
        .poll(() => changed.getByRole('cell').allInnerTexts(), WAIT)
        .toEqual(['20', 'line 20', '20', 'line 20, measured anew']);
      await preview
        .getByRole('button', { name: /lines the same/ })
        .first()
        .click();
      await preview.getByText('line 1', { exact: true }).first().waitFor();
      await rowOf(page, 'pictures/map.png').click();
      await expect
        .poll(() => middleColors(page), WAIT)
        .toEqual([
          [40, 90, 200],
          [200, 60, 40],
        ]);
      await rowOf(page, 'measurements/raw.bin').click();
      await expect.poll(() => preview.getByRole('region', { name: /^Bytes of/ }).count(), WAIT).toBe(2);
      expect(await preview.getByText('39.1 KiB').count()).toBe(1);
      expect(await preview.getByText('41.0 KiB').count()).toBe(1);
      const raw = readFileSync(dataset.sandbox.path(WORK, 'measurements/raw.bin'));
      const hash = createHash('sha256').update(raw).digest('hex');
      expect(await preview.getByText(hash.slice(0, 10)).count()).toBe(1);
      await rowOf(page, 'obsolete.txt').click();
      await preview.getByText('Not there').waitFor();
      expect(await preview.getByText('nobody needs it').count()).toBe(1);
      expect(window.complaints).toEqual([]);
    },
  );

  it('pushes all but the excluded changes, after the user has seen the deletions', async () => {
    using dataset = await pushedDataset(started.server, 'skip');
    changeDataset(dataset);
    const scratch = dataset.sandbox.write(`${WORK}/scratch.txt`, 'for now');
    await using window = await open(dataset);
    const { page } = window;
    await page.getByRole('radio', { name: 'Flat' }).click();
    await page.getByRole('checkbox', { name: 'Push measurements/raw.bin' }).uncheck();
    await page.getByRole('checkbox', { name: 'Push scratch.txt' }).uncheck();
    await page.getByText('2 excluded').waitFor();
    // Excluded files stay excluded after a new scan while they still differ.
    unlinkSync(scratch);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('1 excluded').waitFor();
    const send = page.getByRole('button', { name: 'Push 6 changes' });
    expect(await send.isDisabled()).toBe(true);
    const seen = page.getByRole('checkbox', { name: 'I have seen the deletions' });
    expect(await seen.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show it' }).click();
    await expect.poll(() => rowsShown(page), WAIT).toEqual(['obsolete.txt Deleted 16 B']);
    await page.getByText('I have seen the deletions').click();
    await page.getByRole('textbox', { name: 'Message' }).fill('April, and the map in red');
    await send.click();
    await page.getByText('Pushed as commit').waitFor();
    await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
    await expect
      .poll(() => rowsShown(page), WAIT)
      .toEqual([expect.stringMatching(/^measurements\/raw.bin Changed/)]);

    expect((await dataset.cli(WORK, ['log'])).stdout).toContain('April, and the map in red');
    const left = await dataset.cli(WORK, ['diff']);
    expect(left.stdout).toContain('measurements/raw.bin');
    const stored = (await dataset.cli(WORK, ['ls', '--recursive'])).stdout;
    expect(stored).not.toContain('obsolete.txt');
    await dataset.clone('elsewhere');
    const there = (path: string) => readFileSync(dataset.sandbox.path('elsewhere', path));
    const here = (path: string) => readFileSync(dataset.sandbox.path(WORK, path));
    for (const path of CHANGED_PATHS.filter((path) => !/raw|obsolete/.test(path)))
      expect(there(path), path).toEqual(here(path));
    expect(there('measurements/raw.bin')).toHaveLength(40_000);
    expect(window.complaints).toEqual([]);
  });

  it('pulls what it showed, with each conflict decided by the user', async () => {
    using dataset = await pushedDataset(started.server, 'pull');
    const { sandbox } = dataset;
    await dataset.clone('other');
    for (const name of ['method.md', 'kept.md']) {
      sandbox.write(`other/notes/${name}`, `theirs of ${name}\n`);
      sandbox.write(`${WORK}/notes/${name}`, `ours of ${name}\n`);
    }
    sandbox.write('other/added.txt', 'added by them\n');
    await push(dataset.context('other'), { message: 'Theirs' });
    await using window = await open(dataset, '#/changes?direction=pull');
    const { page } = window;
    await page.getByText('2 still to decide').waitFor();
    const send = page.getByRole('button', { name: 'Pull 3 changes' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show them' }).click();
    await page
      .getByRole('group', { name: 'Conflict of notes/kept.md' })
      .getByRole('button', { name: 'Keep mine' })
      .click();
    const sides = page.getByRole('region', { name: 'Preview' });
    await rowOf(page, 'notes/method.md').click();
    await sides.getByText('theirs of method.md').waitFor();
    expect(await sides.getByText('ours of method.md').count()).toBe(1);
    await page
      .getByRole('group', { name: 'Conflict of notes/method.md' })
      .getByRole('button', { name: 'Take theirs' })
      .click();
    await page.getByText('All are decided').waitFor();
    // Commits that arrive after the scan are not pulled.
    sandbox.write('other/later.txt', 'pushed after the look\n');
    await push(dataset.context('other'), { message: 'Later' });
    await send.click();
    await page.getByText('Pulled 2 changes').waitFor();
    const here = (path: string) => readFileSync(sandbox.path(WORK, path), 'utf8');
    expect(here('notes/kept.md')).toBe('ours of kept.md\n');
    expect(here('notes/method.md')).toBe('theirs of method.md\n');
    expect(here('added.txt')).toBe('added by them\n');
    expect(existsSync(sandbox.path(WORK, 'later.txt'))).toBe(false);
    await page.getByRole('button', { name: 'Pull 1 change' }).waitFor();
    await page.getByRole('radio', { name: 'Push' }).click();
    await expect.poll(() => rowsShown(page), WAIT).toEqual([expect.stringMatching(/^notes 1 change/)]);
    expect(window.complaints).toEqual([]);
  });

  longIt('is scanned again after a pull is cancelled half-way', async () => {
    using dataset = await pushedDataset(started.server, 'cancelled');
    const { sandbox } = dataset;
    await dataset.clone('other');
    sandbox.write('other/large.bin', noise(8 * 1024 * 1024, 7));
    sandbox.write('other/small.txt', 'small\n');
    await push(dataset.context('other'), { message: 'Theirs' });
    await using gate = await startRequestGate(started.server.endpoint);
    await using window = await openWorkspace(started.browser, {
      environment: { ...started.server.environment, AWS_ENDPOINT_URL: gate.endpoint },
      root: sandbox.path(WORK),
      screen: '#/changes?direction=pull',
    });
    const { page } = window;
    const send = page.getByRole('button', { name: 'Pull 2 changes' });
    await send.waitFor();
    // The large file is one. The small one is in a pack.
    gate.hold(isObject);
    await send.click();
    await expect.poll(() => existsSync(sandbox.path(WORK, 'small.txt')), WAIT).toBe(true);
    // Cancels as another window would; this one stays on its screen.
    await askEngine(page, 'transfers.change', { ids: 'all', action: 'cancel' });
    gate.release();
    await page.getByRole('button', { name: 'Pull 1 change' }).waitFor();
    await expect.poll(() => rowsShown(page), WAIT).toEqual(['large.bin Added 8.0 MiB']);
    expect(window.complaints).toEqual([]);
  });

  longIt('works by the keyboard alone: rows, folders, exclusions, search and push', async () => {
    using dataset = await pushedDataset(started.server, 'keys');
    changeDataset(dataset);
    await using window = await open(dataset);
    const { page } = window;
    const { keyboard } = page;
    const active = () =>
      page.evaluate(() => {
        const id = document.activeElement?.getAttribute('aria-activedescendant') ?? '';
        return document.getElementById(id)?.querySelector('.change-name')?.getAttribute('title');
      });
    await rowOf(page, 'measurements/').waitFor();
    await tabTo(page, 'treegrid');
    await keyboard.press('Home');
    await keyboard.press('ArrowRight');
    await rowOf(page, 'measurements/raw.bin').waitFor();
    for (let row = 0; row < 3; row += 1) await keyboard.press('ArrowDown');
    await expect.poll(active, WAIT).toBe('measurements/raw.bin');
    await keyboard.press(' ');
    await page.getByRole('button', { name: 'Push 6 changes' }).waitFor();
    await keyboard.press('End');
    await expect.poll(active, WAIT).toBe('pictures/');
    await keyboard.press('/');
    await keyboard.type('obsolete');
    await expect.poll(() => rowsShown(page), WAIT).toEqual(['obsolete.txt Deleted 16 B']);
    await keyboard.press('Escape');
    await expect.poll(async () => (await rowsShown(page)).length, WAIT).toBeGreaterThan(4);
    await tabTo(page, 'button', 'Show it');
    await keyboard.press('Enter');
    await expect.poll(() => rowsShown(page), WAIT).toHaveLength(1);
    await tabTo(page, 'checkbox', 'I have seen the deletions');
    await keyboard.press(' ');
    await tabTo(page, 'textbox', 'Message');
    await keyboard.type('By hand');
    await keyboard.press('Enter');
    await page.getByText('Pushed as commit').waitFor();
    expect((await dataset.cli(WORK, ['log'])).stdout).toContain('By hand');
    expect(window.complaints).toEqual([]);
  });

  longIt('has no accessibility violation by axe in either theme, empty, filled and failed', async () => {
    using dataset = await pushedDataset(started.server, 'axe');
    await using window = await openWorkspace(started.browser, {
      environment: { ...started.server.environment, AWS_SECRET_ACCESS_KEY: 'not the one' },
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    await page.getByText('Nothing to push').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    changeDataset(dataset);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('radio', { name: 'Flat' }).click();
    await page.getByRole('checkbox', { name: 'Push measurements/raw.bin' }).uncheck();
    await rowOf(page, 'notes/method.md').click();
    await page.getByRole('alert').getByText('Cannot show the file').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Pull' }).click();
    await page.getByText('Cannot reach the remote').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });
});

/** Moves the focus by the Tab key alone. */
async function tabTo(
  page: Page,
  role: 'treegrid' | 'button' | 'checkbox' | 'textbox',
  name?: string,
): Promise<void> {
  const wanted = page.getByRole(role, name === undefined ? {} : { name });
  await wanted.waitFor();
  for (let press = 0; press < 60; press += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The Tab key does not lead to ${role} ${name ?? ''}.`);
}

async function choose(page: Page, select: string, choice: string): Promise<void> {
  await page.getByRole('button', { name: select }).click();
  await page.getByRole('option', { name: choice }).click();
}

/** The colour in the middle of each picture in the preview. */
function middleColors(page: Page): Promise<number[][]> {
  return page.locator('.two-sides-image img').evaluateAll((images) =>
    (images as HTMLImageElement[]).map((image) => {
      const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d')!;
      canvas.drawImage(image, 0, 0);
      return [...canvas.getImageData(image.naturalWidth / 2, image.naturalHeight / 2, 1, 1).data].slice(0, 3);
    }),
  );
}
