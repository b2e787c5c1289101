/** Another machine by the keyboard: its token, the first contact, another machine in its place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { serveForTest, TEST_TOKEN } from '../../../engine/peer/peer.fixture.ts';
import { fingerprintOf } from '../../../engine/peer/peer-certificate.ts';
import { ownCertificate } from '../../../engine/peer/peer-own-certificate.ts';
import type { PeerServer } from '../../../engine/peer/serve-folder.ts';
import type { OpenWindow } from '../open-window.ts';
import { WAIT } from '../window-workspace.ts';
import { command, holdsFocus, press, pressUntil, tabTo, typeInto } from './press-keys.ts';

const TRUST = 'Trust this machine';
const PASSED = 'supports everything that Dray needs';

/**
 * It becomes the remote `nas`. While another machine answers in its place, it is refused in Browse, before
 * and after its folder was read, and by the test of its card.
 */
export async function meetMachine({ folder, page }: OpenWindow): Promise<void> {
  await using machine = await serveMachine(folder);
  await addMachine(page, machine.host, await machine.serve('nas'));
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'nas' }) });
  const right = page.getByRole('region', { name: 'Right pane, nas:' });
  const test = page.getByRole('dialog', { name: 'Test of nas' });
  for (const { place, open, again } of [
    { place: right, open: card.getByRole('link', { name: 'Browse' }), again: 'Try again' },
    { place: right, open: right.getByRole('button', { name: 'Refresh' }), again: 'Try again' },
    { place: test, open: card.getByRole('button', { name: 'Test', exact: true }), again: 'Test again' },
  ]) {
    await machine.serve('another');
    if (place === test) await command(page, 'Remotes');
    await press(page, open);
    const refusal = place.getByText('has changed').last();
    await refusal.waitFor();
    expect(await page.getByRole('button', { name: TRUST }).count()).toBe(0);
    await machine.serve('nas');
    await press(page, place.getByRole('button', { name: again }));
    await refusal.waitFor({ state: 'detached' });
    await (place === test ? test.getByText(PASSED) : right.getByRole('row', { name: 'there.txt' })).waitFor();
    await expect.poll(holdsFocus(place), WAIT).toBe(true);
  }
  await page.keyboard.press('Escape');
  await test.waitFor({ state: 'detached' });
  await giveAnotherToken(page, right, machine.host);
}

/** Serves a folder at one port. Its machine is the one of the certificate with this name. */
async function serveMachine(folder: string) {
  const offered = join(folder, 'offered');
  mkdirSync(offered);
  writeFileSync(join(offered, 'there.txt'), 'content');
  let server: PeerServer = await serveForTest(offered);
  const { port } = server.address;
  return {
    host: `127.0.0.1:${port}`,
    /** @returns The fingerprint of the certificate. */
    async serve(name: string): Promise<string> {
      const tls = await ownCertificate(join(folder, name), 'there');
      await server.close();
      server = await serveForTest(offered, { tls, port });
      return fingerprintOf(tls.cert);
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Writes the form of a remote, trusts the machine at its test, and adds it. */
async function addMachine(page: Page, host: string, fingerprint: string): Promise<void> {
  await command(page, 'Add a remote');
  const form = page.getByRole('dialog', { name: 'Add a remote' });
  await typeInto(page, form.getByLabel('Name'), 'nas');
  await tabTo(page, form.getByRole('radio', { name: 'Bucket' }));
  await pressUntil(page, 'ArrowRight', form.getByRole('radio', { name: 'Another machine' }));
  await page.keyboard.press('Space');
  await typeInto(page, form.getByRole('textbox', { name: 'Machine' }), host);
  await typeInto(page, form.getByLabel('Token', { exact: true }), TEST_TOKEN);
  await press(page, form.getByRole('button', { name: 'Test', exact: true }));
  await form.getByText(`This computer does not know ${host}`).waitFor();
  await press(page, form.getByRole('button', { name: TRUST }));
  const asked = page.getByRole('dialog', { name: `Trust ${host}?` });
  expect(await asked.locator('.fingerprint').textContent()).toBe(fingerprint);
  await press(page, asked.getByRole('button', { name: TRUST }));
  await form.getByText(PASSED).waitFor();
  await expect.poll(holdsFocus(form), WAIT).toBe(true);
  await press(page, form.getByRole('button', { name: 'Add', exact: true }));
  await page.getByRole('heading', { name: 'nas' }).waitFor();
}

/** Settings removes the token, and the pane of the remote asks for it. */
async function giveAnotherToken(page: Page, pane: Locator, host: string): Promise<void> {
  const words = `Token of ${host}`;
  await command(page, 'Settings');
  await press(page, page.getByRole('button', { name: `Remove: ${words}` }));
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }));
  await page.getByText(words, { exact: true }).waitFor({ state: 'detached' });
  await expect.poll(holdsFocus(page.locator('#screen')), WAIT).toBe(true);
  await command(page, 'Browse');
  for (const { button, token } of [
    { button: 'Enter its token', token: 'of-another-machine' },
    { button: 'Enter another token', token: TEST_TOKEN },
  ]) {
    await press(page, pane.getByRole('button', { name: button }));
    const field = page.getByRole('dialog', { name: words }).getByLabel('Token', { exact: true });
    await typeInto(page, field, token);
    await page.keyboard.press('Enter');
  }
  await pane.getByRole('row', { name: 'there.txt' }).waitFor();
  await expect.poll(holdsFocus(pane), WAIT).toBe(true);
}
