/** Previews: tables by rows, pictures under a slider, and the bytes of other files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { parquetFile } from '../../engine/host/preview/parquet/parquet.fixture.ts';
import { toneOf } from './data/encode-wav.ts';
import { PICTURES, startHistoryRepository } from './data/history-repository.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { cellsOf } from './page/table-cells.ts';
import { rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The inside of files', () => {
  const repository = startHistoryRepository();

  it('shows the rows of a table with types, and its differences by key, or its text', async () => {
    writeFileSync(join(repository.root, 'reads/run-1.csv'), 'run,value\n1,11\n7,70\n');
    await using window = await repository.open();
    const { complaints, page } = window;
    await page.goto(`${window.origin}/#/changes?direction=push`);
    await rowOf(page, 'reads/').click();
    await page.keyboard.press('ArrowRight');
    await rowOf(page, 'run-1.csv').click();
    const rows = page.getByRole('region', { name: 'Rows that differ' });
    await rows.getByText(/Rows are paired by "run"\. 2 rows differ, 0 rows are the same\./).waitFor();
    expect(await cellsOf(page, 'Rows that differ')).toEqual([
      ['before', '1', '10'],
      ['after', '1', '11'],
      ['AAdded', '7', '70'],
    ]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Text' }).click();
    await expect.poll(() => page.locator('.text-removed').allTextContents(), WAIT).toEqual(['1,10']);

    await page.goto(`${window.origin}/#/history`);
    await page.getByRole('row', { name: 'first', exact: true }).click();
    await page.getByRole('button', { name: 'Preview reads/run-1.csv' }).click();
    const table = page.getByRole('region', { name: 'Rows of reads/run-1.csv' });
    await expect
      .poll(() => table.getByRole('columnheader').allTextContents(), WAIT)
      .toEqual(['runwhole number', 'valuewhole number']);
    expect(await cellsOf(page, 'Rows of reads/run-1.csv')).toEqual([['1', '10']]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  longIt(
    'puts two versions of a picture under a slider that the keys move, and shows the bytes of the rest',
    async () => {
      writeFileSync(join(repository.root, 'coast.png'), Buffer.from(PICTURES.red, 'base64'));
      writeFileSync(join(repository.root, 'raw.bin'), Buffer.from([0, 1, 0x44, 0x72, 0x61, 0x79, 0xff]));
      await using window = await repository.open();
      const { complaints, page } = window;
      await page.goto(`${window.origin}/#/changes?direction=push`);
      await rowOf(page, 'coast.png').click();
      await page.getByRole('radio', { name: 'Slider' }).click();
      const slider = page.getByRole('slider', { name: 'Where the later picture begins' });
      const over = page.locator('.image-slider-box img').last();
      const clip = () => over.evaluate((image) => getComputedStyle(image).clipPath);
      await expect.poll(clip, WAIT).toBe('inset(0px 0px 0px 50%)');
      await slider.press('End');
      await expect.poll(clip, WAIT).toBe('inset(0px 0px 0px 100%)');
      expect(await findViolationsInBothThemes(page)).toEqual([]);

      await rowOf(page, 'raw.bin').click();
      const bytes = page.getByRole('region', { name: /^Bytes of/ });
      await bytes.waitFor();
      expect(await bytes.innerText()).toMatch(/^00000000 {2}00 01 44 72 61 79 ff +\.\.Dray\.$/);
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  longIt(
    'shows Parquet as a table with its types, its differences by key, and why a damaged one has none',
    async () => {
      const environment = { ...repository.server.environment, DRAY_AUTHOR: 'Ada' };
      writeFileSync(join(repository.root, 'sites.parquet'), parquetFile('before'));
      const pushed = await runCli(['push', '-m', 'sites'], { cwd: repository.root, environment });
      expect(pushed).toMatchObject({ exitCode: 0 });
      writeFileSync(join(repository.root, 'sites.parquet'), parquetFile('after'));
      writeFileSync(join(repository.root, 'all.parquet'), parquetFile('types'));
      writeFileSync(join(repository.root, 'broken.parquet'), parquetFile('types').subarray(0, 900));
      await using window = await repository.open();
      const { complaints, page } = window;
      await page.goto(`${window.origin}/#/changes?direction=push`);
      await rowOf(page, 'sites.parquet').click();
      const rows = page.getByRole('region', { name: 'Rows that differ' });
      await rows.getByText(/Rows are paired by "id"\. 3 rows differ, 1 row is the same\./).waitFor();
      expect(await cellsOf(page, 'Rows that differ')).toEqual([
        ['before', '2', 'east'],
        ['after', '2', 'south'],
        ['AAdded', '4', 'west'],
        ['DDeleted', '3', 'west'],
      ]);
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await rowOf(page, 'broken.parquet').click();
      await page
        .getByText('This Parquet file cannot be shown as a table: it does not end as a Parquet file does.')
        .waitFor();
      await page.getByRole('region', { name: /^Bytes of/ }).waitFor();

      await page.goto(`${window.origin}/#/browse?place=${encodeURIComponent(repository.root)}`);
      await page
        .getByRole('row', { name: /all\.parquet/ })
        .first()
        .dblclick();
      const table = page.getByRole('region', { name: 'Rows of all.parquet' });
      await expect.poll(() => table.getByRole('columnheader').first().textContent(), WAIT).toBe('idint64');
      // Text of a file is text here too.
      await table.getByText('<b>bold</b>').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  longIt(
    'says why a picture is not shown, and shows a picture that claims to be a page as text',
    async () => {
      const write = (name: string, bytes: Uint8Array) => writeFileSync(join(repository.root, name), bytes);
      const picture = Buffer.from(PICTURES.red, 'base64');
      write('cut.png', picture.subarray(0, 20));
      write('large.png', Buffer.concat([picture, Buffer.alloc(4 * 1024 * 1024)]));
      write('page.png', Buffer.from('<script>document.title = "run"</script>'));
      await using window = await repository.open();
      const { complaints, page } = window;
      await page.goto(`${window.origin}/#/browse?place=${encodeURIComponent(repository.root)}`);
      for (const [name, said] of [
        ['cut.png', 'The browser cannot show this picture. It is damaged, or too large.'],
        ['large.png', 'Only pictures of up to 4 MiB are shown.'],
        ['page.png', '<script>document.title = "run"</script>'],
      ] as const) {
        await page.getByRole('row', { name }).first().dblclick();
        await page.getByRole('dialog').getByText(said).waitFor();
        expect(await findViolationsInBothThemes(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      expect(await page.title()).not.toBe('run');
      expect(complaints).toEqual([]);
    },
  );

  longIt('plays audio from parts of the file, and says so when the browser cannot', async () => {
    const asked: string[] = [];
    const folder = repository.root;
    writeFileSync(join(folder, 'tone.wav'), toneOf(20));
    writeFileSync(join(folder, 'broken.webm'), Buffer.from('\x1aE\xdf\xa3 and no more', 'latin1'));
    await using window = await repository.open();
    const { complaints, page } = window;
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${window.origin}/#/browse?place=${encodeURIComponent(folder)}`);
    await page
      .getByRole('row', { name: /tone\.wav/ })
      .first()
      .dblclick();
    await page.getByRole('button', { name: /^Load and play/ }).click();
    const audio = page.locator('audio');
    await audio.waitFor();
    await expect
      .poll(() => audio.evaluate((element: HTMLAudioElement) => Math.round(element.duration)), WAIT)
      .toBe(20);
    expect(await audio.evaluate((element: HTMLAudioElement) => element.src)).toMatch(/^blob:/);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await audio.waitFor({ state: 'detached' });

    await page
      .getByRole('row', { name: /broken\.webm/ })
      .first()
      .dblclick();
    await page.getByRole('button', { name: /^Load and play/ }).click();
    await page.getByText('This browser cannot play the file.').waitFor();
    expect(asked.filter((url) => !url.startsWith(window.origin) && !url.startsWith('blob:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  longIt('plays versions in History and both sides of a change, from parts of their files', async () => {
    const environment = { ...repository.server.environment, DRAY_AUTHOR: 'Ada' };
    const write = (name: string, bytes: Uint8Array) => writeFileSync(join(repository.root, name), bytes);
    const push = async (message: string) => {
      const pushed = await runCli(['push', '-m', message], { cwd: repository.root, environment });
      expect(pushed).toMatchObject({ exitCode: 0 });
    };
    await using window = await repository.open();
    const { complaints, context, origin, page } = window;
    write('bell.wav', toneOf(20));
    write('clip.webm', await recordVideo(await context.newPage()));
    await push('sounds');
    write('bell.wav', toneOf(5));
    await push('shorter');
    write('bell.wav', toneOf(2));
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));

    await page.goto(`${origin}/#/changes?direction=push`);
    await rowOf(page, 'bell.wav').click();
    expect(await playedSeconds(page, 'Last push')).toBe(5);
    expect(await playedSeconds(page, 'Mine')).toBe(2);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await page.goto(`${origin}/#/history`);
    await page.getByRole('row', { name: 'shorter', exact: true }).click();
    await page.getByRole('button', { name: 'Preview bell.wav' }).click();
    expect(await playedSeconds(page, /^Before/)).toBe(20);
    expect(await playedSeconds(page, /^After/)).toBe(5);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('row', { name: 'sounds', exact: true }).click();
    await page.getByRole('button', { name: 'Preview clip.webm' }).click();
    await page.getByRole('button', { name: /^Load and play/ }).press('Enter');
    const width = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.videoWidth);
    await expect.poll(width, WAIT).toBe(64);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(asked.filter((url) => !url.startsWith(origin) && !url.startsWith('blob:'))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

/** Loads one side by the keyboard. @returns The rounded length of what the browser plays. */
async function playedSeconds(page: Page, title: string | RegExp): Promise<number> {
  const side = page.getByRole('region', { name: title });
  await side.getByRole('button', { name: /^Load and play/ }).press('Enter');
  const audio = side.locator('audio');
  await audio.waitFor();
  const seconds = () => audio.evaluate((element: HTMLAudioElement) => Math.round(element.duration));
  await expect.poll(seconds, WAIT).toBeGreaterThan(0);
  return seconds();
}

/** A video of 64 by 48 points that the browser itself records. Closes the page. */
async function recordVideo(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: 64, height: 48 });
    const brush = canvas.getContext('2d')!;
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
    const parts: Blob[] = [];
    let frames = 0;
    const draw = setInterval(() => {
      brush.fillStyle = ++frames % 2 === 0 ? 'teal' : 'orange';
      brush.fillRect(0, 0, 64, 48);
    }, 30);
    await new Promise<void>((resolve) => {
      recorder.ondataavailable = ({ data }) => {
        parts.push(data);
        // The first parts hold the header alone.
        if (recorder.state === 'recording' && parts.reduce((sum, { size }) => sum + size, 0) > 1_000)
          recorder.stop();
      };
      recorder.onstop = () => resolve();
      recorder.start(50);
    });
    clearInterval(draw);
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  await page.close();
  return Buffer.from(base64, 'base64');
}
