/** A clone in the window: a transfer like every other, and a card on Home until all of it is here. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { isObject } from '../servers/request-gate.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { pushScans } from './data/scans-in-store.ts';
import { findChromium } from './find-chromium.ts';
import { type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf, WAIT } from './page/transfer-rows.ts';
import { relayHost } from './relay-host.ts';

describe.skipIf(!findChromium())('A clone', () => {
  const slow = startBrowserAndSlowStore();
  let folder: string;
  let contents: ReadonlyMap<string, Buffer>;

  beforeAll(async () => {
    contents = await pushScans(slow.store);
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dray-clone-'));
    slow.store.gate.release();
    await slow.store.server.resetRequests();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (path = '/#/home?add=yes') =>
    openWindow(slow.browser, { environment: slow.store.environment, folder, path });

  /** Starts the clone into `folder/clone`, and holds it once some of its content is read. */
  const startClone = async ({ page }: OpenWindow) => {
    await askEngine(page, 'settings.set', { transfers: 2 });
    slow.store.gate.hold(isObject, 2);
    mkdirSync(join(folder, 'clone'));
    await fillClone(page, join(folder, 'clone'), slow.store.server.bucket);
    await page.getByRole('button', { name: 'Download the files' }).click();
    await expect.poll(() => page.url(), WAIT).toContain('#/transfers');
  };
  const arrived = () => [...contents.keys()].filter((path) => existsSync(join(folder, 'clone', path)));
  const expectWhole = () => {
    for (const [path, bytes] of contents)
      expect(readFileSync(join(folder, 'clone', path)).equals(bytes)).toBe(true);
  };

  it('is a transfer that outlives a reload, can be paused, and shows on Home until it is whole', async () => {
    await using window = await open();
    const { page } = window;
    await startClone(window);
    const row = rowOf(page, 'Clone clone');
    await expect.poll(stateOf(row), WAIT).toBe('Downloading');
    await page.reload();
    await expect.poll(stateOf(row), WAIT).toBe('Downloading');
    await expect.poll(() => arrived().length, WAIT).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Pause Clone clone' }).click();
    await expect.poll(stateOf(row), WAIT).toBe('Paused');
    expect(arrived().length).toBeLessThan(contents.size);

    await page.getByRole('link', { name: 'Home' }).click();
    const card = page.getByRole('article', { name: 'clone' });
    await card.getByText('Paused').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    slow.store.gate.release();
    await card.getByRole('button', { name: 'Continue' }).click();
    await card.getByText('No changes').waitFor();
    expectWhole();
    expect(window.complaints).toEqual([]);
  });

  longIt('continues by itself after a kill of `dray ui`', async () => {
    const killed = await open();
    await startClone(killed);
    await expect.poll(() => arrived().length, WAIT).toBeGreaterThan(0);
    process.kill(killed.engine.processId!, 'SIGKILL');
    await killed.page.getByText("Dray's engine does not answer.").waitFor();
    await killed.context.close();
    expect(arrived().length).toBeLessThan(contents.size);
    slow.store.gate.release();

    await using window = await open('/#/home');
    const card = window.page.getByRole('article', { name: 'clone' });
    await card.getByText('No changes').waitFor();
    expectWhole();
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'is shown as whole, also if it ends before a page that was just opened knows the queue',
    async () => {
      await using window = await open();
      const { page } = window;
      await startClone(window);
      await expect.poll(() => arrived().length, WAIT).toBeGreaterThan(0);
      const queue = await holdQueue(page);
      await page.goto(`${window.origin}/#/home`);
      await page.reload();
      const card = page.getByRole('article', { name: 'clone' });
      await card.getByText('Not all files are here').waitFor();
      slow.store.gate.release();
      await expect.poll(queue.newest, WAIT).toContain('"state":"done"');
      queue.release();
      await card.getByText('No changes').waitFor();
    },
  );

  longIt('that was cancelled stays as a card, which can continue or be removed', async () => {
    await using window = await open();
    const { page } = window;
    await startClone(window);
    await expect.poll(() => arrived().length, WAIT).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Cancel Clone clone' }).click();
    await expect.poll(stateOf(rowOf(page, 'Clone clone')), WAIT).toBe('Cancelled');
    await page.getByRole('button', { name: 'Clear the list' }).click();
    await page.getByRole('link', { name: 'Home' }).click();
    const card = page.getByRole('article', { name: 'clone' });
    await card.getByText('Not all files are here').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await card.getByRole('button', { name: 'Continue' }).click();
    await card.getByText('Downloading').waitFor();
    await card.getByRole('button', { name: 'More of clone' }).click();
    await page.getByRole('menuitem', { name: 'Forget this workspace' }).click();
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await card.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
    expect(existsSync(join(folder, 'clone', '.dray'))).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'is refused in the dialog where its folder cannot be used, and where there is no repository',
    async () => {
      await using window = await open();
      const { page } = window;
      mkdirSync(join(folder, 'full'));
      writeFileSync(join(folder, 'full', 'mine.txt'), 'mine');
      writeFileSync(join(folder, 'file'), 'mine');
      const press = () => page.getByRole('button', { name: 'Next' }).click();
      const alert = page.getByRole('alert');
      await page.getByRole('radio', { name: 'Someone has pushed them already' }).click();
      const field = page.getByLabel('Folder to download them to');
      for (const [name, words] of [
        ['full', 'is not empty'],
        ['file', 'is not a folder'],
      ] as const) {
        await field.fill(join(folder, name));
        await press();
        await alert.getByText(words).waitFor();
      }
      mkdirSync(join(folder, 'clone'));
      await fillClone(page, join(folder, 'clone'), slow.store.server.bucket, 'nothing');
      await page.getByRole('button', { name: 'Download the files' }).click();
      await alert.getByText('There is no repository').waitFor();
      expect(page.url()).toContain('#/home');
      await page.getByLabel('Folder in it (optional)').fill('scans');
      await page.getByRole('button', { name: 'Download the files' }).click();
      await expect.poll(stateOf(rowOf(page, 'Clone clone')), WAIT).toBe('Done');
      expect(await page.locator('.transfer').count()).toBe(1);
      expectWhole();
      expect(window.complaints).toEqual([]);
    },
  );
});

async function fillClone(page: Page, root: string, bucket: string, place = 'scans'): Promise<void> {
  await page.getByRole('radio', { name: 'Someone has pushed them already' }).click();
  await page.getByLabel('Folder to download them to').fill(root);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Object storage', { exact: true }).click();
  await page.getByLabel('Bucket', { exact: true }).fill(bucket);
  await page.getByLabel('Folder in it (optional)').fill(place);
}

interface HeldQueue {
  /** The last message about the queue that is held back. */
  readonly newest: () => string;
  /** Lets it pass, and all later ones. */
  readonly release: () => void;
}

/** Holds back what the engine sends of its queue, from the next load of the page on. */
async function holdQueue(page: Page): Promise<HeldQueue> {
  let isHeld = true;
  let newest = '';
  let send = () => {};
  await relayHost(page, {
    toPage(message, pass) {
      if (isHeld && message.includes('"type":"transfers"')) {
        newest = message;
        send = pass;
      } else pass();
    },
  });
  return {
    newest: () => newest,
    release() {
      isHeld = false;
      send();
    },
  };
}
