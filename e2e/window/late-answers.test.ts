/** An answer that comes after a person's next step does not undo that step. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowser } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { holdRequests } from './hold-request.ts';
import { openWindow } from './open-window.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('An answer that comes late', () => {
  const started = startBrowser();

  it('neither closes a dialog that was opened since, nor leads away from another screen', async () => {
    await using window = await openWindow(started.browser, { path: '/#/remotes' });
    const { folder, page } = window;
    const held = await holdRequests(page);
    const add = page.getByRole('dialog', { name: 'Add a remote' });
    const addHeld = async (name: string) => {
      held.holdAnswers('remotes.add');
      await page.getByRole('button', { name: 'Add remote' }).click();
      await add.getByText('Folder', { exact: true }).click();
      await add.getByLabel('Name').fill(name);
      await add.getByLabel('Folder', { exact: true }).fill(join(folder, name));
      await add.getByRole('button', { name: 'Add', exact: true }).click();
      await expect.poll(held.waiting, WAIT).toBe(1);
      await add.getByRole('button', { name: 'Cancel' }).click();
    };
    await addHeld('lab');
    await page.getByRole('button', { name: 'Add remote' }).click();
    await add.getByLabel('Name').fill('typed');
    held.release();
    await page.getByText('lab is one of your remotes').waitFor();
    await add.getByLabel('Name').fill('typed since');
    await add.getByRole('button', { name: 'Cancel' }).click();
    await addHeld('field');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    held.release();
    await page.getByText('field is one of your remotes').waitFor();
    await page.getByRole('radio', { name: 'Compact' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/settings');
    expect(window.complaints).toEqual([]);
  });

  longIt(
    'neither closes the next dialog of a branch, nor chooses a workspace whose form was left',
    async () => {
      using sandbox = createSandbox();
      const root = sandbox.path('one');
      sandbox.write('one/a.txt', 'a');
      sandbox.write('two/b.txt', 'b');
      await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store') });
      await push(testContext(root), { message: 'First' });
      const folder = sandbox.path('window');
      await using window = await openWorkspace(started.browser, { root, folder, screen: '#/history' });
      const { page } = window;
      await page.evaluate((chosen) => localStorage.setItem('dray.workspace', chosen), root);
      const held = await holdRequests(page);
      const ask = (what: string) => page.evaluate((to) => location.assign(to), `#/history?do=${what}`);
      held.holdAnswers('history.placeRef');
      await ask('tag');
      await page.getByLabel('Name of the tag').fill('v2');
      await page.getByRole('button', { name: 'Make the tag' }).click();
      await expect.poll(held.waiting, WAIT).toBe(1);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await ask('branch');
      await page.getByLabel('Name of the branch').fill('side');
      held.release();
      await page.getByText('Created the tag v2').waitFor();
      await page.locator('.ref').filter({ hasText: 'v2' }).first().waitFor();
      await page.getByLabel('Name of the branch').fill('other');
      await page.getByRole('button', { name: 'Cancel' }).click();

      await page.evaluate(() => location.assign('#/home?add=yes'));
      await page.getByLabel('Folder with your files').fill(sandbox.path('two'));
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByLabel('Folder for the versions').fill(sandbox.path('store-of-two'));
      held.holdAnswers('home.createWorkspace');
      await page.getByRole('button', { name: 'Set up' }).click();
      await expect.poll(held.waiting, WAIT).toBe(1);
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('radio', { name: 'Compact' }).waitFor();
      held.release();
      await page.getByRole('link', { name: 'Home' }).click();
      await page.getByRole('article', { name: 'two' }).waitFor();
      await page.getByRole('button', { name: /^Workspace one/ }).waitFor();
      expect(window.complaints).toEqual([]);
    },
  );

  longIt('does not accept a folder that was replaced since', async () => {
    await using window = await openWindow(started.browser);
    const { folder, page } = window;
    const held = await holdRequests(page);
    const there = join(folder, 'photos');
    mkdirSync(there);
    const field = page.getByLabel('Folder with your files');
    held.hold('home.checkFolder');
    await field.fill(there);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(held.waiting, WAIT).toBe(1);
    await field.fill(join(folder, 'fotos'));
    held.release();
    await page.getByRole('button', { name: 'Next', disabled: false }).click();
    await page.getByRole('dialog', { name: 'Create a folder?' }).getByText('fotos').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('does not take back a setting', async () => {
    await using window = await openWindow(started.browser, { path: '/#/remotes' });
    const { page } = window;
    const held = await holdRequests(page);
    await page.getByRole('heading', { name: 'No remotes yet' }).waitFor();
    held.holdAnswers('settings.get');
    await page.getByRole('link', { name: 'Settings' }).click();
    const dark = page.getByRole('radio', { name: 'Dark' });
    await dark.waitFor();
    await expect.poll(held.waiting, WAIT).toBe(1);
    await dark.click({ force: true });
    const settings = join(window.folder, 'home/.config/dray/window.json');
    await expect.poll(() => readFileSync(settings, 'utf8'), WAIT).toContain('"dark"');
    held.release();
    await page.getByRole('radio', { name: 'Compact' }).focus();
    expect(await dark.isChecked()).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  longIt('leaves the focus where it went since', async () => {
    await using window = await openWindow(started.browser, { path: '/#/jobs' });
    const { folder, page } = window;
    const home = join(folder, 'home');
    for (const name of ['morning', 'night'])
      await runCli(['job', 'add', name, '--', 'check', 'here', 'there'], {
        cwd: folder,
        environment: { HOME: home, XDG_CONFIG_HOME: join(home, '.config') },
      });
    const held = await holdRequests(page);
    held.holdAnswers('saved.remove');
    await page.getByRole('button', { name: 'Remove night' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await expect.poll(held.waiting, WAIT).toBe(1);
    const log = page.getByRole('button', { name: 'Log of morning' });
    await log.focus();
    held.release();
    await page.getByRole('heading', { name: 'night' }).waitFor({ state: 'detached' });
    expect(await log.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(window.complaints).toEqual([]);
  });
});
