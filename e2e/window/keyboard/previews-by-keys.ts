/** The insides of two versions by the keyboard: pictures under a slider, tables by their rows, and sounds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { toneOf } from '../data/encode-wav.ts';
import { PICTURES } from '../data/history-repository.ts';
import type { OpenWindow } from '../open-window.ts';
import { cellsOf } from '../page/table-cells.ts';
import { rowsShown, WAIT } from '../window-workspace.ts';
import { command, loadAndPlay, press, pressUntil, tabTo } from './press-keys.ts';

/** Compares a picture with its last push, and moves the slider between them. */
export async function slidePictures(window: OpenWindow, root: string): Promise<void> {
  const { page } = window;
  const [before, after] = [PICTURES.red, PICTURES.blue].map((base64) => Buffer.from(base64, 'base64'));
  const preview = await showChange(window, root, { name: 'coast.png', before: before!, after: after! });
  await tabTo(page, preview.getByRole('radio', { name: 'Side by side' }));
  await pressUntil(page, 'ArrowRight', preview.getByRole('radio', { name: 'Slider' }));
  await page.keyboard.press('Space');
  const later = preview.locator('.image-slider-box img').last();
  const clip = () => later.evaluate((image) => getComputedStyle(image).clipPath);
  await expect.poll(clip, WAIT).toBe('inset(0px 0px 0px 50%)');
  await tabTo(page, preview.getByRole('slider', { name: 'Where the later picture begins' }));
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key);
  await expect.poll(clip, WAIT).toBe('inset(0px 0px 0px 51%)');
  await page.keyboard.press('End');
  await expect.poll(clip, WAIT).toBe('inset(0px 0px 0px 100%)');
}

/** Compares a table with its last push: by rows, then as text. */
export async function compareTables(window: OpenWindow, root: string): Promise<void> {
  const { page } = window;
  const [before, after] = ['run,value\n1,10\n', 'run,value\n1,11\n7,70\n'];
  const preview = await showChange(window, root, { name: 'runs.csv', before, after });
  await tabTo(page, preview.getByRole('region', { name: 'Rows that differ' }));
  expect(await cellsOf(page, 'Rows that differ')).toEqual([
    ['before', '1', '10'],
    ['after', '1', '11'],
    ['AAdded', '7', '70'],
  ]);
  await tabTo(page, preview.getByRole('radio', { name: 'Table' }));
  await pressUntil(page, 'ArrowRight', preview.getByRole('radio', { name: 'Text' }));
  await page.keyboard.press('Space');
  await expect.poll(() => preview.locator('.text-removed').allTextContents(), WAIT).toEqual(['1,10']);
}

/** Plays both sides of a change, and then the pushed version in History. */
export async function playVersions(window: OpenWindow, root: string): Promise<void> {
  const { page } = window;
  const preview = await showChange(window, root, {
    name: 'bell.wav',
    before: toneOf(20),
    after: toneOf(10),
  });
  for (const title of ['Last push', 'Mine'])
    await loadAndPlay(page, preview.getByRole('region', { name: title }));

  await command(page, 'History');
  await tabTo(page, page.getByRole('grid', { name: 'Commits' }).getByRole('row').first());
  const differences = page.getByRole('grid', { name: 'Differences' });
  await tabTo(page, differences.getByRole('row').first());
  await pressUntil(page, 'ArrowDown', differences.getByRole('row', { name: /bell\.wav/ }));
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'bell.wav' });
  await loadAndPlay(page, dialog);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

interface TwoVersions {
  readonly name: string;
  readonly before: string | Uint8Array;
  readonly after: string | Uint8Array;
}

/** Pushes all and this version, writes the next one, and chooses its row. @returns The look at both. */
async function showChange(
  { folder, page }: OpenWindow,
  root: string,
  { name, before, after }: TwoVersions,
): Promise<Locator> {
  const environment = { HOME: join(folder, 'home'), DRAY_AUTHOR: 'tester' };
  writeFileSync(join(root, name), before);
  const pushed = await runCli(['push', '-m', name], { cwd: root, environment });
  expect(pushed).toMatchObject({ exitCode: 0 });
  writeFileSync(join(root, name), after);
  await command(page, 'See what a push would do');
  await press(page, page.getByRole('button', { name: 'Refresh' }));
  await expect.poll(() => rowsShown(page), WAIT).toEqual([expect.stringContaining(name)]);
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('Home');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByRole('heading', { name }).waitFor();
  return preview;
}
