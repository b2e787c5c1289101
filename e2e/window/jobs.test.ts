/** Saved jobs in the window, which stays true while the command changes them beside it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { type SlowStore, startSlowStore } from './data/slow-store.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { RECENTLY } from './window-workspace.ts';

const SCREEN = { path: '/#/jobs' };

describe.skipIf(!findChromium())('Jobs', () => {
  const stack = new AsyncDisposableStack();
  let browser: Browser;
  let store: SlowStore;
  beforeAll(async () => {
    browser = stack.adopt(await launchBrowser(), (one) => one.close());
    store = stack.use(await startSlowStore());
  });
  afterAll(() => stack.disposeAsync());

  it('teach what they are, and show what the command saves, runs and removes beside the window', async () => {
    using user = createUser();
    await using window = await openWindow(browser, { folder: user.folder, path: '/#/home' });
    const { page } = window;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Jobs');
    await page.getByRole('menuitem', { name: 'Jobs' }).and(page.locator('[data-focused]')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await user.dray('job', 'add', 'night', '--daily', '03:00', '--', 'copy', 'photos', 'copies');
    const night = cardOf(page, 'night');
    await night.getByText('Every day at 03:00').waitFor();
    await night.getByText('Copy photos to copies').waitFor();
    expect(await figureOf(page, 'night', 'Last run')).toBe('Never');
    expect(await figureOf(page, 'night', 'Next run')).toMatch(/^\d+ \w+ \d{4}, 03:00$/);
    await user.dray('job', 'run', 'night');
    await night.getByText('Copied 1 file', { exact: false }).waitFor();
    expect(await figureOf(page, 'night', 'Last run')).toMatch(new RegExp(`^Done (?:${RECENTLY.source})`));
    await user.dray('job', 'pause', 'night');
    await night.getByText('Paused', { exact: true }).waitFor();
    expect(await figureOf(page, 'night', 'Next run')).toBe('Not planned');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await user.dray('job', 'remove', 'night');
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('that push change at once what Home and the rail say about the workspace', async () => {
    using user = createUser();
    await user.dray('init', '--remote', join(user.folder, 'versions'));
    await user.dray('job', 'add', 'send', '--', 'push');
    await using window = await openWindow(browser, { folder: user.folder, path: '/#/home' });
    const { page } = window;
    await askEngine(page, 'home.addWorkspace', { root: user.work });
    await page.reload();
    const card = page.getByRole('article', { name: 'work' });
    await card.getByText('1 added').waitFor();
    const rail = page.getByRole('link', { name: 'Changes' });
    await rail.getByText('file to push').waitFor({ state: 'attached' });
    await user.dray('job', 'run', 'send');
    await card.getByText('No changes').waitFor();
    await rail.getByText('file to push').waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
  });

  longIt('are run, paused, looked into and removed by the keyboard, and another window follows', async () => {
    using user = createUser();
    await user.dray('job', 'add', 'night', '--daily', '03:00', '--', 'copy', 'photos', 'copies');
    await user.dray('job', 'add', 'hand', '--', 'check', 'photos', 'none-such');
    await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
    const { context, page } = window;
    const other = await context.newPage();
    await other.goto(`${window.origin}/#/jobs`);
    await cardOf(other, 'night').waitFor();

    await page.bringToFront();
    await page.getByRole('button', { name: 'Run now: night' }).press('Enter');
    for (const each of [page, other])
      await cardOf(each, 'night').getByText('Copied 1 file', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Pause night' }).press('Enter');
    await page.getByRole('button', { name: 'Resume night' }).and(page.locator(':focus')).waitFor();
    await cardOf(other, 'night').getByText('Paused', { exact: true }).waitFor();
    expect((await user.dray('job', 'show', 'night')).stdout).toMatch(/state +paused/);
    await page.getByRole('button', { name: 'Resume night' }).press('Enter');
    await page.getByRole('button', { name: 'Pause night' }).waitFor();

    await page.getByRole('button', { name: 'Run now: hand' }).press('Enter');
    await cardOf(page, 'hand').getByText('Failed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log of hand' }).press('Enter');
    const log = page.getByRole('dialog', { name: 'Log of hand' });
    await log.getByText('Started by hand: dray check photos none-such').waitFor();
    await log.getByText('failed, exit code', { exact: false }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Log of hand' }).and(page.locator(':focus')).waitFor();

    await page.getByRole('button', { name: 'Remove hand' }).press('Enter');
    const question = page.getByRole('dialog', { name: 'Remove hand?' });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await question.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    for (const each of [page, other]) await cardOf(each, 'hand').waitFor({ state: 'detached' });
    await page.locator('#screen:focus').waitFor();
    expect((await user.dray('job', 'list')).stdout).not.toContain('hand');
    expect(window.complaints).toEqual([]);
  });

  longIt('are made in the window by the keyboard, and checked by the command', async () => {
    using user = createUser();
    await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
    const { origin, page } = window;
    await page.getByRole('button', { name: 'New job' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New job' });
    const fill = async (label: string, text: string) => {
      await dialog.getByLabel(label, { exact: true }).fill(text);
    };
    await dialog.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await fill('Name', 'night');
    await fill('Source', join(user.work, 'photos'));
    await fill('Destination', 's3://me:secret@bucket/photos');
    await page.keyboard.press('Enter');
    await dialog.getByText('looks like a secret', { exact: false }).waitFor();
    await fill('Destination', join(user.work, 'copies'));
    await fill('Options', "--exclude '*.tmp' --no-such-option");
    await page.keyboard.press('Enter');
    await dialog.getByText('--no-such-option', { exact: false }).waitFor();
    await fill('Options', "--exclude '*.tmp'");
    await dialog.getByRole('button', { name: 'Schedule' }).press('Enter');
    await page.getByRole('option', { name: 'Every day' }).press('Enter');
    await fill('Time', '3');
    await dialog.getByText('It must be a time such as 03:00.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await fill('Time', '04:30');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await cardOf(page, 'night').getByText('Every day at 04:30').waitFor();
    const { stdout } = await user.dray('job', 'show', 'night');
    expect(stdout).toContain(`dray copy --exclude '*.tmp' -- ${join(user.work, 'photos')}`);
    writeFileSync(join(user.work, 'photos', 'b.tmp'), 'b');
    await page.getByRole('button', { name: 'Run now: night' }).press('Enter');
    await cardOf(page, 'night').getByText('Copied 1 file', { exact: false }).waitFor();

    const root = encodeURIComponent(user.work);
    await page.goto(`${origin}/#/jobs?add=yes&kind=push&root=${root}`);
    await fill('Name', 'birds');
    await dialog.getByText('When something changes in the workspace').click();
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.getByText('is not in a workspace', { exact: false }).waitFor();
    await user.dray('init', '--remote', join(user.folder, 'store'));
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await cardOf(page, 'birds').getByText(`When ${user.work} changes`, { exact: true }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'are edited by their menu and by keyboard, keep what they were, and no change is overwritten',
    async () => {
      using user = createUser();
      const words = ['--', 'copy', 'photos', 'copies', '--exclude', '*.tmp'];
      await user.dray('job', 'add', 'night', '--daily', '03:00', '--cron', '0 5 * * *', ...words);
      await user.dray('job', 'run', 'night');
      await user.dray('job', 'pause', 'night');
      await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
      const { page } = window;
      const night = cardOf(page, 'night');
      await night.getByRole('heading').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit night' });
      const field = (label: string) => dialog.getByLabel(label, { exact: true });
      await expect.poll(() => field('Source').inputValue()).toBe('photos');
      expect(await field('Destination').inputValue()).toBe('copies');
      expect(await field('Options').inputValue()).toBe('--exclude *.tmp');
      expect(await field('Time').inputValue()).toBe('03:00');
      await dialog.getByText('Also every day at 05:00').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await field('Time').fill('04:30');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await night.getByText('Every day at 04:30, every day at 05:00').waitFor();
      await night.getByText('Paused', { exact: true }).waitFor();
      expect(await figureOf(page, 'night', 'Last run')).toMatch(/^Done/);
      expect((await user.dray('job', 'show', 'night')).stdout).toContain(
        "dray copy --exclude '*.tmp' -- photos copies",
      );

      await page.getByRole('button', { name: 'Edit night' }).press('Enter');
      await field('Options').fill('--checksum');
      await user.dray('job', 'add', 'night', '--replace', '--every', '2h', '--', 'sync', 'photos', 'copies');
      await dialog.getByText('This job was changed meanwhile', { exact: false }).waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await expect.poll(async () => (await user.dray('job', 'show', 'night')).stdout).toContain('dray sync');
      await dialog.getByRole('button', { name: 'Show it as it is now' }).press('Enter');
      await expect.poll(() => field('Every').inputValue()).toBe('2h');
      await field('Every').fill('4h');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await night.getByText('Every 4 hours').waitFor();
      await page.getByRole('button', { name: 'Edit night' }).and(page.locator(':focus')).waitFor();
      expect((await user.dray('job', 'show', 'night')).stdout).toContain('dray sync -- photos copies');
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('are begun on other screens, and a form without an end leads back to its screen', async () => {
    using user = createUser();
    const root = join(user.work, 'photos');
    mkdirSync(join(user.work, 'store'));
    await user.dray('-C', root, 'init', '--remote', `file://${join(user.work, 'store')}`);
    await using window = await openWindow(browser, {
      ...{ folder: user.folder, path: '/#/changes?direction=pull', directory: root },
    });
    const { origin, page } = window;
    const dialog = page.getByRole('dialog', { name: 'New job' });
    const cancelLeadsTo = async (hash: string) => {
      await dialog.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).press('Enter');
      await page.waitForURL(`${origin}/${hash}`);
      await dialog.waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Save as a job' }).press('Enter');
    await cancelLeadsTo('#/changes?direction=pull');
    await page.goto(`${origin}/#/plan`);
    await page.getByRole('link', { name: 'Save as a job' }).press('Enter');
    await cancelLeadsTo('#/plan');
    await page.goto(`${origin}/#/browse`);
    await page.getByRole('button', { name: 'Sync or copy all' }).press('Enter');
    await page.getByRole('link', { name: 'Save as a job' }).press('Enter');
    await cancelLeadsTo('#/browse');

    await page.goto(`${origin}/#/transfers`);
    await askEngine(page, 'transfers.start', { kind: 'verify', root });
    await page.locator('.transfer').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Save as a job...' }).click();
    await cancelLeadsTo('#/transfers');
    await page.locator('.transfer').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Save as a job...' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('whole');
    await page.keyboard.press('Enter');
    await cardOf(page, 'whole').getByText(`Verify ${root}`, { exact: false }).waitFor();
    await cardOf(page, 'whole').getByText('Notification on failure and recovery').waitFor();
    expect(new URL(page.url()).hash).toBe('#/jobs');
    expect(window.complaints).toEqual([]);
  });

  longIt('are renamed in their form with their history, but not to the name of another job', async () => {
    using user = createUser();
    await user.dray('job', 'add', 'night', '--daily', '03:00', '--', 'copy', 'photos', 'copies');
    await user.dray('job', 'add', 'other', '--', 'check', 'photos', 'copies');
    await user.dray('job', 'run', 'night');
    await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
    const { page } = window;
    await page.getByRole('button', { name: 'Edit night' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Edit night' });
    const name = dialog.getByLabel('Name', { exact: true });
    await name.fill('other');
    await dialog.getByText('There is a job of this name already.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await name.fill('nightly');
    await name.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await cardOf(page, 'nightly').getByText('Copied 1 file', { exact: false }).waitFor();
    expect(await cardOf(page, 'night').count()).toBe(0);
    await page.getByRole('button', { name: 'Log of nightly' }).press('Enter');
    await page.getByText('Started by hand: dray copy photos copies').waitFor();
    expect((await user.dray('job', 'list')).stdout).not.toMatch(/^night /m);
    expect(window.complaints).toEqual([]);
  });

  longIt('are made from Changes and Plan, with the message, and say what they do not keep', async () => {
    using user = createUser();
    const root = join(user.work, 'photos');
    mkdirSync(join(user.work, 'store'));
    await user.dray('-C', root, 'init', '--remote', `file://${join(user.work, 'store')}`);
    await using window = await openWindow(browser, {
      ...{ folder: user.folder, path: '/#/changes?direction=push', directory: root },
    });
    const { origin, page } = window;
    const dialog = page.getByRole('dialog', { name: 'New job' });
    const options = dialog.getByLabel('Options', { exact: true });
    await page.getByLabel('Message', { exact: false }).fill("it's automatic");
    await page.getByRole('button', { name: 'Save as a job' }).click();
    await dialog.getByText('Ticks and decisions in Changes are not kept.', { exact: false }).waitFor();
    expect(await options.inputValue()).toBe(`-m 'it'"'"'s automatic'`);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByLabel('Name', { exact: true }).fill('birds');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await cardOf(page, 'birds').getByText(`Push ${root}`, { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Run now: birds' }).press('Enter');
    await cardOf(page, 'birds').getByText('Done', { exact: true }).waitFor();
    expect((await user.dray('-C', root, 'log')).stdout).toContain("it's automatic");

    await page.goto(`${origin}/#/changes?direction=pull`);
    await page.getByText('Nothing to pull').waitFor();
    await page.getByRole('button', { name: 'Save as a job' }).press('Enter');
    await dialog.getByText('Each run pulls what is new by then', { exact: false }).waitFor();
    expect(await options.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await page.goto(`${origin}/#/plan`);
    await page.getByRole('link', { name: 'Save as a job' }).press('Enter');
    await dialog.getByText('Each run pushes all that has changed by then', { exact: false }).waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'get notices in their form, refused as the command refuses them, and tested before they are saved',
    async () => {
      using user = createUser();
      const notices = join(user.work, 'notices');
      await user.dray('job', 'add', 'night', '--', 'check', 'photos', 'none-such');
      await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
      const { page } = window;
      await page.setViewportSize({ width: 360, height: 800 });
      await page.getByRole('button', { name: 'Edit night' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Edit night' });
      const fill = (label: string, text: string) => dialog.getByLabel(label, { exact: true }).fill(text);
      await dialog.getByText('Notices: on this computer').click();
      await dialog.getByText('Notifications on this computer').click();
      await dialog.getByRole('button', { name: 'Webhook' }).press('Enter');
      await page.getByRole('option', { name: 'To a URL', exact: true }).press('Enter');
      await fill('URL', 'https://me:very-secret@example.com');
      await fill('After days without success', '0');
      await dialog.getByText('It must be a number from 1 to 3650.').waitFor();
      await fill('After days without success', '7');
      await fill('Mail to', 'me@example.com');
      await dialog.getByLabel('Mail server', { exact: true }).waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      const overflow = () => dialog.evaluate((one) => one.scrollWidth - one.clientWidth);
      expect(await overflow()).toBeLessThanOrEqual(0);
      await fill('Mail to', '');
      await fill('After days without success', '7');
      await page.keyboard.press('Enter');
      await dialog.getByText('looks like a secret', { exact: false }).waitFor();
      await dialog.getByRole('button', { name: 'Webhook' }).press('Enter');
      await page.getByRole('option', { name: 'None', exact: true }).press('Enter');
      await fill('Run a command', `echo "$DRAY_NOTICE" >> '${notices}'`);
      await dialog.getByRole('button', { name: 'Send a test notice' }).press('Enter');
      await dialog.getByText('A test notice was sent.').waitFor();
      // The claim is about the command that was tested.
      await fill('Run a command', 'true');
      await dialog.getByText('A test notice was sent.').waitFor({ state: 'detached' });
      await fill('Run a command', `echo "$DRAY_NOTICE" >> '${notices}'`);
      expect(readFileSync(notices, 'utf8')).toBe('test\n');
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await fill('After days without success', '9');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      const kept = readFileSync(
        join(user.folder, 'home', '.config', 'dray', 'jobs', 'night', 'job.json'),
        'utf8',
      );
      expect(JSON.parse(kept)).toMatchObject({
        notices: { on: ['failure', 'recovery', 'noSuccess'], days: 9, desktop: false },
      });
      await page.getByRole('button', { name: 'Run now: night' }).press('Enter');
      await cardOf(page, 'night').getByText('Failed', { exact: true }).waitFor();
      const line = 'Command on failure and recovery, after 9 days without success';
      await cardOf(page, 'night').getByText(line).waitFor();
      await expect.poll(() => readFileSync(notices, 'utf8')).toBe('test\nfailure\n');
      await page.getByRole('button', { name: 'Edit night' }).press('Enter');
      await dialog.getByText('Notices: by a command').click();
      await expect
        .poll(() => dialog.getByLabel('Run a command', { exact: true }).inputValue())
        .toContain(notices);
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('that fail and work again cause notifications while the person looks elsewhere', async () => {
    using user = createUser();
    await user.dray('job', 'add', 'night', '--', 'check', 'photos', 'copies');
    await using window = await openWindow(browser, { folder: user.folder, ...SCREEN });
    const { context, origin } = window;
    const page = await context.newPage();
    await page.addInitScript(() => {
      const shown: string[] = [];
      class Shown extends EventTarget {
        static permission = 'granted';
        constructor(title: string) {
          super();
          shown.push(title);
        }
      }
      Object.assign(globalThis, { Notification: Shown, shown });
      document.hasFocus = () => false;
    });
    // Nobody answers the question of a Chromium without a screen.
    await testNotice(window.page);
    await window.page.getByText('This browser needs your permission to show notifications').waitFor();
    const shown = () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    await page.goto(`${origin}/#/jobs`);
    await page.getByRole('button', { name: 'Run now: night' }).press('Enter');
    await cardOf(page, 'night').getByText('Failed', { exact: true }).waitFor();
    await expect.poll(shown, { timeout: 120_000 }).toEqual(['Job failed: night']);
    mkdirSync(join(user.work, 'copies'));
    writeFileSync(join(user.work, 'copies', 'a.jpg'), 'a');
    await page.getByRole('button', { name: 'Run now: night' }).press('Enter');
    await expect.poll(shown, { timeout: 120_000 }).toEqual(['Job failed: night', 'Job works again: night']);
    await testNotice(page);
    await page.getByText('A test notice was sent.').waitFor();
    expect((await shown()).slice(2)).toEqual(['Test notice: night']);
  });

  longIt('say that they run, cannot be removed meanwhile, and stop when a person agrees', async () => {
    using user = createUser(store.environment);
    await user.dray('job', 'add', 'slow', '--', 'copy', 'photos', `s3://${store.server.bucket}/slow`);
    await using window = await openWindow(browser, {
      ...{ folder: user.folder, environment: store.environment },
      ...SCREEN,
    });
    const { page } = window;
    await store.network.hang();
    try {
      await page.getByRole('button', { name: 'Run now: slow' }).press('Enter');
      await page.getByRole('button', { name: 'Stop slow' }).and(page.locator(':focus')).waitFor();
      await cardOf(page, 'slow').getByText('Running', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Jobs 1 running' }).waitFor();
      await page.getByRole('button', { name: 'Edit slow' }).press('Enter');
      const form = page.getByRole('dialog', { name: 'Edit slow' });
      await form.getByText('This run keeps its settings', { exact: false }).waitFor();
      await form.getByLabel('Options', { exact: true }).fill('--checksum');
      await page.keyboard.press('Enter');
      await form.waitFor({ state: 'detached' });
      await cardOf(page, 'slow').getByText('It was edited since.', { exact: false }).waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove slow' }).press('Enter');
      await page.getByText('It is running now, and can be removed when it has ended.').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).press('Enter');
      await page.getByRole('button', { name: 'Stop slow' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).press('Enter');
      await cardOf(page, 'slow').getByText('Stopped', { exact: true }).waitFor();
    } finally {
      await store.network.restore();
    }
    await page.getByRole('button', { name: 'Run now: slow' }).press('Enter');
    await cardOf(page, 'slow').getByText('Done', { exact: true }).waitFor();
    expect(window.complaints).toEqual([]);
  });
});

/** A home with a folder `photos` in it, and the command of the same user. */
function createUser(environment: Readonly<Record<string, string | undefined>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'dray-window-'));
  const home = join(folder, 'home');
  const work = join(folder, 'work');
  mkdirSync(join(work, 'photos'), { recursive: true });
  writeFileSync(join(work, 'photos', 'a.jpg'), 'a');
  const own = { ...environment, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  return {
    folder,
    work,
    async dray(...words: string[]) {
      const ended = await runCli(words, { cwd: work, environment: own });
      if (ended.exitCode !== 0) throw new Error(ended.stderr);
      return ended;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** By the form of the job `night`, whose only way is a notification on this computer. */
async function testNotice(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit night' }).press('Enter');
  await page.getByText('Notices: on this computer').click();
  await page.getByRole('button', { name: 'Send a test notice' }).press('Enter');
}

function cardOf(page: Page, name: string) {
  return page.locator('.job').filter({ has: page.getByRole('heading', { name, exact: true }) });
}

/** A figure's value and note in one line. */
async function figureOf(page: Page, name: string, label: string): Promise<string> {
  const figure = cardOf(page, name)
    .locator('.figure')
    .filter({ has: page.getByText(label, { exact: true }) });
  return (await figure.innerText()).replace(/\s+/g, ' ').slice(label.length).trim();
}
