/** The tasks of the guide's page about the window, by the keyboard alone. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { startRequestGate } from '../servers/request-gate.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { askEngine } from './ask-engine.ts';
import { noise } from './data/changed-dataset.ts';
import { canGiveFolders } from './data/foreign-workspace.ts';
import { playFleet } from './data/played-fleet.ts';
import { startSlowStore } from './data/slow-store.ts';
import { findChromium } from './find-chromium.ts';
import {
  deleteObjects,
  discardInBrowse,
  filterAndMakeFolder,
  playSound,
  seeWhoChanged,
} from './keyboard/browse-by-keys.ts';
import { discardAndIgnore, filterChanges, showNews, takeSides } from './keyboard/changes-by-keys.ts';
import { tendEncrypted } from './keyboard/encryption-by-keys.ts';
import { AWAITED_WORKER, watchFleet } from './keyboard/fleet-by-keys.ts';
import {
  chooseEntry,
  filterHistory,
  nameVersion,
  pushDays,
  readOn,
  restoreFolder,
  seeDeletions,
  showContents,
} from './keyboard/history-by-keys.ts';
import { changeWorkspace, forgetWorkspaces, verifyFromCards } from './keyboard/home-by-keys.ts';
import { workInHugeFolder } from './keyboard/huge-folder-by-keys.ts';
import { beginJobs, tendJob, tryNotice } from './keyboard/jobs-by-keys.ts';
import { importRemotes, typeKeys } from './keyboard/keys-by-keys.ts';
import { chooseNotices, limitTransfers, tendColumns } from './keyboard/limits-by-keys.ts';
import { chooseRows, copyPlaces } from './keyboard/panes-by-keys.ts';
import { meetMachine } from './keyboard/peers-by-keys.ts';
import { chooseByName, command, findRef, press, pressUntil, tabTo } from './keyboard/press-keys.ts';
import { compareTables, playVersions, slidePictures } from './keyboard/previews-by-keys.ts';
import { queueTasks, trustFolder } from './keyboard/queue-by-keys.ts';
import { editRemote } from './keyboard/remotes-by-keys.ts';
import { freeSpace } from './keyboard/space-by-keys.ts';
import { refusePointer, setUpWorkspace } from './keyboard/start-by-keys.ts';
import { useTransferMenu } from './keyboard/transfers-by-keys.ts';
import {
  compareSeasons,
  pushTwoSeasons,
  renameAndMove,
  restoreOlder,
  restoreVersion,
  showObjects,
} from './keyboard/versions-by-keys.ts';
import { launchBrowser, NO_KEYS, type OpenWindow, openWindow } from './open-window.ts';
import { rowsShown } from './window-workspace.ts';

const WAIT = { timeout: 120_000, interval: 100 };
/** Takes two minutes at the rate of `cloneAndPause`, so a busy machine has time to reach Pause. */
const RECORDING_BYTES = 2 * 1024 * 1024;

describe.skipIf(!findChromium())('The keyboard alone', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it(`does ${runBudget({ short: 'some tasks', long: 'tasks of every screen' })} of the guide`, async () => {
    await using window = await openWindow(browser);
    // No real fleet has its ranges at the same point twice.
    const fleet = await playFleet(window.page, Date.now(), [AWAITED_WORKER]);
    await doTasks(window, TASKS);
    const actions = runBudget({ short: [], long: ['pause', 'resume', 'retryFailed', 'cancel'] });
    await expect.poll(() => fleet.actions, WAIT).toEqual(actions);
  });

  longIt(
    'sets limits and columns, imports remotes, types keys, copies places and tests a notice',
    async () => {
      await using server = await startVersitygw();
      await using window = await openWindow(browser, { environment: NO_KEYS });
      await doTasks(window, [
        limitTransfers,
        chooseNotices,
        tendColumns,
        () => importRemotes(window, server),
        chooseRows,
        () => copyPlaces(window, server),
        () => typeKeys(window, server),
        tryNotice,
      ]);
    },
  );

  longIt('filters changes, takes sides, saves jobs from other screens, and forgets workspaces', async () => {
    await using window = await openWindow(browser);
    await doTasks(window, [filterChanges, showNews, takeSides, beginJobs, changeWorkspace, forgetWorkspaces]);
  });

  longIt('compares pictures under a slider and tables by rows, and plays versions of a sound', async () => {
    await using window = await openWindow(browser);
    await doTasks(window, [slidePictures, compareTables, playVersions]);
  });

  longIt(
    'compares, renames and moves branches and tags, restores versions, frees space, and shows the objects',
    async () => {
      await using window = await openWindow(browser);
      await doTasks(window, [
        pushTwoSeasons,
        compareSeasons,
        renameAndMove,
        restoreVersion,
        restoreOlder,
        freeSpace,
        showObjects,
      ]);
    },
  );

  longIt(
    'opens an encrypted repository, changes its password, forgets by tags, and collects its garbage',
    async () => {
      await using window = await openWindow(browser);
      await doTasks(window, [tendEncrypted]);
    },
  );

  longIt(
    'discards and ignores in Browse, deletes stored objects, verifies, and trusts another machine',
    async () => {
      await using window = await openWindow(browser);
      await doTasks(window, [discardInBrowse, deleteObjects, verifyFromCards, meetMachine]);
    },
  );

  longIt(
    'narrows History, restores a folder, reads on in the history of a file, and works in a huge folder',
    async () => {
      await using server = await startVersitygw();
      await using gate = await startRequestGate(server.endpoint);
      const environment = { ...server.environment, AWS_ENDPOINT_URL: gate.endpoint };
      await using window = await openWindow(browser, { environment });
      await doTasks(window, [
        pushDays,
        filterHistory,
        restoreFolder,
        readOn,
        () => workInHugeFolder(window, { gate, server }),
      ]);
    },
  );

  longIt(
    'orders and mends the queue of transfers, stops a job, and trusts a folder of another user',
    async () => {
      await using store = await startSlowStore();
      await using window = await openWindow(browser, { environment: store.environment });
      await doTasks(window, [...queueTasks(store), ...(canGiveFolders ? [trustFolder] : [])]);
    },
  );
});

/** Sets up a workspace, and then does each task with what those before it left. */
async function doTasks(window: OpenWindow, tasks: readonly KeyboardTask[]): Promise<void> {
  await refusePointer(window);
  await window.page.reload();
  const root = await setUpWorkspace(window);
  for (const task of tasks) await task(window, root);
  expect(window.complaints).toEqual([]);
}

/** `root` is the folder of the workspace `coast`. */
type KeyboardTask = (window: OpenWindow, root: string) => Promise<void>;

const TASKS: readonly KeyboardTask[] = runBudget({
  short: [pushSome, restoreOld, changeSettings],
  long: [
    pushSome,
    clearAndUndo,
    restoreOld,
    compare,
    nameVersion,
    branch,
    settleConflict,
    discardAndIgnore,
    resizeColumn,
    seeDeletions,
    saveJob,
    tendJob,
    addRemote,
    copyAcross,
    lookInside,
    seeWhoChanged,
    playSound,
    filterAndMakeFolder,
    syncAndDelete,
    editRemote,
    measure,
    verify,
    cloneAndPause,
    useTransferMenu,
    watchFleet,
    changeSettings,
  ],
});

/** Pushes one of two changed files. Plan has that one alone. */
async function pushSome({ page }: OpenWindow, root: string): Promise<void> {
  writeFileSync(join(root, 'notes.txt'), 'second');
  writeFileSync(join(root, 'draft.txt'), 'not to be pushed');
  await command(page, 'Changes');
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: 'Push 2 changes' }).waitFor();
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
  await command(page, 'Plan');
  await page.getByText('1 change is not ticked in Changes and stays out of this plan.').waitFor();
  const figure = (title: string, label: string) =>
    page
      .locator('.card', { has: page.getByRole('heading', { name: title }) })
      .locator('.figure', { has: page.getByText(label, { exact: true }) })
      .locator('.figure-value')
      .textContent();
  expect(await page.locator('.funnel-step strong').first().textContent()).toBe('1');
  expect(await figure('The whole push, as estimated', 'Objects to send')).toBe('1');
  // Reads the branch; writes a pack, the commit and the branch.
  expect(await figure('Check nothing', 'Requests in total')).toBe('4');
  await press(page, page.getByRole('link', { name: 'Change it' }));
  await page.getByRole('button', { name: 'Push 1 change' }).waitFor();
  await tabTo(page, page.getByRole('textbox', { name: 'Message' }));
  await page.keyboard.type('By hand');
  await page.keyboard.press('Enter');
  await page.getByText('Pushed as commit').waitFor();
  // The list is read anew, and has the file that stayed.
  await expect.poll(() => rowsShown(page), WAIT).toEqual([expect.stringContaining('draft.txt')]);
  await command(page, 'Plan');
  await expect.poll(() => figure('The last push, as it went', 'Requests in total'), WAIT).toBe('4');
}

async function clearAndUndo({ page }: OpenWindow): Promise<void> {
  await command(page, 'Transfers');
  await press(page, page.getByRole('button', { name: 'Clear the list' }));
  await page.getByRole('heading', { name: 'Nothing moves' }).waitFor();
  await press(page, page.getByRole('button', { name: 'Undo' }));
  await page.getByRole('list', { name: 'Ended transfers' }).waitFor();
}

async function restoreOld({ page }: OpenWindow, root: string): Promise<void> {
  await command(page, 'History');
  await tabTo(page, page.getByRole('grid', { name: 'Commits' }).getByRole('row').first());
  await page.keyboard.press('ArrowDown');
  await chooseEntry(page, await showContents(page), 'notes.txt');
  await press(page, page.getByRole('button', { name: 'Restore...' }));
  const dialog = page.getByRole('dialog');
  await press(page, dialog.getByRole('button', { name: /Restore/ }));
  await expect.poll(() => readFileSync(join(root, 'notes.txt'), 'utf8'), WAIT).toBe('first');
}

/** Makes a branch, switches to it and back, and deletes it. */
async function branch({ page }: OpenWindow): Promise<void> {
  await command(page, 'Make a branch');
  const dialog = page.getByRole('dialog').filter({ has: page.getByRole('heading') });
  await tabTo(page, dialog.getByLabel('Name of the branch'));
  await page.keyboard.type('side');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  for (const name of ['side', 'main']) {
    await findRef(page, `branch ${name}`);
    await page.keyboard.press('Enter');
    await press(page, dialog.getByRole('button', { name: 'Switch', exact: true }));
    await page.getByRole('button', { name: `Branch ${name}` }).waitFor();
  }
  const row = await findRef(page, 'branch side');
  await page.keyboard.press('ContextMenu');
  await pressUntil(page, 'ArrowDown', page.getByRole('menuitem', { name: 'Delete the branch side...' }));
  await page.keyboard.press('Enter');
  await press(page, dialog.getByRole('button', { name: 'Delete the branch' }));
  await page.getByText('The branch side was deleted').waitFor();
  await row.waitFor({ state: 'detached' });
}

/** Another machine has pushed another version of a file that changed here. Both are kept. */
async function settleConflict({ folder, page }: OpenWindow, root: string): Promise<void> {
  const other = join(folder, 'other');
  const dray = (cwd: string, ...parameters: string[]) =>
    runCli(parameters, { cwd, environment: { HOME: join(folder, 'home'), DRAY_AUTHOR: 'other' } });
  await dray(folder, 'clone', `file://${join(folder, 'versions')}`, other);
  writeFileSync(join(other, 'notes.txt'), 'theirs');
  expect(await dray(other, 'push')).toMatchObject({ exitCode: 0 });
  await command(page, 'See what a pull would do');
  await page.getByText('1 still to decide').waitFor();
  await tabTo(page, page.getByRole('treegrid'));
  await page.keyboard.press('Home');
  await page.keyboard.press('b');
  await page.getByText('All are decided').waitFor();
  await press(page, page.getByRole('button', { name: /^Pull \d change/ }));
  await expect.poll(() => readFileSync(join(root, 'notes.txt'), 'utf8'), WAIT).toBe('theirs');
  expect(readdirSync(root).filter((name) => name.startsWith('notes (mine'))).toHaveLength(1);
}

/** A folder of this computer to the new remote. */
async function copyAcross({ folder, page }: OpenWindow): Promise<void> {
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'shelf' }) });
  await press(page, card.getByRole('link', { name: 'Browse' }));
  const left = page.getByRole('region', { name: /^Left pane/ });
  await chooseByName(page, left, 'coast');
  await pressUntil(page, 'Shift+Tab', page.getByRole('button', { name: 'Copy to the right' }));
  await page.keyboard.press('Enter');
  await expect.poll(() => existsSync(join(folder, 'shelf', 'coast', 'notes.txt')), WAIT).toBe(true);
}

/** The folder and its copy at the remote become the same again, and the copy is deleted. */
async function syncAndDelete({ folder, page }: OpenWindow): Promise<void> {
  const there = join(folder, 'shelf', 'coast');
  writeFileSync(join(there, 'only there.txt'), 'to be deleted');
  const [left, right] = [
    page.getByRole('region', { name: /^Left/ }),
    page.getByRole('region', { name: /^Right/ }),
  ];
  for (const pane of [left, right]) {
    await chooseByName(page, pane, 'coast');
    await page.keyboard.press('Enter');
    await pane.getByRole('row', { name: 'notes.txt' }).waitFor();
  }
  await press(page, page.getByRole('button', { name: 'Sync or copy all' }));
  const dialog = page.getByRole('dialog');
  await tabTo(page, dialog.getByRole('radio').first());
  await pressUntil(page, 'ArrowRight', dialog.getByRole('radio', { name: 'Sync' }));
  await page.keyboard.press('Space');
  await press(page, dialog.getByRole('button', { name: 'Swap direction' }));
  await tabTo(page, dialog.getByRole('checkbox', { name: /^Delete 1 file in/ }));
  await page.keyboard.press('Space');
  await press(page, dialog.getByRole('button', { name: 'Sync and delete 1 file' }));
  await expect.poll(() => existsSync(join(there, 'only there.txt')), WAIT).toBe(false);

  await chooseByName(page, right, 'notes.txt');
  await page.keyboard.press('Delete');
  await tabTo(page, dialog.getByRole('textbox'));
  await page.keyboard.type('notes.txt');
  await press(page, dialog.getByRole('button', { name: 'Delete' }));
  await expect.poll(() => existsSync(join(there, 'notes.txt')), WAIT).toBe(false);
}

async function compare({ page }: OpenWindow): Promise<void> {
  await command(page, 'History');
  await press(page, page.getByRole('button', { name: 'Compare', exact: true }));
  await page.getByRole('heading', { name: /^From / }).waitFor();
  await press(page, page.getByRole('button', { name: 'Swap A and B' }));
  await press(page, page.getByRole('button', { name: 'End the comparison' }));
  await page.getByRole('grid', { name: 'Commits' }).waitFor();
}

async function resizeColumn({ page }: OpenWindow): Promise<void> {
  const kind = page.locator('.change-table .change-kind').first();
  const width = () => kind.evaluate((cell) => cell.getBoundingClientRect().width);
  const before = await width();
  await tabTo(page, page.locator('.change-table').getByRole('separator', { name: /Change/ }));
  await page.keyboard.press('ArrowLeft');
  await expect.poll(width, WAIT).not.toBe(before);
}

/** A push of the workspace becomes a job, which then runs once. */
async function saveJob({ page }: OpenWindow, root: string): Promise<void> {
  writeFileSync(join(root, 'recording.bin'), noise(RECORDING_BYTES, 1));
  await press(page, page.getByRole('button', { name: 'Save as a job' }));
  const dialog = page.getByRole('dialog', { name: 'New job' });
  await tabTo(page, dialog.getByLabel('Name', { exact: true }));
  await page.keyboard.type('by-hand');
  await press(page, dialog.getByRole('button', { name: 'Save' }));
  await press(page, page.getByRole('button', { name: 'Run now: by-hand' }));
  await page.getByRole('main').getByText('Pushed', { exact: false }).first().waitFor();
}

async function lookInside({ page }: OpenWindow): Promise<void> {
  const left = page.getByRole('region', { name: /^Left/ });
  await chooseByName(page, left, 'coast');
  await page.keyboard.press('Enter');
  await left.getByRole('row', { name: 'notes.txt' }).waitFor();
  await chooseByName(page, left, 'notes.txt');
  await page.keyboard.press(' ');
  await page.getByRole('dialog').getByText('theirs').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Backspace');
  await left.getByRole('row', { name: 'coast' }).waitFor();
}

async function verify({ page }: OpenWindow): Promise<void> {
  await command(page, 'Verify the remote of coast');
  await command(page, 'Repositories');
  await page.getByText(/existence and sizes/).waitFor();
}

/** A clone is a transfer: so slow that it can be paused, and whole once nothing slows it. */
async function cloneAndPause({ folder, page }: OpenWindow): Promise<void> {
  const slow = 16 * 1024;
  await askEngine(page, 'settings.set', { bandwidth: { limit: slow } });
  await command(page, 'Add a workspace');
  const form = page.getByRole('region', { name: 'Add a workspace' });
  await tabTo(page, form.getByRole('radio').first());
  await pressUntil(page, 'ArrowRight', form.getByRole('radio', { name: /^Someone has pushed them/ }));
  await page.keyboard.press('Space');
  await tabTo(page, form.getByLabel('Folder to download them to'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type(join(folder, 'second'));
  await press(page, form.getByRole('button', { name: 'Next' }));
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Create it' }));
  await tabTo(page, form.getByRole('radio', { name: /^A folder/ }));
  await tabTo(page, form.getByLabel('Folder with the versions'));
  await page.keyboard.type(join(folder, 'versions'));
  await press(page, form.getByRole('button', { name: 'Download the files' }));
  const row = page.locator('.transfer', { hasText: 'Clone second' });
  await press(page, page.getByRole('button', { name: 'Pause Clone second' }));
  await row.getByText('Paused').waitFor();
  await askEngine(page, 'settings.set', { bandwidth: { limit: null } });
  await press(page, page.getByRole('button', { name: 'Resume Clone second' }));
  await row.getByText('Done').waitFor();
  expect(existsSync(join(folder, 'second', 'recording.bin'))).toBe(true);
}

async function addRemote({ folder, page }: OpenWindow): Promise<void> {
  await command(page, 'Add a remote');
  const dialog = page.getByRole('dialog', { name: 'Add a remote' });
  await tabTo(page, dialog.getByLabel('Name'));
  await page.keyboard.type('shelf');
  await tabTo(page, dialog.getByRole('radio', { name: 'Bucket' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await tabTo(page, dialog.getByRole('textbox', { name: /Folder|Path/ }));
  mkdirSync(join(folder, 'shelf'));
  await page.keyboard.type(join(folder, 'shelf'));
  await press(page, dialog.getByRole('button', { name: 'Test', exact: true }));
  await dialog.getByText('supports everything that Dray needs').waitFor();
  await press(page, dialog.getByRole('button', { name: 'Add', exact: true }));
  await page.getByRole('heading', { name: 'shelf' }).waitFor();
}

async function measure({ page }: OpenWindow): Promise<void> {
  await command(page, 'Repositories');
  await press(page, page.getByRole('button', { name: /^Measure / }).first());
  await page
    .getByRole('button', { name: /^Measure again/ })
    .first()
    .waitFor();
}

async function changeSettings({ page }: OpenWindow): Promise<void> {
  await command(page, 'Settings');
  await tabTo(page, page.getByRole('radio', { name: 'System' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme), WAIT).toBe('dark');
  await tabTo(page, page.getByRole('radio', { name: 'Comfortable' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Space');
  await expect
    .poll(() => page.evaluate(() => document.documentElement.dataset.density), WAIT)
    .toBe('compact');
}
