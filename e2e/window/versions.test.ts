/** A commit in the window, without a checkout: browsed, searched, previewed, restored and copied in parts. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { NOTES, PICTURES, startHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { PATIENCE_MS } from './open-window.ts';
import { contentsRow, openContents } from './page/contents.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 100 };

describe.skipIf(!findChromium())('A version', () => {
  const repository = startHistoryRepository();

  it('is browsed by folders, and its tables and pictures are previewed', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    expect(await names(contents)).toEqual(['reads', 'coast.png', 'notes.md', 'obsolete.bin']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await contentsRow(contents, 'reads').dblclick();
    const reads = page.getByRole('grid', { name: 'Contents of reads/' });
    await expect.poll(() => names(reads), WAIT).toEqual(['run-1.csv', 'run-2.csv']);
    await contentsRow(reads, 'run-2.csv').dblclick();
    await page.getByRole('dialog').getByRole('cell', { name: '20', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Top' }).click();
    await contentsRow(contents, 'coast.png').dblclick();
    const picture = page.getByRole('dialog').getByRole('img');
    expect(await picture.getAttribute('src')).toBe(`data:image/png;base64,${PICTURES.red}`);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });

  longIt('is searched by name below the open folder', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    await page.getByRole('searchbox', { name: 'Search names in this folder and below' }).fill('RUN-');
    await expect.poll(() => names(contents), WAIT).toEqual(['run-1.csv', 'run-2.csv']);
    await page.getByText('2 entries found').waitFor();
    expect(await contentsRow(contents, 'run-2.csv').innerText()).toContain('in reads/');
    for (const width of [1024, 640, 390]) {
      await page.setViewportSize({ width, height: 768 });
      const name = contentsRow(contents, 'run-2.csv').locator('.entry-text');
      const room = await name.evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth);
      expect(room, `the name is whole at ${width} px`).toBe(0);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('searchbox').fill('no such');
    await page.getByText('No name below this folder contains "no such".').waitFor();
    await page.getByRole('searchbox').fill('read');
    await contentsRow(contents, 'reads').dblclick();
    const reads = page.getByRole('grid', { name: 'Contents of reads/' });
    await expect.poll(() => names(reads), WAIT).toEqual(['run-1.csv', 'run-2.csv']);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('is restored in the parts that are ticked', async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    expect(await page.getByRole('button', { name: 'Restore...' }).isDisabled()).toBe(true);
    await contentsRow(contents, 'obsolete.bin').locator('.entry-tick').click();
    await contentsRow(contents, 'notes.md').locator('.entry-tick').click();
    await page.getByText('2 of 4 chosen').waitFor();
    await page.getByRole('button', { name: 'Restore...' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore 2 entries' });
    await dialog.getByText('2 files').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await expect.poll(() => existsSync(join(root, 'obsolete.bin')), WAIT).toBe(true);
    await expect.poll(() => readFileSync(join(root, 'notes.md'), 'utf8'), WAIT).toBe(NOTES.first);
    expect(complaints).toEqual([]);
  });

  longIt('is copied into a folder that the person chooses, and asks before it replaces', async () => {
    const { root } = repository;
    await using window = await repository.open();
    const { complaints, page } = window;
    const out = join(window.folder, 'out');
    mkdirSync(out);
    writeFileSync(join(out, 'notes.md'), 'mine');
    const contents = await openContents(page, 'first');
    await contentsRow(contents, 'reads').click();
    await contentsRow(contents, 'notes.md').locator('.entry-tick').click();
    await page.getByRole('button', { name: 'Copy out...' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy 2 entries out' });
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await dialog.getByText('Choose a folder, or type its whole path.').waitFor();
    await dialog.getByRole('textbox', { name: 'Folder to copy into' }).fill(out);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copy and replace' }).click();
    await expect.poll(() => existsSync(join(out, 'reads/run-2.csv')), WAIT).toBe(true);
    await expect.poll(() => readFileSync(join(out, 'notes.md'), 'utf8'), WAIT).toBe(NOTES.first);
    expect(existsSync(join(root, 'reads/run-2.csv'))).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('says how S3 clients read it, and shows the secret key only after a click', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    await page.getByRole('button', { name: 'Read by S3' }).click();
    const dialog = page.getByRole('dialog', { name: 'Read this version by S3' });
    await dialog.getByText(/^dray gateway s3:\/\/.*\/coast/).waitFor();
    await dialog.getByText('Its first start makes a key pair').waitFor();
    expect(await dialog.getByText('Show the secret key').count()).toBe(0);
    await page.keyboard.press('Escape');

    const secret = 'abcdefghijklmnopqrstuvwxyz0123456789ABCD';
    const keys = { accessKeyId: 'DRAYABCDEFGHIJKLMNOP', secretAccessKey: secret };
    const config = join(window.folder, 'home/.config/dray');
    writeFileSync(join(config, 'gateway.json'), JSON.stringify(keys));
    await contentsRow(contents, 'notes.md').click();
    await page.getByRole('button', { name: 'Read by S3' }).click();
    await dialog.getByText(keys.accessKeyId, { exact: true }).waitFor();
    const snippet = dialog.getByRole('region', { name: /^Snippet for/ });
    expect(await snippet.innerText()).toMatch(
      /download_file\("coast", "[0-9a-f]{64}\/notes\.md", "notes\.md"\)/,
    );
    expect(await page.content()).not.toContain(secret);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show the secret key' }).click();
    await dialog.getByText(secret, { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Copy the secret key' }).and(page.locator(':focus')).waitFor();
    for (const [program, words] of [
      ['Python', `aws_secret_access_key="${secret}"`],
      ['DuckDB', `SECRET '${secret}'`],
      ['rclone', `RCLONE_S3_SECRET_ACCESS_KEY=${secret}`],
    ] as const) {
      await dialog.getByRole('radio', { name: program }).click();
      expect(await snippet.innerText()).toContain(words);
    }
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    // Another time, it has to be asked for again.
    await page.getByRole('button', { name: 'Read by S3' }).click();
    await dialog.getByRole('button', { name: 'Show the secret key' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  longIt('is summed by folders, down to the files that it changed', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const commits = page.getByRole('grid', { name: 'Commits' });
    await commits.getByRole('row', { name: 'second', exact: true }).click();
    await page.getByRole('radio', { name: 'Folders' }).click();
    const sums = page.getByRole('grid', { name: 'Changes by folder' });
    const reads = sums.getByRole('row', { name: 'reads/' });
    expect(await reads.innerText()).toContain('1 renamed');
    expect(await sums.getByRole('row').count()).toBe(4);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await reads.dblclick();
    const inside = page.getByRole('grid', { name: 'Changes in reads/' });
    await inside.getByRole('row', { name: 'run-02.csv' }).press('Enter');
    await page
      .getByRole('dialog')
      .getByText(/as reads\/run-2.csv/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Of the first commit, all files are new.
    await commits.getByRole('row', { name: 'first', exact: true }).click();
    await page.getByRole('radio', { name: 'Folders' }).click();
    await expect.poll(() => sums.getByRole('row', { name: 'reads/' }).innerText(), WAIT).toContain('2 added');
    expect(complaints).toEqual([]);
  });

  longIt('has the room that a short history leaves below it, and a long one keeps some rows', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    await openContents(page, 'first');
    const list = page.getByRole('grid', { name: 'Commits' });
    const room = () => list.evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]);
    const row = (await list.getByRole('row').first().boundingBox())!.height;
    const rows = row * (await list.getByRole('row').count());
    await page.setViewportSize({ width: 900, height: 3 * rows });
    await expect.poll(room, WAIT).toEqual([rows, rows]);
    await page.setViewportSize({ width: 480, height: 700 });
    await expect.poll(room, WAIT).toEqual([200, rows]);
    await page.getByRole('button', { name: 'Copy out...' }).scrollIntoViewIfNeeded();
    expect(complaints).toEqual([]);
  });

  longIt('keeps its rows where they are seen if a click comes before the news of a scroll', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    await page.setViewportSize({ width: 390, height: 500 });
    const contents = await openContents(page, 'first');
    await contentsRow(contents, 'obsolete.bin').waitFor();
    const moved = await contents.evaluate(async (grid) => {
      const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const row = [...grid.querySelectorAll('[data-entry]')].at(-1)!;
      const top = row.getBoundingClientRect().top;
      grid.style.maxHeight = '120px';
      await drawn();
      await drawn();
      grid.scrollTop = 40;
      row.querySelector<HTMLElement>('.entry-tick')!.click();
      await new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(resolve)));
      return [grid.scrollTop, top - row.getBoundingClientRect().top];
    });
    expect(moved).toEqual([40, 40]);
    await page.getByText('1 of 4 chosen').waitFor();
    expect(complaints).toEqual([]);
  });

  longIt('is reached by the keyboard alone', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    await contents.focus();
    await page.keyboard.type('coast');
    await expect
      .poll(() => contentsRow(contents, 'coast.png').getAttribute('aria-selected'), WAIT)
      .toBe('true');
    await page.keyboard.press('Control+ArrowDown');
    await page.keyboard.press('Control+ ');
    await page.getByText('2 of 4 chosen').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('run-1');
    await page.getByText('1 entry found').waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.getByText('4 entries').waitFor();
    await page.getByRole('button', { name: 'Read by S3' }).press('Enter');
    await page.getByRole('dialog', { name: 'Read this version by S3' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });
});

function names(grid: Locator): Promise<readonly string[]> {
  return grid.locator('[data-entry] .entry-text').allTextContents();
}
