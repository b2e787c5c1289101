/** Repositories that are damaged or too old, mended in the window by the keyboard. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowser } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { press, typeInto } from './keyboard/press-keys.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { rowOf, stateOf } from './page/transfer-rows.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const OLD = join(import.meta.dirname, '..', 'data', 'repositories-3aaa4a0', 'packs');

describe.skipIf(!findChromium())('A repository in the window', () => {
  const started = startBrowser();

  it('that has lost content gets it back from the workspace, after a dry run', async () => {
    using sandbox = createSandbox();
    const root = sandbox.path('birds');
    mkdirSync(root);
    const dray = (...words: string[]) => runCli(words, { cwd: root });
    await dray('init', '--remote', sandbox.path('store'), '--pack-below', '0', '-q');
    writeFileSync(join(root, 'list.txt'), 'grey heron\n');
    expect(await dray('push', '-m', 'first', '-q')).toMatchObject({ exitCode: 0 });
    rmSync(sandbox.path('store', 'objects'), { recursive: true });

    await using window = await openWorkspace(started.browser, { root, screen: '#/repositories' });
    const { origin, page } = window;
    await press(page, page.getByRole('button', { name: 'Verify' }));
    await page.goto(`${origin}/#/transfers`);
    const verify = rowOf(page, 'Verify birds');
    await expect.poll(stateOf(verify), WAIT).toBe('Failed');
    await press(page, verify.getByRole('button', { name: 'Repair... birds' }));
    const dialog = page.getByRole('dialog', { name: 'Repair birds' });
    await dialog.getByText('1 missing or damaged: 1 path cannot be restored in full.').waitFor();
    const missing = dialog.getByRole('list', { name: 'Missing or damaged' });
    await expect.poll(() => missing.innerText()).toContain('list.txt');
    expect(readdirSync(sandbox.path('store'))).not.toContain('objects');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await press(page, dialog.getByRole('button', { name: 'Repair', exact: true }));
    await expect.poll(stateOf(rowOf(page, 'Repair birds')), WAIT).toBe('Done');
    expect(await rowOf(page, 'Repair birds').innerText()).toContain('1 object stored again');
    expect(await dray('verify', '--read-data')).toMatchObject({ exitCode: 0 });
    // The overview still has the verification's result, so it offers the repair as well.
    await page.goto(`${origin}/#/repositories`);
    await page.getByText('1 missing').waitFor();
    await press(page, page.getByRole('button', { name: 'Repair... birds' }));
    await page.getByText('Nothing to repair.').waitFor();
    expect(await page.getByRole('button', { name: 'Repair', exact: true }).isDisabled()).toBe(true);
    expect(window.complaints).toEqual([]);
  });

  it('that an older Dray made is upgraded before it collects, once its user has read what that writes', async () => {
    using sandbox = createSandbox();
    cpSync(OLD, sandbox.path('store'), { recursive: true });
    const cloned = await runCli(['clone', sandbox.path('store'), 'old', '-q'], { cwd: sandbox.folder });
    expect(cloned).toMatchObject({ exitCode: 0 });
    await using window = await openWorkspace(started.browser, {
      root: sandbox.path('old'),
      screen: '#/repositories',
    });
    const { page } = window;
    await press(page, page.getByRole('button', { name: 'Check the space of old' }));
    await press(page, page.getByRole('button', { name: 'Upgrade... old' }));
    const dialog = page.getByRole('dialog', { name: 'Upgrade old?' });
    await dialog.getByText(/^This writes anew what names the repository/).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await press(page, dialog.getByRole('button', { name: 'Upgrade' }));
    await page.getByText('Upgraded old').waitFor();
    await page.getByText('A collection frees').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('loses the tags that a pattern names, with the commits that only they kept', async () => {
    using sandbox = createSandbox();
    const root = sandbox.path('coast');
    mkdirSync(root);
    const dray = (...words: string[]) => runCli(words, { cwd: root });
    await dray('init', '--remote', sandbox.path('store'), '-q');
    for (const tag of ['draft-1', 'draft-2', 'paper', undefined]) {
      writeFileSync(join(root, 'depths.txt'), `${tag}\n`);
      await dray('push', '-m', `version ${tag ?? 'last'}`, '-q');
      if (tag !== undefined) await dray('tag', tag);
    }
    await using window = await openWorkspace(started.browser, { root, screen: '#/repositories' });
    const { page } = window;
    await press(page, page.getByRole('button', { name: 'Retention... of coast' }));
    const rules = page.getByRole('dialog', { name: 'Retention of coast' });
    await typeInto(page, rules.getByLabel('Newest commits'), '1');
    await rules.getByText('Would forget 0 commits and keep 4.').waitFor();
    await typeInto(page, rules.getByLabel('Tags to forget (optional)'), 'draft-* paper');
    await rules
      .getByText('Would forget 3 commits and keep 1. Would remove the tags draft-1, draft-2, paper.')
      .waitFor();
    // A pattern of the rules wins.
    await typeInto(page, rules.getByLabel('Tags to keep'), 'p*');
    await rules
      .getByText('Would forget 2 commits and keep 2. Would remove the tags draft-1, draft-2.')
      .waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await press(page, rules.getByRole('button', { name: 'Forget 2 commits and 2 tags...' }));
    const sure = page.getByRole('dialog', { name: 'Forget 2 commits and 2 tags of coast?' });
    await sure.getByText('Removes the tags draft-1, draft-2.').waitFor();
    await press(page, sure.getByRole('button', { name: 'Forget 2 commits and 2 tags' }));
    await page.getByText('Forgot 2 commits and 2 tags of coast').waitFor();
    expect((await dray('tag')).stdout).not.toContain('draft');
    expect((await dray('tag')).stdout).toContain('paper');
    expect(window.complaints).toEqual([]);
  });
});
