/** A part of a version that leaves the window by a drag: to the desktop, and to another window. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { NOTES, startHistoryRepository } from './data/history-repository.ts';
import { begunDrags, installFakeDesktop } from './fake-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { contentsRow, openContents } from './page/contents.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('A part of a version', () => {
  const repository = startHistoryRepository();

  it('is a file that Chromium downloads once where it is dropped', async () => {
    await using window = await repository.open();
    const { complaints, page } = window;
    const contents = await openContents(page, 'first');
    const data = await dragRow(page, contentsRow(contents, 'notes.md'));
    const [, name, address] = /^application\/octet-stream:([^:]+):(.*)$/.exec(data.DownloadURL!) ?? [];
    expect(name).toBe('notes.md');
    const downloading = page.waitForEvent('download');
    await follow(page, address!);
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('notes.md');
    expect(readFileSync(await download.path(), 'utf8')).toBe(NOTES.first);
    const again = await page.evaluate(async (url) => (await fetch(url)).status, address!);
    expect(again).toBe(404);
    // Without the cookie of this browser the address is worth nothing, even before its use.
    const other = await dragRow(page, contentsRow(contents, 'coast.png'));
    const address2 = other.DownloadURL!.slice('application/octet-stream:coast.png:'.length);
    expect((await fetch(address2)).status).toBe(403);
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  it('has no address as a folder or as several entries, which are copied out', async () => {
    await using window = await repository.open();
    const { page } = window;
    const contents = await openContents(page, 'first');
    expect(await dragRow(page, contentsRow(contents, 'reads'))).not.toHaveProperty('DownloadURL');
    await contentsRow(contents, 'notes.md').click();
    await contentsRow(contents, 'coast.png').locator('.entry-tick').click();
    await page.getByText('2 of 4 chosen').waitFor();
    expect(await dragRow(page, contentsRow(contents, 'notes.md'))).not.toHaveProperty('DownloadURL');
    expect(await page.getByRole('button', { name: 'Drag out...' }).count()).toBe(0);
  });

  longIt('is copied where it is dropped in another window', async () => {
    await using window = await repository.open();
    const { complaints, context, folder, origin, page } = window;
    const contents = await openContents(page, 'first');
    await contentsRow(contents, 'reads').click();
    await contentsRow(contents, 'notes.md').locator('.entry-tick').click();
    const data = await dragRow(page, contentsRow(contents, 'reads'));
    // That drag has ended. A real one goes on until its drop.
    const { id } = JSON.parse(data['application/x-dray-entries']!);
    await page.evaluate((name) => localStorage.setItem('dray-drag', name), id);
    const other = await context.newPage();
    await other.goto(`${origin}/#/browse`);
    const left = other.getByRole('region', { name: /^Left pane/ });
    await dropData(left.getByRole('grid'), data);
    const home = join(folder, 'home');
    await expect.poll(() => existsSync(join(home, 'reads/run-2.csv')), WAIT).toBe(true);
    await expect.poll(() => existsSync(join(home, 'notes.md')), WAIT).toBe(true);
    expect(readFileSync(join(home, 'notes.md'), 'utf8')).toBe(NOTES.first);
    expect(complaints).toEqual([]);
  });

  it('is prepared in the desktop app, whose system then drags it', async () => {
    await using window = await repository.open();
    const { context, origin, page: opened } = window;
    const page = await context.newPage();
    await installFakeDesktop(page, opened);
    await page.goto(`${origin}/#/history`);
    const contents = await openContents(page, 'first');
    expect(await dragRow(page, contentsRow(contents, 'notes.md'))).not.toHaveProperty('DownloadURL');
    await contentsRow(contents, 'reads').click();
    await contentsRow(contents, 'notes.md').locator('.entry-tick').click();
    await page.getByRole('button', { name: 'Drag out...' }).click();
    const dialog = page.getByRole('dialog', { name: 'Drag out' });
    const ready = dialog.getByText('3 files, 58 B');
    await ready.waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const { x, y } = await middleOf(ready);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y + 30, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => begunDrags(page), WAIT).toHaveLength(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
});

async function middleOf(part: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await part.boundingBox();
  if (!box) throw new Error('It is not visible.');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

type DragData = Readonly<Record<string, string>>;

/** Begins a drag by the mouse. @returns What it carries, by type. */
async function dragRow(page: Page, dragged: Locator): Promise<DragData> {
  const begun = page.evaluate(
    () =>
      new Promise<DragData>((resolve) =>
        addEventListener(
          'dragstart',
          ({ dataTransfer: data }) =>
            resolve(Object.fromEntries([...data!.types].map((type) => [type, data!.getData(type)]))),
          { once: true },
        ),
      ),
  );
  const { x, y } = await middleOf(dragged.locator('.entry-text'));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 5, { steps: 5 });
  const data = await begun;
  await page.keyboard.press('Escape');
  await page.mouse.up();
  // Chromium keeps the name of the type as it is in the event, and a list of types in small letters.
  const { downloadurl, ...others } = data;
  return downloadurl === undefined ? data : { ...others, DownloadURL: downloadurl };
}

/** As Chromium does for a drop on the desktop: with the cookies of this window, and as a download. */
async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate((url) => {
    const link = document.createElement('a');
    link.href = url;
    link.click();
  }, address);
}

/** Drops what another page's drag carries. */
async function dropData(target: Locator, data: DragData): Promise<void> {
  await target.waitFor();
  const { x, y } = await middleOf(target);
  const items = Object.entries(data).map(([mimeType, text]) => ({ mimeType, data: text }));
  const session = await target.page().context().newCDPSession(target.page());
  try {
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x, y, data: { items, dragOperationsMask: 1 } });
  } finally {
    await session.detach();
  }
}
