/**
 * Saved jobs by the keyboard: begun on other screens, their log, a pause, an edit, a stop, their end, and a
 * test of their notices.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { SavedJobEvent } from '../../../engine/api/events.ts';
import { isUpload } from '../../servers/request-gate.ts';
import type { SlowStore } from '../data/slow-store.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT, writeLarge } from '../page/transfer-rows.ts';
import { chooseInMenu, chooseOption, command, press, tabTo, typeInto } from './press-keys.ts';

/** The job `by-hand`, on the screen of jobs. Each step shows in what the command lists. */
export async function tendJob(window: OpenWindow, root: string): Promise<void> {
  const { page } = window;
  const job = { name: 'by-hand', directory: root, state: 'idle', lastResult: 'done' };
  const saved = await listJobs(window);
  expect(saved).toMatchObject([{ ...job, arguments: expect.arrayContaining(['push']) }]);
  await press(page, page.getByRole('button', { name: 'Log of by-hand' }));
  const log = page.getByRole('dialog', { name: 'Log of by-hand' });
  await log.getByText('Pushed').first().waitFor();
  await page.keyboard.press('Escape');
  await log.waitFor({ state: 'detached' });
  await press(page, page.getByRole('button', { name: 'Pause by-hand' }));
  await expect.poll(() => listJobs(window), WAIT).toMatchObject([{ ...job, state: 'paused' }]);
  await press(page, page.getByRole('button', { name: 'Resume by-hand' }));
  await expect.poll(() => listJobs(window), WAIT).toMatchObject([job]);
  await press(page, page.getByRole('button', { name: 'Edit by-hand' }));
  const form = page.getByRole('dialog', { name: 'Edit by-hand' });
  await tabTo(page, form.getByLabel('Name', { exact: true }));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('by-keys');
  await press(page, form.getByRole('button', { name: 'Save' }));
  await form.waitFor({ state: 'detached' });
  expect(await listJobs(window)).toEqual(saved.map((one) => ({ ...one, name: 'by-keys' })));
  await press(page, page.getByRole('button', { name: 'Remove by-keys' }));
  const question = page.getByRole('dialog', { name: 'Remove by-keys?' });
  await press(page, question.getByRole('button', { name: 'Remove', exact: true }));
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  expect(await listJobs(window)).toEqual([]);
}

async function listJobs(window: OpenWindow): Promise<readonly SavedJobEvent[]> {
  const lines = (await runJob(window, 'list', '--json')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'job');
}

/** Runs `dray job` as the user of the window. @returns Its output. */
async function runJob({ folder }: OpenWindow, ...words: readonly string[]): Promise<string> {
  const home = join(folder, 'home');
  const environment = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const { exitCode, stderr, stdout } = await runCli(['job', ...words], { cwd: home, environment });
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

/** Gives a job that a command has made a notice by a command, and sends a test before the job is saved. */
export async function tryNotice(window: OpenWindow): Promise<void> {
  const { folder, page } = window;
  await runJob(window, 'add', 'night', '--', 'check', 'coast', 'none-such');
  await command(page, 'Jobs');
  await press(page, page.getByRole('button', { name: 'Edit night' }));
  const form = page.getByRole('dialog', { name: 'Edit night' });
  await press(page, form.locator('summary'));
  await tabTo(page, form.getByRole('checkbox', { name: 'Notifications on this computer' }));
  await page.keyboard.press('Space');
  const notices = join(folder, 'notices');
  await typeInto(
    page,
    form.getByLabel('Run a command', { exact: true }),
    `echo "$DRAY_NOTICE" >> '${notices}'`,
  );
  await press(page, form.getByRole('button', { name: 'Send a test notice' }));
  await form.getByText('A test notice was sent.').waitFor();
  expect(readFileSync(notices, 'utf8')).toBe('test\n');
  await press(page, form.getByRole('button', { name: 'Save' }));
  await form.waitFor({ state: 'detached' });
  await page.getByText('Command on failure and recovery').waitFor();
}

/** From Plan, from a preview in Browse and from the menu of a transfer. Cancel leads back to each. */
export async function beginJobs(window: OpenWindow, root: string): Promise<void> {
  const { page } = window;
  const form = page.getByRole('dialog', { name: 'New job' });
  const beginners: readonly [screen: string, name: string, words: string, begin: () => Promise<void>][] = [
    ['Plan', 'from-plan', `dray push\nfolder   ${root}\n`, () => press(page, saveAsJob())],
    ['Browse', 'from-browse', 'dray copy', beginInBrowse],
    ['Transfers', 'from-menu', `dray verify\nfolder   ${root}\n`, beginInMenu],
  ];
  await command(page, 'Verify the remote of coast');
  for (const [screen, name, words, begin] of beginners) {
    await command(page, screen);
    await begin();
    await press(page, form.getByRole('button', { name: 'Cancel' }));
    await page.getByRole('heading', { level: 1, name: screen }).waitFor();
    await begin();
    await typeInto(page, form.getByLabel('Name', { exact: true }), name);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.getByRole('button', { name: `Run now: ${name}` }).waitFor();
    expect(await runJob(window, 'show', name)).toContain(words);
  }

  function saveAsJob() {
    return page.getByRole('link', { name: 'Save as a job' });
  }

  async function beginInBrowse(): Promise<void> {
    await press(page, page.getByRole('button', { name: 'Sync or copy all' }));
    await press(page, page.getByRole('dialog').getByRole('link', { name: 'Save as a job' }));
  }

  async function beginInMenu(): Promise<void> {
    await tabTo(page, page.getByRole('button', { name: /^Details of Verify/ }));
    await chooseInMenu(page, 'Save as a job...');
  }
}

/** A new job is made for a daily time. Its run, whose uploads the store holds, is stopped. */
export async function stopJob({ folder, page }: OpenWindow, store: SlowStore): Promise<void> {
  const { source } = writeLarge(folder, 'nightly', 1_000);
  const form = page.getByRole('dialog', { name: 'New job' });
  const field = (label: string) => form.getByLabel(label, { exact: true });
  await command(page, 'New job');
  await typeInto(page, field('Name'), 'nightly');
  await typeInto(page, field('Source'), source);
  await typeInto(page, field('Destination'), `s3://${store.server.bucket}/nightly/`);
  await chooseOption(page, form.getByRole('button', { name: 'Schedule' }), 'Every day');
  await typeInto(page, field('Time'), '04:30');
  await page.keyboard.press('Enter');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'nightly' }) });
  await card.getByText('Every day at 04:30').waitFor();
  store.gate.hold(isUpload);
  await press(page, page.getByRole('button', { name: 'Run now: nightly' }));
  await card.getByText('Running', { exact: true }).waitFor();
  await press(page, page.getByRole('button', { name: 'Stop nightly' }));
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }));
  await card.getByText('Stopped', { exact: true }).waitFor();
  store.gate.release();
  await press(page, page.getByRole('button', { name: 'Run now: nightly' }));
  await card.getByText('Copied 1 file', { exact: false }).waitFor();
}
