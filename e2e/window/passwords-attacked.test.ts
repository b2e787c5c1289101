/** What a hostile store, a second window, a guesser and an unattended job meet at an encrypted repository. */
import { writeFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndSlowStore } from './browser-and-store.ts';
import { HERON_PASSWORD as PASSWORD, pushedBirds } from './data/encrypted-birds.ts';
import { findChromium } from './find-chromium.ts';
import { press, typeInto } from './keyboard/press-keys.ts';
import { heapOf } from './page/held-texts.ts';
import { rowOf, stateOf } from './page/transfer-rows.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const SECOND = 'a kingfisher dives';
const DAMAGED = 100;
const GUESSES = 10;
const HOSTILE = `<img src=x onerror=alert(1)>\u202egnp.exe ${'long'.repeat(40)}`.slice(0, 200);

describe.skipIf(!findChromium())('An encrypted repository in the window', () => {
  const started = startBrowserAndSlowStore();

  longIt('lets a saved job run only once its environment gives the password', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    {
      await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
      const { origin, page } = window;
      // What is typed into the window does not reach the job.
      await unlock(page, PASSWORD);
      await page.getByRole('heading', { name: 'the first' }).waitFor();
      await page.goto(`${origin}/#/jobs`);
      const card = await runSend(page, root);
      await card.getByText('Failed', { exact: true }).waitFor();
      await card.getByText('Set DRAY_PASSWORD, DRAY_PASSWORD_FILE or', { exact: false }).waitFor();
    }
    sandbox.write('birds/second.txt', 'bittern\n');
    const file = sandbox.path('password');
    const environment = { DRAY_PASSWORD_FILE: file };
    await using window = await openWorkspace(started.browser, { root, screen: '#/jobs', environment });
    const { page } = window;
    const card = await runSend(page, root);
    await card.getByText('Failed', { exact: true }).waitFor();
    await card.getByText(file, { exact: false }).waitFor();
    writeFileSync(file, `${PASSWORD}\n`, { mode: 0o600 });
    await press(page, card.getByRole('button', { name: 'Run now: send' }));
    await card.getByText('Done', { exact: true }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('asks for the password although the environment names a file that cannot be read', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    const environment = { DRAY_PASSWORD_FILE: sandbox.path('gone') };
    await using window = await openWorkspace(started.browser, { root, screen: '#/history', environment });
    const { page } = window;
    await page.getByText(sandbox.path('gone'), { exact: false }).first().waitFor();
    await unlock(page, PASSWORD);
    await page.getByRole('heading', { name: 'the first' }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('keeps a long label of its store as text, and its buttons within the dialog', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    await using window = await openWorkspace(started.browser, { root, screen: '#/repositories' });
    const { page } = window;
    const change = { kind: 'add', label: HOSTILE, newPassword: 'another' } as const;
    await askEngine(page, 'passwords.change', { root, password: PASSWORD, change });
    await page.setViewportSize({ width: 360, height: 740 });
    await press(page, page.getByRole('button', { name: 'Passwords... of birds' }));
    const dialog = page.getByRole('dialog', { name: 'Passwords of birds' });
    const label = dialog.getByText('<img src=x onerror=alert(1)>\\u202egnp.exe', { exact: false });
    await label.waitFor();
    await expectWithin(dialog, dialog.getByRole('button', { name: /^Remove the/ }));
    await press(page, dialog.getByRole('button', { name: /^Remove the password <img/ }));
    const remove = page.getByRole('dialog', { name: 'Remove a key?' });
    await remove.getByText('stops working').waitFor();
    expect(await remove.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await expectWithin(remove, remove.locator('strong'));
    expect(window.complaints).toEqual([]);
  });

  it('lists its keys after a few of many keys that a stranger has damaged', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    for (let slot = 0; slot < DAMAGED; slot += 1) {
      const id = slot.toString(16).padStart(64, '0');
      writeFileSync(sandbox.path('store', 'keys', id), '{"format":1}');
    }
    await using window = await openWorkspace(started.browser, { root, screen: '#/repositories' });
    const { page } = window;
    await press(page, page.getByRole('button', { name: 'Passwords... of birds' }));
    const dialog = page.getByRole('dialog', { name: 'Passwords of birds' });
    await dialog.getByText(`${DAMAGED - 5} more keys cannot be used.`).waitFor();
    expect(await dialog.locator('.notice').count()).toBe(6);
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'says each of ten wrong passwords at the field, and opens with the right one afterwards',
    async () => {
      using sandbox = createSandbox();
      const { root } = await pushedBirds(sandbox);
      await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
      const { page } = window;
      await press(page, page.getByRole('button', { name: 'Enter the password' }));
      const dialog = page.getByRole('dialog', { name: 'Password of the repository' });
      const field = dialog.getByLabel('Password or recovery key');
      for (let guess = 0; guess < GUESSES; guess += 1) {
        await typeInto(page, field, `wrong ${guess}`);
        await page.keyboard.press('Enter');
        await dialog.getByText('This password opens no key of the repository.').waitFor();
        await field.and(page.locator(':focus')).waitFor();
      }
      await typeInto(page, field, PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'the first' }).waitFor();
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('leaves no password in the heap of the page', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
    const { origin, page } = window;
    await press(page, page.getByRole('button', { name: 'Enter the password' }));
    await page.getByLabel('Password or recovery key').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(PASSWORD);
    expect(await heapOf(page)).toContain(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'the first' }).waitFor();
    await page.goto(`${origin}/#/repositories`);
    await press(page, page.getByRole('button', { name: 'Passwords... of birds' }));
    await press(page, page.getByRole('button', { name: 'Add a password...' }));
    await typeInto(page, page.getByLabel('Your password or recovery key'), PASSWORD);
    await typeInto(page, page.getByLabel('New password'), SECOND);
    await typeInto(page, page.getByLabel('The same again'), SECOND);
    await page.keyboard.press('Enter');
    await page.getByText('Added a password of birds').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${origin}/#/settings`);
    await lock(page);
    await page.goto(`${origin}/#/history`);
    await page.getByText('is encrypted, and is locked here').waitFor();
    const heap = await heapOf(page);
    expect(heap).toContain('is encrypted, and is locked here');
    for (const password of [PASSWORD, SECOND]) expect(heap.split(password).length - 1).toBe(0);
    expect(window.complaints).toEqual([]);
  });

  longIt('that one window locks is asked for by the other, which goes on', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
    const { context, origin, page } = window;
    await unlock(page, PASSWORD);
    await page.getByRole('heading', { name: 'the first' }).waitFor();
    const other = await context.newPage();
    await other.goto(`${origin}/#/settings`);
    await lock(other);
    await page.bringToFront();
    await page.goto(`${origin}/#/repositories`);
    await unlock(page, PASSWORD);
    await press(page, page.getByRole('button', { name: 'Check the space of birds' }));
    await page.getByText('A collection frees').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'that is locked while a push runs takes all of that push, and asks before the next one',
    async () => {
      using sandbox = createSandbox();
      const { environment, gate, server } = started.store;
      const { root } = await pushedBirds(sandbox, `s3://${server.bucket}/birds`, server.environment);
      await using window = await openWorkspace(started.browser, { root, screen: '#/history', environment });
      const { origin, page } = window;
      await unlock(page, PASSWORD);
      await page.getByRole('heading', { name: 'the first' }).waitFor();
      sandbox.write('birds/second.txt', 'bittern\n');
      gate.hold(({ method }) => method === 'PUT', 0);
      await askEngine(page, 'transfers.start', { kind: 'push', root });
      await expect.poll(() => gate.held(), WAIT).toBeGreaterThan(0);
      await page.goto(`${origin}/#/settings`);
      await lock(page);
      gate.release();
      await page.goto(`${origin}/#/transfers`);
      const row = rowOf(page, 'Push birds');
      await expect.poll(stateOf(row), WAIT).toBe('Done');
      sandbox.write('birds/third.txt', 'crane\n');
      await askEngine(page, 'transfers.start', { kind: 'push', root });
      await page.getByRole('button', { name: 'Enter the password' }).waitFor();
      await unlock(page, PASSWORD);
      await expect
        .poll(() => page.locator('.transfer .badge').allInnerTexts(), WAIT)
        .toEqual(['Done', 'Done']);
      expect(window.complaints).toEqual([]);
    },
  );
});

/** Saves a job that pushes, and runs it. */
async function runSend(page: Page, root: string): Promise<Locator> {
  await askEngine(page, 'saved.save', { name: 'send', words: ['push'], directory: root });
  const card = page.locator('[data-job="send"]');
  await press(page, card.getByRole('button', { name: 'Run now: send' }));
  return card;
}

async function unlock(page: Page, password: string): Promise<void> {
  await press(page, page.getByRole('button', { name: 'Enter the password' }).first());
  const dialog = page.getByRole('dialog', { name: 'Password of the repository' });
  await typeInto(page, dialog.getByLabel('Password or recovery key'), password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}

/** On the screen of settings. */
async function lock(page: Page): Promise<void> {
  await press(page, page.getByRole('button', { name: /^Remove: Key of/ }));
  await press(page, page.getByRole('button', { name: 'Remove', exact: true }));
  await page.getByText('This computer has none.').waitFor();
}

async function expectWithin(box: Locator, parts: Locator): Promise<void> {
  const { x = 0, width = 0 } = (await box.boundingBox()) ?? {};
  expect(await parts.count()).toBeGreaterThan(0);
  for (const part of await parts.all()) {
    const found = (await part.boundingBox())!;
    expect(found.x).toBeGreaterThanOrEqual(x);
    expect(found.x + found.width).toBeLessThanOrEqual(x + width);
  }
}
