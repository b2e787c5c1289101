/**
 * Files and folders dragged from the desktop onto Browse: where they arrive, what the window says, and that
 * an interruption leaves nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { writeUserRemotes } from '../../engine/jobs/session/user-remotes.ts';
import { plainPlace, startTestPeer, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { dropFromDesktop } from './drop-from-desktop.ts';
import { findChromium } from './find-chromium.ts';
import { PATIENCE_MS } from './open-window.ts';
import { openBrowse, type Tree, writeTree } from './page/browse-panes.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const MIB = 1024 * 1024;
const WAIT = { timeout: PATIENCE_MS, interval: 100 };
const TREE: Tree = {
  'dropped/runs/a 1.csv': 'run,value\n1,2\n',
  'dropped/runs/deep/100%?.bin': bytesOf(3 * MIB),
  'dropped/empty.txt': '',
  'single.bin': bytesOf(300_000),
};

describe.skipIf(!findChromium())('A drop from the desktop onto Browse', () => {
  const started = startBrowserAndStore();

  it('arrives byte for byte with all its folders, locally and in a store', async () => {
    await using panes = await openBrowse(started.browser, {
      server: started.server,
      bucket: 'dropped',
      local: { 'into/': '' },
      remote: { 'into/kept.txt': 'kept' },
    });
    const { bucketFolder, complaints, folder, home, left, page, right, row } = panes;
    writeTree(join(folder, 'desktop'), TREE);
    const paths = ['dropped', 'single.bin'].map((name) => join(folder, 'desktop', name));
    await dropFromDesktop(page, left.getByRole('grid'), paths);
    await report(page, 'Dropped files have arrived: 4 files, 3.3 MiB.').waitFor();
    await row(left, 'dropped').waitFor();
    await report(page).getByRole('button', { name: 'Close' }).click();
    // A drop on a folder's row goes into that folder.
    await dropFromDesktop(page, row(right, 'into'), paths);
    await report(page, 'Dropped files have arrived: 4 files, 3.3 MiB.').waitFor();
    for (const [path, content] of Object.entries(TREE)) {
      const sent = Buffer.from(content);
      expect(readFileSync(join(home, path)).equals(sent), path).toBe(true);
      expect(readFileSync(join(bucketFolder, 'into', path)).equals(sent), path).toBe(true);
    }
    expect(readdirSync(join(home, 'dropped'))).toEqual(['empty.txt', 'runs']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    // Existing files are replaced only after the user agrees.
    await dropFromDesktop(page, left.getByRole('grid'), paths);
    const asked = page.getByRole('dialog', { name: '2 of them already exist' });
    await asked.getByRole('button', { name: 'Copy and replace' }).click();
    await report(page, 'Dropped files have arrived: 4 files, 3.3 MiB.').waitFor();
    expect(complaints).toEqual([]);
  });

  longIt('is refused by a read-only place with the reason', async () => {
    await using peer = await startTestPeer({ isReadOnly: true });
    await using panes = await openBrowse(started.browser, { server: started.server, bucket: 'read-only' });
    const { folder, home, origin, page, right } = panes;
    writeTree(folder, { token: TEST_TOKEN, 'large.bin': Buffer.alloc(20 * MIB), 'small.txt': 'small' });
    const tokenFile = encodeURIComponent(join(folder, 'token'));
    const url = `${plainPlace(peer.port())}&tokenFile=${tokenFile}`;
    // A link may lead here, so a URL must not choose the file whose content is sent.
    await page.goto(`${origin}/#/browse?place=${encodeURIComponent(url)}`);
    await right.getByText('must not name a token file').waitFor();
    writeUserRemotes({ environment: { XDG_CONFIG_HOME: join(home, '.config') } }, { readonly: { url } });
    // It is the only remote now, so the pane opens with it.
    await page.goto(`${origin}/#/browse`);
    await page.reload();
    await right.getByText('An empty folder').waitFor();
    await dropFromDesktop(page, right.getByRole('grid'), [
      join(folder, 'large.bin'),
      join(folder, 'small.txt'),
    ]);
    const failed = report(page, 'Nothing has arrived.');
    await failed.waitFor();
    const words = await failed.textContent();
    expect(words).toMatch(/large\.bin: .*read-only/);
    expect(words).toMatch(/small\.txt: .*read-only/);
    expect(readdirSync(peer.root)).toEqual([]);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
  });

  longIt('continues while another screen is shown, and stops on request', async () => {
    await using panes = await openBrowse(started.browser, { server: started.server, bucket: 'stopped' });
    const { folder, home, left, page } = panes;
    writeTree(folder, { 'slow.bin': Buffer.alloc(96 * MIB, 'slow ') });
    await slowDown(page);
    await dropFromDesktop(page, left.getByRole('grid'), [join(folder, 'slow.bin')]);
    await report(page, /Sending dropped files: 0 files, [1-9]/).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.getByRole('link', { name: 'Browse' }).click();
    await report(page, 'Sending dropped files').getByRole('button', { name: 'Stop' }).click();
    await report(page, 'Stopped. Files that had arrived stay: 0 files').waitFor();
    await expect.poll(() => leftovers(home), WAIT).toEqual([]);
  });

  longIt('leaves no partial file when the page is closed', async () => {
    await using panes = await openBrowse(started.browser, { server: started.server, bucket: 'broken-off' });
    const { bucketFolder, folder, home, left, page, right } = panes;
    const large = Buffer.alloc(64 * MIB, 'a file that takes its time ');
    writeTree(folder, { 'here.bin': large, 'there.bin': large });
    await slowDown(page);
    await dropFromDesktop(page, left.getByRole('grid'), [join(folder, 'here.bin')]);
    await dropFromDesktop(page, right.getByRole('grid'), [join(folder, 'there.bin')]);
    const uploads = async () => {
      const { environment } = started.server;
      return (await runCli(['uploads', 'list', 's3://broken-off'], { cwd: folder, environment })).stdout;
    };
    await expect.poll(uploads, WAIT).toContain('there.bin');
    await expect.poll(() => leftovers(home).length, WAIT).toBeGreaterThan(0);
    await page.close();
    await expect.poll(uploads, WAIT).not.toContain('there.bin');
    await expect.poll(() => leftovers(home), WAIT).toEqual([]);
    expect(existsSync(join(bucketFolder, 'there.bin'))).toBe(false);
  });
});

function report(page: Page, words?: string | RegExp): Locator {
  const notices = page.locator('.browse .notice');
  return words === undefined ? notices : notices.filter({ hasText: words });
}

/** Slows uploads down, so that a drop is in progress while something else happens. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 3 * MIB,
  });
}

/** All files of the home folder except settings and caches. */
function leftovers(home: string): readonly string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !/^\.(config|cache)/.test(path),
  );
}

function bytesOf(size: number): Uint8Array {
  return Buffer.alloc(size).map((_, at) => (at * 31) % 251);
}
