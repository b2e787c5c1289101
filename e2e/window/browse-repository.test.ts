/** Repositories in Browse: shown by their branches, and kept whole. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { dropFromDesktop } from './drop-from-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { openBrowse, writeTree } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('Browse', () => {
  const started = startBrowserAndStore();

  it('shows a repository by its branches, and changes its objects only once its name is typed', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'stored',
      local: { 'work/birds.csv': 'name\nheron\n', 'notes.md': 'notes' },
      remote: { 'beside.txt': 'x' },
    });
    const { bucketFolder, complaints, home, left, page, right, row } = panes;
    const environment = { ...started.server.environment, DRAY_AUTHOR: 'tester' };
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: join(home, 'work'), environment });
    expect((await dray('init', '--remote', 's3://stored/birds')).exitCode).toBe(0);
    await dray('push', '--message', 'First birds');
    await dray('tag', 'v1');
    await right.getByRole('button', { name: 'Refresh' }).click();
    await row(right, 'birds').dblclick();
    const shown = right.getByRole('region', { name: 'Repository birds' });
    await shown.getByText('main').waitFor();
    await shown.getByText('1 file, 11 B').waitFor();
    await shown.getByText('First birds').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect((await row(right, 'objects').count()) + (await row(right, 'packs').count())).toBe(0);
    await expect.poll(() => right.locator('.pane-foot').innerText()).toBe('1 branch, 1 tag');

    await shown.getByRole('button', { name: 'Show the stored objects' }).click();
    await right.getByText('These are the stored objects of the repository birds.').waitFor();
    // The button has gone, and the keyboard stays in the pane.
    await right.getByRole('grid').and(page.locator(':focus')).waitFor();
    await row(right, 'dray.json').click();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByRole('textbox').fill('dray.json');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const asked = page.getByRole('dialog', { name: 'birds is a Dray repository' });
    await asked.waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(existsSync(join(bucketFolder, 'birds/dray.json'))).toBe(true);
    await asked.getByRole('button', { name: 'Cancel' }).click();

    await row(left, 'notes.md').dragTo(right.getByRole('grid'));
    await asked.waitFor();
    expect(existsSync(join(bucketFolder, 'birds/notes.md'))).toBe(false);
    await page.keyboard.press('Escape');

    await right.getByRole('button', { name: 'Folder above' }).click();
    await row(right, 'birds').click();
    await page.keyboard.press('Delete');
    const typed = page.getByRole('dialog').getByRole('textbox');
    await typed.fill('birds');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await asked.waitFor();
    expect(existsSync(join(bucketFolder, 'birds/dray.json'))).toBe(true);
    await typed.fill('birds');
    await asked.getByRole('button', { name: 'Delete' }).click();
    await row(right, 'birds').waitFor({ state: 'detached' });
    expect(existsSync(join(bucketFolder, 'birds'))).toBe(false);
    expect(complaints).toEqual([]);
  });

  longIt('opens a branch in the pane, whose files are copied out and never changed', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'opened',
      local: {
        'work/herons/grey.csv': 'name\ngrey\n',
        'work/birds.csv': 'name\nheron\n',
        'mine.txt': 'mine',
      },
    });
    const { complaints, home, left, names, page, right, row } = panes;
    const environment = { ...started.server.environment, DRAY_AUTHOR: 'tester' };
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: join(home, 'work'), environment });
    expect((await dray('init', '--remote', 's3://opened/birds')).exitCode).toBe(0);
    await dray('push', '--message', 'First birds');
    await right.getByRole('button', { name: 'Refresh' }).click();
    await row(right, 'birds').dblclick();
    await right.getByRole('row', { name: 'main' }).press('Enter');
    await row(right, 'herons').waitFor();
    // The keyboard is in the list of the version.
    await right.getByRole('grid').and(page.locator(':focus')).waitFor();
    expect(await names(right)).toEqual(['herons', 'birds.csv']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await row(right, 'birds.csv').dblclick();
    await page.getByRole('dialog').getByRole('cell', { name: 'heron', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await row(right, 'herons').dragTo(left.getByRole('grid'));
    await expect.poll(() => existsSync(join(home, 'herons/grey.csv')), WAIT).toBe(true);

    await row(right, 'birds.csv').click();
    expect(await page.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true);
    await page.keyboard.press('Delete');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await row(left, 'mine.txt').click();
    expect(await page.getByRole('button', { name: 'Copy to the right' }).isDisabled()).toBe(true);
    await right.getByRole('button', { name: 'Read by S3' }).click();
    await page.getByRole('dialog').getByText('main/', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await right.getByRole('button', { name: 'Folder above' }).click();
    await right.getByRole('region', { name: 'Repository birds' }).waitFor();

    // A version stays open over a reload.
    await right.getByRole('row', { name: 'main' }).press('Enter');
    await row(right, 'herons').waitFor();
    await page.reload();
    await row(right, 'herons').waitFor();
    expect(complaints).toEqual([]);
  });

  longIt('is deleted among more entries than the page names, once its name is typed', async () => {
    const others = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`full/${at}.txt`, '']));
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'among',
      local: { ...others, 'work/birds.csv': 'name\nheron\n' },
    });
    const { complaints, home, left, page, row } = panes;
    const environment = { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), DRAY_AUTHOR: 'tester' };
    const dray = (...parameters: string[]) => runCli(parameters, { cwd: join(home, 'work'), environment });
    expect((await dray('init', '--remote', join(home, 'full/birds'))).exitCode).toBe(0);
    expect((await dray('push', '--message', 'First birds')).exitCode).toBe(0);
    await row(left, 'full').dblclick();
    await row(left, 'birds').click();
    await page.keyboard.press('Control+a');
    await left.getByText('2,002 of 2,002 chosen').waitFor();
    await page.keyboard.press('Delete');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    const asked = page.getByRole('dialog', { name: 'birds is a Dray repository' });
    await asked.getByRole('textbox').fill('birds');
    await asked.getByRole('button', { name: 'Delete' }).click();
    await left.getByText('An empty folder').waitFor();
    expect(complaints).toEqual([]);
  });

  longIt('asks for its name before files are dropped among its objects', async () => {
    const remote = { 'birds/dray.json': '{}', 'birds/refs/heads/main': 'x', 'open/a.txt': 'a' };
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'dropped-inside',
      remote,
    });
    const { bucketFolder, folder, page, right, row } = panes;
    writeTree(folder, { 'new.txt': 'new', 'birds/refs/heads/other': 'x' });
    await row(right, 'birds').dblclick();
    await right.getByRole('button', { name: 'Show the stored objects' }).click();
    await row(right, 'dray.json').waitFor();
    await dropFromDesktop(page, right.getByRole('grid'), [join(folder, 'new.txt')]);
    const asked = page.getByRole('dialog', { name: 'birds is a Dray repository' });
    await asked.getByRole('textbox').fill('birds');
    expect(existsSync(join(bucketFolder, 'birds/new.txt'))).toBe(false);
    await asked.getByRole('button', { name: 'Copy into it' }).click();
    await row(right, 'new.txt').waitFor();

    // Among the files of a folder that holds one, those inside are refused.
    await right.getByRole('button', { name: 'Folder above' }).click();
    await row(right, 'open').waitFor();
    await dropFromDesktop(page, right.getByRole('grid'), [join(folder, 'birds')]);
    await page.getByRole('dialog').getByRole('button', { name: 'Copy and replace' }).click();
    await page.getByText(/^birds\/refs\/heads\/other: "birds" is a Dray repository/).waitFor();
    expect(existsSync(join(bucketFolder, 'birds/refs/heads/other'))).toBe(false);
  });

  longIt('is cloned from Browse with its address filled in', async () => {
    const remote = { 'lab data/birds/dray.json': '{}' };
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'cloned-from',
      remote,
    });
    const { home, page, right, row } = panes;
    await row(right, 'lab data').dblclick();
    await row(right, 'birds').dblclick();
    await right.getByRole('link', { name: 'Clone' }).click();
    await page.getByRole('textbox', { name: 'Folder to download them to' }).fill(join(home, 'birds'));
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create it' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Bucket' }).inputValue()).toBe('cloned-from');
    expect(await page.getByRole('textbox', { name: /^(Prefix|Folder)/ }).inputValue()).toBe('lab data/birds');
  });

  longIt('warns that a sync deletes a repository, and deletes it once its name is typed', async () => {
    const remote = { 'data/birds/dray.json': '{}', 'data/birds/refs/heads/main': 'x' };
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'repository',
      local: { 'data/notes.md': 'notes' },
      remote,
    });
    const { bucketFolder, right, row } = panes;
    const { left, page } = panes;
    await row(left, 'data').dblclick();
    await row(right, 'data').dblclick();
    await row(right, 'birds').waitFor();
    await row(left, 'notes.md').click();
    await page.getByRole('button', { name: 'Sync or copy all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Sync' }).press('Space');
    await dialog.getByText('birds is a Dray repository').waitFor();
    expect(await dialog.getByRole('button', { name: 'Sync and delete 2 files' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: /^Type birds to delete 2 files/ }).fill('birds');
    await dialog.getByRole('button', { name: 'Sync and delete 2 files' }).click();
    await row(right, 'birds').waitFor({ state: 'detached' });
    expect(existsSync(join(bucketFolder, 'data/birds'))).toBe(false);
  });
});
