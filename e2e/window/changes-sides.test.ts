/** The sides of a conflict: mine, theirs or both, and the way back to what was overwritten. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { push } from '../../engine/jobs/push/push.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

const NAMES = ['kept.md', 'method.md', 'third.md'];

describe.skipIf(!findChromium())('A conflict in the Changes screen', () => {
  const started = startBrowserAndStore();

  it('is decided path by path, keeps both versions, and what is overwritten comes back', async () => {
    using dataset = await pushedDataset(started.server, 'sides');
    const { sandbox } = dataset;
    await dataset.clone('other');
    for (const name of NAMES) {
      sandbox.write(`other/notes/${name}`, `theirs of ${name}\n`);
      sandbox.write(`${WORK}/notes/${name}`, `mine of ${name}\n`);
    }
    await push(dataset.context('other'), { message: 'Theirs' });
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: sandbox.path(WORK),
      screen: '#/changes?direction=pull',
    });
    const { page } = window;
    await page.getByText('3 still to decide').waitFor();
    await page.getByRole('button', { name: 'Show them' }).click();
    const decide = (name: string, side: string) =>
      page
        .getByRole('group', { name: `Conflict of notes/${name}` })
        .getByRole('button', { name: side })
        .click();
    await decide('kept.md', 'Keep mine');
    await decide('method.md', 'Take theirs');
    await rowOf(page, 'notes/third.md').click();
    await page.getByLabel('Changes', { exact: true }).press('b');
    await page.getByText('All are decided').waitFor();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('theirs of third.md').waitFor();
    for (const title of ['Mine', 'Theirs']) await preview.getByText(title, { exact: true }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    // Decisions outlive the page.
    await page.reload();
    await page.getByText('All are decided').waitFor();
    await page.getByRole('button', { name: /^Pull \d change/ }).click();
    await page.getByText('1 local file was overwritten').waitFor();
    const here = (name: string) => readFileSync(sandbox.path(WORK, 'notes', name), 'utf8');
    const day = new Date().toISOString().slice(0, 10);
    expect(NAMES.map(here)).toEqual(['mine of kept.md\n', 'theirs of method.md\n', 'theirs of third.md\n']);
    expect(here(`third (mine, ${day}).md`)).toBe('mine of third.md\n');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Put back 1 file').waitFor();
    expect(here('method.md')).toBe('mine of method.md\n');
    // Theirs was kept in turn.
    await page.getByRole('button', { name: 'Kept files' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kept files' });
    await dialog.getByText('notes/method.md').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: /^Put back/ }).click();
    await expect.poll(() => here('method.md'), WAIT).toBe('theirs of method.md\n');
    await page.keyboard.press('Escape');
    await page.getByRole('radio', { name: 'Push' }).click();
    await rowOf(page, 'notes/').waitFor();
    expect(existsSync(sandbox.path(WORK, '.dray/kept'))).toBe(true);
    expect((await dataset.cli(WORK, ['status'])).stdout).not.toContain('.dray');
    expect(window.complaints).toEqual([]);
  });
});
