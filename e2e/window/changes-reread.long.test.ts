/** A list of changes that is read again keeps what a person did in it, as long as it is still true. */
import { unlinkSync } from 'node:fs';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { changeDataset, pushedDataset, WORK } from './data/changed-dataset.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { openWorkspace, rowOf, WAIT } from './window-workspace.ts';

describe.skipIf(!findChromium())('A list of changes that is read again', () => {
  const started = startBrowserAndStore();

  it('keeps its chosen row, its place, the focus, and an open menu', async () => {
    using dataset = await pushedDataset(started.server, 'reread');
    const { sandbox } = dataset;
    changeDataset(dataset);
    for (let at = 0; at < 120; at += 1) sandbox.write(`${WORK}/more/${String(at).padStart(3, '0')}.txt`, 'm');
    const root = sandbox.path(WORK);
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root,
      screen: '#/changes',
    });
    const { page } = window;
    const grid = page.getByRole('grid', { name: 'Changes' });
    const scrolled = () => grid.evaluate((element) => element.scrollTop);
    const heading = page.getByRole('region', { name: 'Preview' }).getByRole('heading');
    await page.getByRole('radio', { name: 'Flat' }).click();
    await rowOf(page, 'more/000.txt').click();
    await expect.poll(() => heading.textContent(), WAIT).toBe('000.txt');
    for (let at = 1; at < 60; at += 1) await page.keyboard.press('ArrowDown');
    await expect.poll(() => heading.textContent(), WAIT).toBe('059.txt');
    let place = await scrolled();
    expect(place).toBeGreaterThan(0);
    const expectSame = async () => {
      await expect.poll(() => rowOf(page, 'more/059.txt').getAttribute('aria-selected'), WAIT).toBe('true');
      expect(await heading.textContent()).toBe('059.txt');
      expect(await scrolled()).toBe(place);
    };
    // A menu stays open, and the grid keeps the keyboard, which continues at its row.
    await rowOf(page, 'more/059.txt').click({ button: 'right' });
    const entry = page.getByRole('menuitem', { name: 'Copy the path', exact: true });
    await entry.waitFor();
    await rereads(page, root);
    expect(await entry.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await entry.waitFor({ state: 'detached' });
    await expectSame();
    expect(await grid.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => heading.textContent(), WAIT).toBe('060.txt');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => heading.textContent(), WAIT).toBe('059.txt');

    place = await scrolled();

    // A row further up moves the chosen one by one; a key continues from there.
    sandbox.write(`${WORK}/aaa.txt`, 'first of all');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('button', { name: 'Push 128 changes' }).waitFor();
    await expectSame();
    await expect
      .poll(() => grid.getAttribute('aria-activedescendant'), WAIT)
      .toBe(await rowOf(page, 'more/059.txt').getAttribute('id'));

    // What is typed while the list is read again is not lost, and neither is the keyboard.
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('Half a mess');
    await rereads(page, root);
    await page.keyboard.type('age');
    expect(await message.inputValue()).toBe('Half a message');

    // A row that is gone is no longer chosen.
    unlinkSync(sandbox.path(WORK, 'more/059.txt'));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('No row selected').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it('asks for deletions that were seen only if they are others', async () => {
    using dataset = await pushedDataset(started.server, 'reread-deleted');
    changeDataset(dataset);
    const root = dataset.sandbox.path(WORK);
    await using window = await openWorkspace(started.browser, {
      environment: started.server.environment,
      root,
      screen: '#/changes',
    });
    const { page } = window;
    const seen = page.getByRole('checkbox', { name: 'I have seen the deletions' });
    await page.getByRole('button', { name: 'Show it', exact: true }).click();
    await page.getByText('I have seen the deletions').click();
    const send = page.getByRole('button', { name: /^Push \d+ changes$/ });
    await expect.poll(() => send.isEnabled(), WAIT).toBe(true);
    await rereads(page, root);
    expect(await seen.isChecked()).toBe(true);
    await page.getByRole('link', { name: 'Plan', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Plan' }).first().waitFor();
    await page.getByRole('link', { name: 'Changes' }).first().click();
    await seen.waitFor();
    expect(await seen.isChecked()).toBe(true);
    await page.reload();
    await seen.waitFor();
    expect(await seen.isChecked()).toBe(true);
    dataset.sandbox.write(`${WORK}/later.txt`, 'no deletion');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('button', { name: 'Push 8 changes' }).waitFor();
    expect(await seen.isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Deleted 1' }).click();
    unlinkSync(dataset.sandbox.path(WORK, 'notes/kept.md'));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('2 files will be removed from the branch').waitFor();
    expect(await seen.isChecked()).toBe(false);
    expect(await send.isDisabled()).toBe(true);
    expect(await seen.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.getByText('I have seen the deletions').click();
    await expect.poll(() => send.isEnabled(), WAIT).toBe(true);
    expect(window.complaints).toEqual([]);
  });
});

/** A transfer of the workspace ends; returns once the list has been read again and its rows are drawn. */
async function rereads(page: Page, root: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { promise: drawn, resolve } = Promise.withResolvers<void>();
  let isOpened = false;
  session.on('Network.webSocketFrameReceived', ({ response: { payloadData } }) => {
    if (isOpened && payloadData.includes('"rows":[')) resolve();
    if (payloadData.includes('"lookedMs"') && payloadData.includes('"kept"')) isOpened = true;
  });
  await session.send('Network.enable');
  await askEngine(page, 'transfers.start', { kind: 'restore', root, paths: ['notes/kept.md'] });
  await drawn;
  await session.detach();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
