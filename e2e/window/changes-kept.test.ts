/**
 * The Changes screen keeps what a person chose: over another screen, a reload, a second window, a restart of
 * the engine, and a push that failed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createKeptChoices } from '../../engine/host/changes/kept-choices.ts';
import { createRowList } from '../../engine/host/changes/row-list.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { userConfigFolder } from '../../engine/jobs/session/user-remotes.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { changeDataset, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { holdRequests } from './hold-request.ts';
import { relayHost } from './relay-host.ts';
import { openWorkspace, rowOf, rowsShown, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('The choices of the Changes screen', () => {
  const started = startBrowserAndStore();

  it('outlive another screen, a reload, a second window and a restart of the engine', async () => {
    using dataset = await pushedDataset(started.server, 'kept');
    changeDataset(dataset);
    const home = mkdtempSync(join(tmpdir(), 'dray-kept-'));
    const options = {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
      folder: home,
    };
    try {
      {
        await using window = await openWorkspace(started.browser, options);
        const { page } = window;
        await rowOf(page, 'measurements/').getByRole('button', { name: 'Open' }).click();
        await page.getByRole('checkbox', { name: 'Push measurements/raw.bin' }).uncheck();
        await page.getByRole('checkbox', { name: 'Push notes/', exact: true }).uncheck();
        await page.getByText('2 excluded').waitFor();
        await page.getByRole('textbox', { name: 'Message' }).fill('Half of April');
        const goAndReturn = async () => {
          await page.getByRole('link', { name: 'History' }).first().click();
          await page.getByRole('heading', { name: 'History' }).waitFor();
          await page.getByRole('link', { name: 'Changes' }).first().click();
        };
        await goAndReturn();
        await expectKept(page);
        await page.reload();
        await expectKept(page);
        const second = await window.context.newPage();
        await second.goto(`${window.origin}/#/changes`);
        await expectKept(second);
        // Each window shows at once what the other one chooses.
        await second.getByRole('checkbox', { name: 'Push pictures/', exact: true }).uncheck();
        await page.getByText('3 excluded').waitFor();
        await page.getByRole('checkbox', { name: 'Push obsolete.txt' }).uncheck();
        await second.getByText('4 excluded').waitFor();
        expect(await second.getByRole('checkbox', { name: 'Push obsolete.txt' }).isChecked()).toBe(false);
        await second.getByRole('checkbox', { name: 'Push obsolete.txt' }).check();
        await page.getByText('3 excluded').waitFor();
        await page.getByRole('checkbox', { name: 'Push pictures/', exact: true }).check();
        await second.getByText('2 excluded').waitFor();
        await second.close();
        expect(window.complaints).toEqual([]);
      }
      await using window = await openWorkspace(started.browser, options);
      await expectKept(window.page);
      await window.page.getByRole('radio', { name: 'Flat' }).click();
      await choose(window.page, 'Order', 'Largest first');
      await window.page.getByRole('searchbox', { name: 'Search paths' }).fill('m');
      // The engine keeps the search before it sends the rows found, so waiting for the rows is enough.
      await rowOf(window.page, 'obsolete.txt').waitFor({ state: 'detached' });
      await window.page.reload();
      await expect
        .poll(async () => (await rowsShown(window.page))[0], WAIT)
        .toMatch(/^measurements\/raw.bin Changed/);
      expect(await window.page.getByRole('searchbox', { name: 'Search paths' }).inputValue()).toBe('m');
      expect(window.complaints).toEqual([]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  longIt('of thousands of rows come in small answers, and all of them are shown', async () => {
    const sandbox = createSandbox();
    try {
      const root = sandbox.path('many');
      const count = 5_000;
      const names = Array.from(
        { length: count + 10 },
        (_, at) => `readings/of-the-northern-station/${at}.csv`,
      );
      mkdirSync(dirname(sandbox.path('many', names[0]!)), { recursive: true });
      for (const name of names) writeFileSync(join(root, name), '');
      await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store') });
      const environment = { HOME: sandbox.path('window/home'), XDG_CONFIG_HOME: '' };
      await keepSkipped(userConfigFolder({ environment }), root, names.slice(0, count));
      const folder = sandbox.path('window');
      await using window = await openWorkspace(started.browser, { root, folder, screen: '#/home' });
      const { page } = window;
      const answerBytes: number[] = [];
      const session = await window.context.newCDPSession(page);
      session.on('Network.webSocketFrameReceived', ({ response }) => {
        answerBytes.push(response.payloadData.length);
      });
      await session.send('Network.enable');
      await page.goto(`${window.origin}/#/changes?direction=push`);
      await page.getByRole('button', { name: 'Push 10 changes' }).waitFor();
      await page.getByText(`${count.toLocaleString('en')} excluded`).waitFor();
      expect(Math.max(...answerBytes)).toBeLessThan(300_000);
      await rowOf(page, 'readings/').getByRole('button', { name: 'Open' }).click();
      await page.getByRole('checkbox', { name: 'Push readings/of-the-northern-station/' }).click();
      await page.getByRole('button', { name: `Push ${(count + 10).toLocaleString('en')} changes` }).waitFor();
      expect(window.complaints).toEqual([]);
    } finally {
      sandbox[Symbol.dispose]();
    }
  });

  longIt('are what Plan counts, and it says so', async () => {
    using dataset = await pushedDataset(started.server, 'kept-plan');
    changeDataset(dataset);
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/plan',
    });
    const { page } = window;
    const content = page.locator('.figure').filter({ hasText: 'Content' });
    await expect.poll(() => content.innerText(), WAIT).toMatch(/4\d\.\d KiB/);
    await page.getByRole('link', { name: 'See the changes' }).click();
    await page.getByRole('checkbox', { name: 'Push measurements/', exact: true }).uncheck();
    await page.getByText('4 excluded').waitFor();
    await page.getByRole('link', { name: 'Plan', exact: true }).first().click();
    await page.getByText('4 changes are not ticked in Changes and stay out of this plan.').waitFor();
    await expect.poll(() => content.innerText(), WAIT).toMatch(/ B$|\b\d\.\d KiB/);
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'are pushed, and the screen says so, also when it showed a pull before the engine answers',
    async () => {
      using dataset = await pushedDataset(started.server, 'kept-reread');
      dataset.sandbox.write(`${WORK}/added.txt`, 'added');
      await using window = await openWorkspace(started.browser, {
        environment: started.server.environment,
        root: dataset.sandbox.path(WORK),
        screen: '#/changes',
      });
      const { page } = window;
      const held = await holdRequests(page);
      held.hold('changes.send');
      await page.getByRole('button', { name: 'Push 1 change' }).click();
      await expect.poll(held.waiting, WAIT).toBe(1);
      await page.getByRole('radio', { name: 'Pull' }).click({ force: true });
      await page.getByText('Nothing to pull').waitFor();
      await page.getByRole('radio', { name: 'Push' }).click({ force: true });
      await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
      held.release();
      await page.getByText('Pushed as commit').waitFor();
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('are pushed once, also when Enter is held down and the queue is late', async () => {
    using dataset = await pushedDataset(started.server, 'kept-once');
    dataset.sandbox.write(`${WORK}/added.txt`, 'added');
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    let asked = 0;
    let answered = 0;
    let isHeld = true;
    const queue: (() => void)[] = [];
    await relayHost(page, {
      toEngine(message, send) {
        if (message.includes('"name":"changes.send"')) asked = JSON.parse(message).id;
        send();
      },
      toPage(message, send) {
        if (isHeld && asked > 0 && message.includes('"type":"transfers"')) queue.push(send);
        else send();
        if (JSON.parse(message).id === asked) answered += 1;
      },
    });
    await page.reload();
    await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.press('Enter');
    await expect.poll(() => answered > 0 && queue.length > 0, WAIT).toBe(true);
    const first = asked;
    await message.press('Enter');
    await message.press('Enter');
    isHeld = false;
    for (const send of queue) send();
    await page.getByText('Pushed as commit').waitFor();
    expect(asked).toBe(first);
    expect(window.complaints).toEqual([]);
  });

  longIt('are kept also while the list is read again, and its rows stay readable', async () => {
    using dataset = await pushedDataset(started.server, 'kept-meanwhile');
    changeDataset(dataset);
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    const held = await holdRequests(page);
    await page.getByRole('button', { name: 'Push 7 changes' }).waitFor();
    held.holdAnswers('changes.open');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect.poll(held.waiting, WAIT).toBe(1);
    await rowOf(page, 'measurements/').getByRole('button', { name: 'Open' }).click();
    const raw = page.getByRole('checkbox', { name: 'Push measurements/raw.bin' });
    await raw.uncheck();
    await page.getByRole('button', { name: 'Show it' }).click();
    const seen = page.getByRole('checkbox', { name: 'I have seen the deletions' });
    await page.getByText('I have seen the deletions').click();
    held.release();
    await page.getByRole('button', { name: 'Refresh', disabled: false }).waitFor();
    await page.getByRole('button', { name: 'Deleted 1' }).click();
    await page.getByRole('checkbox', { name: 'Push notes/method.md' }).uncheck();
    await page.getByText('2 excluded').waitFor();
    expect(await raw.isChecked()).toBe(false);
    expect(await seen.isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Push 5 changes' }).click();
    await page.getByText('Pushed as commit').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('keep the message that is typed for the next push before the list is read again', async () => {
    using dataset = await pushedDataset(started.server, 'kept-typed');
    changeDataset(dataset);
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: dataset.sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    const held = await holdRequests(page);
    await page.getByRole('checkbox', { name: 'Push obsolete.txt' }).uncheck();
    await page.getByRole('checkbox', { name: 'Push notes/', exact: true }).uncheck();
    await page.getByText('2 excluded').waitFor();
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('April');
    held.holdAnswers('changes.open');
    await page.getByRole('button', { name: 'Push 5 changes' }).click();
    await page.getByText('Pushed as commit').waitFor();
    await expect.poll(held.waiting, WAIT).toBe(1);
    await message.fill('Notes');
    held.release();
    await page.getByRole('button', { name: 'Push 2 changes' }).or(page.getByText('Push 0 changes')).waitFor();
    expect(await message.inputValue()).toBe('Notes');
    expect(window.complaints).toEqual([]);
  });

  longIt('stay with the message after a push that failed, and go with one that succeeds', async () => {
    using dataset = await pushedDataset(started.server, 'kept-failed');
    const { sandbox } = dataset;
    await dataset.clone('other');
    sandbox.write('other/notes/method.md', 'theirs\n');
    sandbox.write(`${WORK}/notes/method.md`, 'ours\n');
    sandbox.write(`${WORK}/added.txt`, 'added\n');
    sandbox.write(`${WORK}/later.txt`, 'later\n');
    await push(dataset.context('other'), { message: 'Theirs' });
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root: sandbox.path(WORK),
      screen: '#/changes',
    });
    const { page } = window;
    const message = page.getByRole('textbox', { name: 'Message' });
    await page.getByRole('checkbox', { name: 'Push later.txt' }).uncheck();
    await message.fill('Mine');
    await page.getByRole('button', { name: 'Push 2 changes' }).click();
    await page.getByText('The push failed:').waitFor();
    expect(await message.inputValue()).toBe('Mine');
    await page.getByText('1 excluded').waitFor();
    await page.getByRole('checkbox', { name: 'Push notes/', exact: true }).uncheck();
    await page.getByRole('button', { name: 'Push 1 change' }).click();
    await page.getByText('Pushed, and merged').waitFor();
    await expect.poll(() => message.inputValue(), WAIT).toBe('');
    await page.getByRole('button', { name: 'Push 2 changes' }).waitFor();
    expect((await dataset.cli(WORK, ['log'])).stdout).toContain('Mine');
    const stored = (await dataset.cli(WORK, ['ls', '--recursive'])).stdout;
    expect(stored).toContain('added.txt');
    expect(stored).not.toContain('later.txt');
    expect(window.complaints).toEqual([]);
  });
});

/** As an engine that ran before has kept them. */
async function keepSkipped(folder: string, root: string, paths: readonly string[]): Promise<void> {
  const rows = createRowList();
  for (const path of paths) rows.push({ change: 'added', path, kind: 'file', sizeBytes: 0 });
  await rows.end(new AbortController().signal);
  const kept = createKeptChoices(folder);
  kept.choose(root, 'push', rows, { skip: paths });
  kept.flush();
}

async function expectKept(page: Page): Promise<void> {
  await rowOf(page, 'measurements/raw.bin').waitFor();
  await page.getByText('2 excluded').waitFor();
  for (const name of ['Push measurements/raw.bin', 'Push notes/'])
    expect(await page.getByRole('checkbox', { name, exact: true }).isChecked()).toBe(false);
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Half of April');
}

async function choose(page: Page, select: string, choice: string): Promise<void> {
  await page.getByRole('button', { name: select }).click();
  await page.getByRole('option', { name: choice }).click();
}
