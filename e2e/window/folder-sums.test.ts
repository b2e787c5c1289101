/** A commit of 100,000 changes, summed by folders: the sums are right, and the page draws few rows. */
import { describe, expect, it } from 'vitest';
import { push } from '../../engine/jobs/push/push.ts';
import { createS3Dataset } from '../s3-dataset.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { commitMillion, FILES_EACH } from './data/million-commit.ts';
import { findChromium } from './find-chromium.ts';
import { openWorkspace } from './window-workspace.ts';

const FOLDERS = 100;
const DRAWN_MAX = 80;

describe.skipIf(!findChromium())('A commit of 100,000 changes', () => {
  const started = startBrowserAndStore();

  it('is summed for each folder, and down to its files', async () => {
    using dataset = createS3Dataset(started.server, 'folder-sums');
    const root = await dataset.init('work');
    dataset.sandbox.write('work/a.jpg', 'the content of every frame');
    await push(dataset.context('work'), {});
    await commitMillion(dataset, 'work', { folders: FOLDERS });
    const { environment } = started.server;
    await using opened = await openWorkspace(started.browser, { environment, root, screen: '#/history' });
    const { complaints, page } = opened;
    await page.getByRole('radio', { name: 'Folders' }).click();
    const sums = page.getByRole('grid', { name: 'Changes by folder' });
    const rows = sums.getByRole('row');
    await page.getByText('100,000 added').waitFor();
    await rows.first().getByText('1,000 added').waitFor();
    // The page draws what is seen, and the engine sends sums instead of rows.
    expect(await rows.count()).toBeLessThan(DRAWN_MAX);
    const { folders, isCut } = await askEngine(page, 'history.folders', { root, to: 'main', folder: '' });
    const none = { modified: 0, deleted: 0, renamed: 0, other: 0 };
    const bytes = FILES_EACH * 'the content of every frame'.length;
    const sumOf = (at: number) => ({
      ...none,
      name: `camera-${String(at).padStart(4, '0')}/`,
      added: 1_000,
      bytes,
    });
    expect({ folders, isCut }).toEqual({
      folders: Array.from({ length: FOLDERS }, (_, at) => sumOf(at)),
      isCut: false,
    });
    await sums.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const inside = page.getByRole('grid', { name: 'Changes in camera-0099/' });
    await inside.getByText('frame-000000.jpg').waitFor();
    expect(await inside.getByRole('row').count()).toBeLessThan(DRAWN_MAX);
    await page.getByText('This folder has more changes than are listed here.').waitFor();
    expect(complaints).toEqual([]);
  });
});
