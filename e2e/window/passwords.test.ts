/** Encrypted repositories in the window, by the keyboard: made, opened, and their keys changed. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { startBrowser } from './browser-and-store.ts';
import { HERON_PASSWORD as PASSWORD, pushedBirds } from './data/encrypted-birds.ts';
import { findChromium } from './find-chromium.ts';
import { press, tabTo, typeInto } from './keyboard/press-keys.ts';
import { openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { filesWith, pageTexts } from './page/held-texts.ts';
import { rowOf, stateOf } from './page/transfer-rows.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

const SECOND = 'a kingfisher dives';

describe.skipIf(!findChromium())('An encrypted repository in the window', () => {
  const started = startBrowser();

  it('is made with a password and a recovery key that is shown once', async () => {
    await using window = await openWindow(started.browser, { path: '/#/home' });
    const { engine, folder, page } = window;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const root = join(folder, 'birds');
    mkdirSync(root);
    writeFileSync(join(root, 'list.txt'), 'grey heron\n');
    await typeInto(page, page.getByLabel('Folder with your files'), root);
    await press(page, page.getByRole('button', { name: 'Next' }));
    await typeInto(page, page.getByLabel('Folder for the versions'), join(folder, 'store'));
    await tabTo(page, page.getByRole('checkbox', { name: /^Encrypt/ }));
    await page.keyboard.press('Space');
    const setUp = page.getByRole('button', { name: 'Set up' });
    await press(page, setUp);
    await page.getByText('Type a password.').waitFor();
    await typeInto(page, page.getByLabel('Password', { exact: true }), PASSWORD);
    await typeInto(page, page.getByLabel('The same again'), 'two herons on two legs');
    await page.getByText('The two differ.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await typeInto(page, page.getByLabel('The same again'), PASSWORD);
    await press(page, setUp);

    const dialog = page.getByRole('dialog', { name: 'Recovery key of birds' });
    const recoveryKey = await dialog.getByLabel('Recovery key', { exact: true }).innerText();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    // Neither Escape nor the button closes it before.
    await page.keyboard.press('Escape');
    await dialog.getByText('Keep the key first').waitFor();
    expect(await dialog.getByRole('button', { name: 'Go on' }).isDisabled()).toBe(true);
    await press(page, dialog.getByRole('button', { name: 'Copy' }));
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText()), WAIT).toBe(recoveryKey);
    await tabTo(page, dialog.getByRole('checkbox', { name: 'I have kept the key' }));
    await page.keyboard.press('Space');
    await press(page, dialog.getByRole('button', { name: 'Go on' }));
    await dialog.waitFor({ state: 'detached' });
    await press(page, page.getByRole('button', { name: 'Push', exact: true }));
    await expect.poll(stateOf(rowOf(page, 'Push birds')), WAIT).toBe('Done');

    for (const secret of [PASSWORD, recoveryKey]) {
      expect(await pageTexts(page)).not.toContain(secret);
      expect(filesWith(folder, secret)).toEqual([]);
      expect(engine.output()).not.toContain(secret);
    }
    const copy = join(folder, 'copy');
    for (const password of [PASSWORD, recoveryKey]) {
      const environment = { DRAY_PASSWORD: password };
      const cloned = await runCli(['clone', join(folder, 'store'), copy, '-q'], { cwd: folder, environment });
      expect(cloned).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(copy, 'list.txt'), 'utf8')).toBe('grey heron\n');
      rmSync(copy, { recursive: true });
    }
    expect(window.complaints).toEqual([]);
  });

  it('asks for its password once, and says at the field that it is wrong', async () => {
    using sandbox = createSandbox();
    const { root } = await pushedBirds(sandbox);
    await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
    const { engine, origin, page } = window;
    await page.getByText('is encrypted, and is locked here').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await press(page, page.getByRole('button', { name: 'Enter the password' }));
    const dialog = page.getByRole('dialog', { name: 'Password of the repository' });
    const field = dialog.getByLabel('Password or recovery key');
    await field.and(page.locator(':focus')).waitFor();
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('autocomplete')).toBe('off');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('This password opens no key of the repository.').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await typeInto(page, field, PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'the first' }).waitFor();
    // Every other screen opens too.
    await page.goto(`${origin}/#/repositories`);
    await page.getByText('Newest version', { exact: true }).waitFor();
    await page.goto(`${origin}/#/home`);
    await page.getByText('Nothing to pull').waitFor();
    await page.goto(`${origin}/#/settings`);
    await page.getByText(/^Key of file:.*store, until Dray's engine ends$/).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(await pageTexts(page)).not.toContain(PASSWORD);
    expect(engine.output()).not.toContain(PASSWORD);
    await press(page, page.getByRole('button', { name: /^Remove: Key of file/ }));
    await press(page, page.getByRole('button', { name: 'Remove', exact: true }));
    await page.getByText('This computer has none.').waitFor();
    await page.goto(`${origin}/#/history`);
    await page.getByText('is encrypted, and is locked here').waitFor();
    expect(window.complaints).toEqual([]);
  });

  longIt('gets, changes and loses passwords, each time with one that is typed', async () => {
    using sandbox = createSandbox();
    const { opens, root } = await pushedBirds(sandbox);
    await using window = await openWorkspace(started.browser, { root, screen: '#/repositories' });
    const { page } = window;
    await press(page, page.getByRole('button', { name: 'Passwords... of birds' }));
    const list = page.getByRole('dialog', { name: 'Passwords of birds' });
    const keys = async () =>
      (await list.getByRole('list', { name: 'Keys' }).getByRole('listitem').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' ').replace(/ \d+ \w{3}.*/, ''),
      );
    await expect.poll(keys, WAIT).toHaveLength(2);
    expect((await keys()).sort()).toEqual(['Password first password', 'Recovery key recovery key']);
    expect(await findViolationsInBothThemes(page)).toEqual([]);

    await press(page, list.getByRole('button', { name: 'Add a password...' }));
    const add = page.getByRole('dialog', { name: 'Add a password' });
    await add.getByLabel('Your password or recovery key').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('wrong');
    await typeInto(page, add.getByLabel('New password'), SECOND);
    await typeInto(page, add.getByLabel('The same again'), SECOND);
    await typeInto(page, add.getByLabel('Label (optional)'), 'ada');
    await page.keyboard.press('Enter');
    await add.getByText('This password opens no key of the repository.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await typeInto(page, add.getByLabel('Your password or recovery key'), PASSWORD);
    await page.keyboard.press('Enter');
    await expect.poll(keys, WAIT).toHaveLength(3);
    expect(await opens(SECOND)).toBe(true);

    const first = list.getByRole('button', { name: /^Remove the password first password/ });
    await press(page, first);
    const remove = page.getByRole('dialog', { name: 'Remove a key?' });
    await typeInto(page, remove.getByLabel('Your password or recovery key'), PASSWORD);
    await page.keyboard.press('Enter');
    await remove.getByText('is the one whose password you gave').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await typeInto(page, remove.getByLabel('Your password or recovery key'), SECOND);
    await page.keyboard.press('Enter');
    await expect.poll(keys, WAIT).toHaveLength(2);
    expect([await opens(PASSWORD), await opens(SECOND)]).toEqual([false, true]);

    await press(page, list.getByRole('button', { name: 'New recovery key...' }));
    const made = page.getByRole('dialog', { name: 'New recovery key' });
    await typeInto(page, made.getByLabel('Your password or recovery key'), SECOND);
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'Recovery key of birds' });
    const recoveryKey = await shown.getByLabel('Recovery key', { exact: true }).innerText();
    await tabTo(page, shown.getByRole('checkbox'));
    await page.keyboard.press('Space');
    await press(page, shown.getByRole('button', { name: 'Go on' }));
    await expect.poll(keys, WAIT).toHaveLength(3);
    expect(await opens(recoveryKey)).toBe(true);

    await press(page, list.getByRole('button', { name: 'Change a password...' }));
    const replace = page.getByRole('dialog', { name: 'Change a password' });
    await typeInto(page, replace.getByLabel('Present password'), SECOND);
    await typeInto(page, replace.getByLabel('New password'), 'third');
    await typeInto(page, replace.getByLabel('The same again'), 'third');
    await page.keyboard.press('Enter');
    await page.getByText('Changed a password of birds').waitFor();
    expect([await opens(SECOND), await opens('third')]).toEqual([false, true]);
    expect(window.complaints).toEqual([]);
  });
});
