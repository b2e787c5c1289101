/** Browse with real files and a real store: navigation, copies, syncs and deletions. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { PATIENCE_MS } from './open-window.ts';
import { type BrowsePanes, chosenIn, openBrowse, type Tree, writeTree } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 100 };
const MANY = runBudget({ short: 3_000, long: 20_000 });
const LAST = `file-${String(MANY - 1).padStart(5, '0')}`;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const LOCAL: Tree = {
  'data/reads/run-1.fastq': 'ACGT\n'.repeat(100),
  'data/reads/run-2.fastq': 'TTGA\n'.repeat(100),
  'data/notes.md': '# Notes\n\nOn the reads.\n',
  'data/pixel.png': PIXEL,
  'data/numbers.bin': new Uint8Array(5000),
};
const REMOTE: Tree = { 'photos/2026/coast.jpg': 'no real picture', 'inventory.json': '{"a": 1}\n' };

/** Opens the plan of a sync from the local `data` to the remote one, which shows `there`. */
async function planSync({ left, page, right, row }: BrowsePanes, there: string): Promise<Locator> {
  await row(left, 'data').dblclick();
  await row(right, 'data').dblclick();
  await row(right, there).waitFor();
  await row(left, 'reads').click();
  await page.getByRole('button', { name: 'Sync or copy all' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Sync' }).press('Space');
  return dialog;
}

describe.skipIf(!findChromium())('The two panes of Browse', () => {
  const started = startBrowserAndStore();

  it('navigate by keyboard and by mouse, and preview files', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'walked',
      local: LOCAL,
      remote: REMOTE,
    });
    const { complaints, left, page, right, row } = panes;
    await row(left, 'data').click();
    await page.keyboard.press('Enter');
    await row(left, 'reads').waitFor();
    // The focus moves into the opened folder, and nothing is selected.
    await expect.poll(() => isFocused(row(left, 'reads')), WAIT).toBe(true);
    await expect.poll(() => chosenIn(left), WAIT).toEqual([]);
    const previewNext = async (name: string) => {
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => chosenIn(left), WAIT).toEqual([name]);
      await page.keyboard.press('Space');
      return page.getByRole('dialog', { name });
    };
    /** Waits until the focus is back in the list. */
    const close = async (name: string) => {
      await page.keyboard.press('Escape');
      await expect.poll(() => isFocused(row(left, name)), WAIT).toBe(true);
    };
    await (await previewNext('notes.md')).getByText('On the reads.').waitFor();
    await close('notes.md');
    await (await previewNext('numbers.bin')).getByText('No preview for this kind of file.').waitFor();
    await close('numbers.bin');
    const image = (await previewNext('pixel.png')).getByRole('img', { name: 'pixel.png' });
    await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth), WAIT).toBe(1);
    await close('pixel.png');
    await page.keyboard.press('Backspace');
    await expect.poll(() => chosenIn(left), WAIT).toEqual(['data']);

    await row(right, 'photos').dblclick();
    await row(right, '2026').dblclick();
    await row(right, 'coast.jpg').dblclick();
    await page.getByRole('dialog', { name: 'coast.jpg' }).getByText('no real picture').waitFor();
    await page.keyboard.press('Escape');
    await right.getByRole('button', { name: 'photos' }).click();
    await row(right, '2026').waitFor();
    await right.getByRole('button', { name: 'Folder above' }).click();
    await row(right, 'inventory.json').waitFor();
    await left.getByRole('button', { name: 'Sizes of folders' }).click();
    await expect.poll(() => row(left, 'data').textContent(), WAIT).toContain('6.0 KiB');
    expect(complaints).toEqual([]);
  });

  it('copy by button, mouse and keyboard, and ask before they replace a file', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'copied',
      local: LOCAL,
      remote: REMOTE,
    });
    const { bucketFolder, home, left, page, right, row } = panes;
    await row(left, 'data').click();
    await page.getByRole('button', { name: 'Copy to the right' }).click();
    await row(right, 'data').waitFor();
    expect(readTree(join(bucketFolder, 'data'))).toEqual(readTree(join(home, 'data')));

    await row(right, 'inventory.json').dragTo(left.getByRole('grid'));
    await row(left, 'inventory.json').waitFor();
    expect(readFileSync(join(home, 'inventory.json'), 'utf8')).toBe('{"a": 1}\n');
    await row(left, 'inventory.json').dragTo(row(right, 'photos'));
    await expect.poll(() => existsSync(join(bucketFolder, 'photos/inventory.json')), WAIT).toBe(true);
    // Neither pane shows the content of that folder.
    await row(left, 'inventory.json').dragTo(row(right, 'photos'));
    await page.getByRole('dialog', { name: 'inventory.json already exists' }).getByText('photos/').waitFor();
    await page.keyboard.press('Escape');

    writeFileSync(join(home, 'inventory.json'), '{"a": 2}\n');
    await row(left, 'inventory.json').dragTo(right.getByRole('grid'));
    const asked = page.getByRole('dialog', { name: 'inventory.json already exists' });
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await row(left, 'inventory.json').click();
    // By keyboard alone: Shift+Tab leads from the list to the button.
    await pressUntilFocused(panes, 'Shift+Tab', page.getByRole('button', { name: 'Copy to the right' }));
    await page.keyboard.press('Enter');
    await asked.waitFor();
    expect(readFileSync(join(bucketFolder, 'inventory.json'), 'utf8')).toBe('{"a": 1}\n');
    await asked.getByRole('button', { name: 'Copy and replace' }).press('Enter');
    await expect
      .poll(() => readFileSync(join(bucketFolder, 'inventory.json'), 'utf8'), WAIT)
      .toBe('{"a": 2}\n');
  });

  longIt('ignore entries that another page offers', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'hostile',
    });
    const { bucketFolder, home, left, page, right, row } = panes;
    writeFileSync(join(home, 'secret.txt'), 'secret');
    writeFileSync(join(home, 'wanted.txt'), 'wanted');
    await left.getByRole('button', { name: 'Refresh' }).click();
    await row(left, 'secret.txt').waitFor();
    // A drag as a page of another origin can make it: the right type, and no knowledge of this origin.
    await page.evaluate(() => {
      document.addEventListener('dragstart', ({ dataTransfer }) => {
        const type = 'application/x-dray-entries';
        const { chosen } = JSON.parse(dataTransfer!.getData(type));
        if (chosen.paths.includes('secret.txt'))
          dataTransfer!.setData(type, JSON.stringify({ id: crypto.randomUUID(), chosen }));
      });
    });
    await row(left, 'secret.txt').dragTo(right.getByRole('grid'));
    await row(left, 'wanted.txt').dragTo(right.getByRole('grid'));
    await row(right, 'wanted.txt').waitFor();
    expect(existsSync(join(bucketFolder, 'secret.txt'))).toBe(false);
  });

  longIt('obey every drop and key press, however fast they follow each other', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'at-once',
      local: { 'notes.md': 'mine' },
      remote: { 'photos/notes.md': 'theirs', 'notes.md': 'theirs' },
    });
    const { left, page, right, row } = panes;
    const asked = page.getByRole('dialog', { name: 'notes.md already exists' });
    // The clock stands still, so all of this happens at one moment.
    await page.clock.setFixedTime(new Date('2026-11-21T09:30:00Z'));
    for (let drag = 0; drag < 3; drag += 1) {
      await row(left, 'notes.md').dragTo(row(right, 'photos'));
      await asked.getByText('photos/').waitFor();
      await page.keyboard.press('Escape');
      await asked.waitFor({ state: 'detached' });
    }
    await row(left, 'notes.md').click();
    const copy = page.getByRole('button', { name: 'Copy to the right' });
    for (let press = 0; press < 3; press += 1) {
      await copy.press('Enter');
      await asked.waitFor();
      await page.keyboard.press('Escape');
      await asked.waitFor({ state: 'detached' });
    }
  });

  longIt('keep their folders and their order over a reload and a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-kept-panes-'));
    try {
      const start = { server: started.server, bucket: 'kept', local: LOCAL, remote: REMOTE, folder };
      const areThere = async ({ left, page, right }: BrowsePanes) => {
        await left.getByRole('row').filter({ hasText: 'numbers.bin' }).waitFor();
        await right.getByRole('row').filter({ hasText: 'coast.jpg' }).waitFor();
        expect(await left.getByRole('columnheader', { name: 'Size' }).getAttribute('aria-sort')).toBe(
          'ascending',
        );
        expect(await page.getByRole('alert').count()).toBe(0);
      };
      {
        await using panes = await openBrowse(started.browser, start);
        const { left, page, right, row } = panes;
        await row(left, 'data').dblclick();
        await left.getByRole('button', { name: 'Size', exact: true }).click();
        await row(right, 'photos').dblclick();
        await row(right, '2026').dblclick();
        await row(right, 'coast.jpg').waitFor();
        await page.reload();
        await areThere(panes);
      }
      await using panes = await openBrowse(started.browser, { ...start, isBucketThere: true });
      await areThere(panes);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  longIt('start one copy on a double click', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'twice',
      local: LOCAL,
      remote: REMOTE,
    });
    const { left, page, right, row } = panes;
    const copy = page.getByRole('button', { name: 'Copy to the right' });
    const asked = page.getByRole('dialog', { name: 'data already exists' });
    await row(left, 'data').click();
    await copy.dblclick();
    await row(right, 'data').waitFor();
    await copy.click();
    await asked.waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByRole('list', { name: 'Ended transfers' }).waitFor();
    expect(await page.locator('.transfer-title').allTextContents()).toEqual([
      expect.stringMatching(/^Copy data/),
    ]);
  });

  longIt('copy many files as one transfer', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `run-${String(at).padStart(2, '0')}.csv`);
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'together',
      local: Object.fromEntries(names.map((name) => [`runs/${name}`, name])),
      remote: { 'kept.txt': 'kept' },
    });
    const { bucketFolder, left, page, right, row } = panes;
    const copyAll = async (pane: Locator, to: 'left' | 'right') => {
      await row(pane, 'run-00.csv').click();
      await page.keyboard.press('Control+A');
      await page.getByRole('button', { name: `Copy to the ${to}` }).click();
    };
    await row(left, 'runs').dblclick();
    await copyAll(left, 'right');
    await row(right, 'run-19.csv').waitFor();
    for (const name of names) expect(readFileSync(join(bucketFolder, name), 'utf8')).toBe(name);
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('Copy 20 files of runs to', { exact: false }).waitFor();
  });

  longIt('sync as planned once the user has agreed to the deletions', async () => {
    const remote = { 'data/notes.md': 'older', 'data/only/there.txt': 'x', 'beside.txt': 'stays' };
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'in-step',
      local: LOCAL,
      remote,
    });
    const { bucketFolder, home, page, right, row } = panes;
    const dialog = await planSync(panes, 'only');
    const start = dialog.getByRole('button', { name: 'Sync and delete 1 file' });
    await expect
      .poll(() => dialog.getByRole('listitem').first().textContent(), WAIT)
      .toContain('only/there.txt');
    expect(await start.isDisabled()).toBe(true);
    expect(await dialog.getByRole('listitem').count()).toBe(6);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(existsSync(join(bucketFolder, 'data/only/there.txt'))).toBe(true);
    await dialog.getByText('Delete 1 file in').click();
    await start.click();
    const here = readTree(join(home, 'data'));
    await expect.poll(() => readTree(join(bucketFolder, 'data')), WAIT).toEqual(here);
    await row(right, 'only').waitFor({ state: 'detached' });
    expect(readFileSync(join(bucketFolder, 'beside.txt'), 'utf8')).toBe('stays');
    await page.getByRole('button', { name: 'Sync or copy all' }).click();
    await dialog.getByText('Nothing to do').waitFor();
    // An older plan must not appear for a new one.
    await page.keyboard.press('Escape');
    writeFileSync(join(home, 'data/later.txt'), 'later');
    await page.getByRole('button', { name: 'Sync or copy all' }).click();
    await dialog.waitFor();
    expect(await dialog.getByText('Nothing to do').count()).toBe(0);
    await dialog.getByText('later.txt').waitFor();
  });

  longIt('list the files that a plan skips, and explain that the sync deletes nothing', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'left-out',
      local: { 'data/same.txt': 'same' },
      remote: { 'data/only-there.txt': 'x' },
    });
    const { bucketFolder, home, left, page, right, row } = panes;
    await row(left, 'data').dblclick();
    await row(right, 'data').dblclick();
    await row(left, 'same.txt').dragTo(right.getByRole('grid'));
    await row(right, 'same.txt').waitFor();
    const folder = join(home, 'data');
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/odd-`), Buffer.from([0xff])]), 'no UTF-8');
    symlinkSync('same.txt', join(folder, 'link'));
    await row(left, 'same.txt').click();
    await page.getByRole('button', { name: 'Sync or copy all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 file or folder cannot be read or written.').waitFor();
    await dialog.getByText('odd-', { exact: false }).waitFor();
    await dialog.getByText('1 link or special file is skipped: link.').waitFor();
    await dialog.getByText('1 file is already there.').waitFor();
    expect(await dialog.getByText('All 1 file').count()).toBe(0);
    expect(await dialog.getByText('a sync deletes nothing').count()).toBe(0);
    await dialog.getByRole('radio', { name: 'Sync' }).press('Space');
    await dialog.getByText('Until that is fixed, a sync deletes nothing.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start syncing' }).isDisabled()).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(existsSync(join(bucketFolder, 'data/only-there.txt'))).toBe(true);
  });

  longIt('delete a folder whose name the user has typed, and make folders in a store', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'changed',
      local: LOCAL,
      remote: REMOTE,
    });
    const { bucketFolder, home, left, page, right, row } = panes;
    await row(right, 'photos').getByText('photos').click();
    await expect.poll(() => isFocused(row(right, 'photos')), WAIT).toBe(true);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => isFocused(row(right, 'inventory.json')), WAIT).toBe(true);
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => chosenIn(right), WAIT).toEqual(['photos']);
    await page.keyboard.press('Delete');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 file, 15 B').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Delete' });
    await dialog.getByRole('textbox').pressSequentially('photo');
    expect(await confirm.isDisabled()).toBe(true);
    await page.keyboard.press('s');
    await confirm.click();
    await row(right, 'photos').waitFor({ state: 'detached' });
    expect(existsSync(join(bucketFolder, 'photos'))).toBe(false);
    expect(existsSync(join(bucketFolder, 'inventory.json'))).toBe(true);

    for (const [pane, folder] of [
      [right, bucketFolder],
      [left, home],
    ] as const) {
      await pane.getByRole('button', { name: 'New folder' }).click();
      await dialog.getByRole('textbox', { name: 'Name' }).fill('new one');
      await page.keyboard.press('Enter');
      await row(pane, 'new one').dblclick();
      await pane.getByText('An empty folder').waitFor();
      expect(readdirSync(join(folder, 'new one'))).toEqual([]);
    }
    // Other clients see the folder too, and copies ignore its marker.
    const { environment } = started.server;
    const listed = await runCli(['ls', 's3://changed', '--recursive', '--json'], { cwd: home, environment });
    expect(listed.stdout).toContain('"path":"new one/"');
    writeTree(home, { 'new one/inside.txt': 'inside' });
    await left.getByRole('button', { name: 'Refresh' }).click();
    await row(left, 'inside.txt').dragTo(right.getByRole('grid'));
    await row(right, 'inside.txt').waitFor();
    expect(readFileSync(join(bucketFolder, 'new one/inside.txt'), 'utf8')).toBe('inside');
  });

  longIt("show a store's refusal and recover from it", async () => {
    await using panes = await openBrowse(started.browser, { server: started.server, bucket: 'refusing' });
    const { page, right } = panes;
    const place = encodeURIComponent('s3://no-such-bucket/below');
    await page.goto(`${panes.origin}/#/browse?place=${place}`);
    const alert = right.getByRole('alert');
    await alert.getByText('Cannot read the folder').waitFor();
    expect(await alert.textContent()).toContain('no-such-bucket');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await started.server.createBucket('no-such-bucket');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await right.getByText('An empty folder').waitFor();
    expect(await alert.count()).toBe(0);
  });

  longIt('mark rows as old after a failed read', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'old-rows',
      local: { 'data/kept.txt': 'kept' },
    });
    const { home, left, page, row } = panes;
    const alert = left.getByRole('alert');
    await row(left, 'data').dblclick();
    await row(left, 'kept.txt').waitFor();
    rmSync(join(home, 'data'), { recursive: true });
    await left.getByRole('button', { name: 'Refresh' }).click();
    await alert.getByText('The list may be out of date.').waitFor();
    expect(await row(left, 'kept.txt').count()).toBe(1);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    mkdirSync(join(home, 'data'));
    writeFileSync(join(home, 'data/new.txt'), 'new');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await row(left, 'new.txt').waitFor();
    expect(await alert.count()).toBe(0);
  });

  longIt(`show and sort ${MANY} entries of a store`, async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'many',
      local: { [LAST]: 'another one' },
      remote: manyFiles(),
    });
    const { left, names, page, right, row } = panes;
    await row(right, 'many').dblclick();
    await right.getByText(`${MANY.toLocaleString('en')} entries`, { exact: true }).waitFor();
    await row(left, LAST).dragTo(right.getByRole('grid'));
    await page.getByRole('dialog', { name: `${LAST} already exists` }).waitFor();
    await page.keyboard.press('Escape');
    await right.getByRole('button', { name: 'Name', exact: true }).click();
    await expect.poll(async () => (await names(right))[0], WAIT).toBe(LAST);
    await row(right, LAST).click();
    await page.keyboard.press('Control+End');
    await row(right, 'file-00000').waitFor();
    // Only the visible rows are drawn, however many there are.
    expect(await right.getByRole('row').count()).toBeLessThan(60);
    expect(await row(left, 'file-00000').count()).toBe(0);
    expect(readFileSync(join(panes.bucketFolder, 'many', LAST), 'utf8')).toBe('');
  });

  longIt('have no accessibility violation by axe, in either theme', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'axe',
      local: { ...LOCAL, 'nothing/': '' },
      remote: REMOTE,
    });
    const { left, page, row } = panes;
    await row(left, 'data').click();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sync or copy all' }).click();
    await page.getByRole('radio', { name: 'Sync' }).press('Space');
    await page.getByRole('dialog').getByText('To delete').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row(left, 'nothing').dblclick();
    await left.getByText('An empty folder').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });
});

function manyFiles(): Tree {
  const name = (at: number) => `many/file-${String(at).padStart(5, '0')}`;
  return Object.fromEntries(Array.from({ length: MANY }, (_, at) => [name(at), '']));
}

async function pressUntilFocused({ page }: BrowsePanes, key: string, wanted: Locator): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press(key);
    if (await isFocused(wanted)) return;
  }
  throw new Error(`${key} does not lead there.`);
}

/** A row has the focus through its grid. */
function isFocused(wanted: Locator): Promise<boolean> {
  return wanted.evaluate(({ id }) => {
    const focused = document.activeElement;
    return focused?.id === id || focused?.getAttribute('aria-activedescendant') === id;
  });
}

/** The bytes of each file in base64, by path. */
function readTree(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files
      .map(({ name, parentPath }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length), readFileSync(path, 'base64')]),
  );
}
