/** A version in the window under attack: hostile names and contents, and changes while it is shown. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { parquetFile } from '../../engine/host/preview/parquet/parquet.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { contentsRow, openContents } from './page/contents.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const HTML = '<img src=x onerror=alert(1)>.txt';
const LONG = `${'long'.repeat(50)}.txt`;
const DEEP = Array.from({ length: 25 }, (_, at) => `level-${at}`);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>';

describe.skipIf(!findChromium())('A version under attack', () => {
  const started = startBrowserAndStore();
  let sandbox: Sandbox;
  let root: string;
  const dray = async (...parameters: string[]) => {
    const { exitCode, stderr } = await runCli(parameters, { cwd: root, environment: {} });
    if (exitCode !== 0) throw new Error(stderr);
  };
  const write = (path: string, content: string | Buffer) => writeFileSync(join(root, path), content);
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const open = () => openWorkspace(started.browser, { root, screen: '#/history' });

  beforeAll(async () => {
    sandbox = createSandbox();
    root = sandbox.path('coast');
    sandbox.write('coast/depths.csv', 'first');
    sandbox.write('coast/notes/one.txt', 'first');
    sandbox.write(`coast/${DEEP.join('/')}/bottom.txt`, 'first');
    for (const [path, content] of [
      [HTML, 'the text of it'],
      [LONG, 'long'],
      ['empty.csv', ''],
      ['latin.csv', Buffer.from('caf\u00e9,1\n', 'latin1')],
      ['script.svg', SVG],
      ['locked.parquet', parquetFile('encrypted')],
    ] as const)
      write(path, content);
    symlinkSync('empty.csv', join(root, 'link.csv'));
    await dray('init', '--remote', sandbox.path('store'));
    await dray('push', '-m', 'first');
    write('depths.csv', 'second');
    write('notes/one.txt', 'second');
    await dray('push', '-m', 'second');
  });
  afterAll(() => sandbox?.[Symbol.dispose]());

  it('runs nothing of its files, says why one is not shown, and keeps its buttons in sight', async () => {
    await using window = await open();
    const { complaints, page } = window;
    let alerts = 0;
    page.on('dialog', (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    const contents = await openContents(page, 'first');
    const dialog = page.getByRole('dialog');
    for (const [name, words] of [
      [HTML, 'the text of it'],
      ['script.svg', SVG],
      ['empty.csv', 'An empty file.'],
      ['latin.csv', 'This is not text in UTF-8'],
      ['locked.parquet', 'Column "secret" is not shown: it is encrypted.'],
      [LONG, 'long'],
    ] as const) {
      await contentsRow(contents, name).dblclick();
      await dialog.getByText(words).last().waitFor();
      const close = dialog.getByRole('button', { name: 'Close' }).first();
      const [around, button] = [await dialog.boundingBox(), await close.boundingBox()];
      expect(button!.x + button!.width, name).toBeLessThan(around!.x + around!.width);
      const title = await dialog.getByRole('heading', { name }).boundingBox();
      expect(title!.x + title!.width, name).toBeLessThanOrEqual(button!.x);
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await close.click();
      await dialog.waitFor({ state: 'detached' });
    }
    rmSync(join(root, LONG));
    await contentsRow(contents, LONG).click();
    await page.getByRole('button', { name: 'Restore...' }).click();
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.locator('.toast').filter({ hasText: 'Restoring' }).waitFor();
    await expect.poll(() => existsSync(join(root, LONG)), WAIT).toBe(true);
    const title = page.locator('.toast-title');
    expect(await title.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    expect(alerts).toBe(0);
    expect(complaints).toEqual([]);
  });

  longIt('leaves room to the list in a folder of many levels, and says to all what is a folder', async () => {
    await using window = await open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    const kindOf = (name: string) => contentsRow(contents, name).getAttribute('aria-description');
    expect([await kindOf('notes'), await kindOf('link.csv'), await kindOf('empty.csv')]).toEqual([
      'folder',
      'link',
      null,
    ]);
    await page.getByRole('searchbox').fill('level-24');
    await contentsRow(contents, 'level-24').dblclick();
    const inside = page.getByRole('grid', { name: `Contents of ${DEEP.join('/')}/` });
    await contentsRow(inside, 'bottom.txt').waitFor();
    const crumbs = page.getByRole('navigation', { name: 'Folder of the commit' });
    const current = crumbs.getByRole('button', { name: 'level-24' });
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      const around = (await crumbs.boundingBox())!;
      expect(around.height).toBeLessThan(100);
      expect((await inside.boundingBox())!.height).toBeGreaterThan(200);
    }
    await current.click();
    const [around, box] = [(await crumbs.boundingBox())!, (await current.boundingBox())!];
    expect(box.y + box.height).toBeLessThanOrEqual(around.y + around.height);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  longIt('has no S3 key for a link, so it shows that of its folder', async () => {
    await using window = await open();
    const { page } = window;
    const contents = await openContents(page, 'first');
    const dialog = page.getByRole('dialog');
    const keyOf = async (name: string) => {
      await contentsRow(contents, name).click();
      await page.getByRole('button', { name: 'Read by S3' }).click();
      const snippet = await dialog.getByRole('region', { name: /^Snippet for/ }).innerText();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      return /"[0-9a-f]{64}\/([^"]*)"/.exec(snippet)?.[1];
    };
    expect(await keyOf('empty.csv')).toBe('empty.csv');
    expect(await keyOf('link.csv')).toBe('');
  });

  it('is restored over changes only after a question, and keeps all that it replaces', async () => {
    await using window = await open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    write('depths.csv', 'mine');
    await contentsRow(contents, 'notes').locator('.entry-tick').click();
    await contentsRow(contents, 'depths.csv').locator('.entry-tick').click();
    await page.getByRole('button', { name: 'Restore...' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore 2 entries' });
    await dialog.getByText('1 file changed here since the last push and will be replaced:').waitFor();
    await dialog.getByText('What is replaced is kept for 30 days').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    // The question did not name this file.
    write('notes/one.txt', 'mine, after the question');
    await dialog.getByRole('button', { name: 'Replace and restore' }).click();
    await page.getByText('2 local files were overwritten').waitFor();
    expect([read('depths.csv'), read('notes/one.txt')]).toEqual(['first', 'first']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => read('depths.csv'), WAIT).toBe('mine');
    await expect.poll(() => read('notes/one.txt'), WAIT).toBe('mine, after the question');
    expect(existsSync(join(root, 'empty.csv'))).toBe(true);
    expect(complaints).toEqual([]);
  });

  longIt('says that it was forgotten while it was browsed', async () => {
    await using window = await open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    await contentsRow(contents, 'notes').waitFor();
    await dray('forget', '--keep-last', '1');
    await contentsRow(contents, 'notes').dblclick();
    const panel = page.getByRole('region', { name: 'Commit', exact: true });
    await panel.getByRole('heading', { name: 'Its files are not kept' }).waitFor();
    await page.getByRole('grid', { name: 'Commits' }).getByText('Forgotten').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
