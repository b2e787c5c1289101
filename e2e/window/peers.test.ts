/**
 * Other machines in the window: the first contact, which token goes where, and how trust and tokens are
 * revoked.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { fingerprintOf } from '../../engine/peer/peer-certificate.ts';
import { ownCertificate } from '../../engine/peer/peer-own-certificate.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { askEngine } from './ask-engine.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, type OpenWindow, openWindow } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const WAIT = { timeout: 120_000, interval: 200 };
const UNKNOWN = 'This computer does not know';
const TRUST = 'Trust this machine';
const FORM = 'Add a remote';

it('every error on a screen gets its words from `renderer/failures`', () => {
  const folder = fileURLToPath(new URL('../../renderer/', import.meta.url));
  const readers = globSync('{shell,screens}/**/*.tsx', { cwd: folder }).filter((file) =>
    /error\??\.message/i.test(readFileSync(join(folder, file), 'utf8')),
  );
  expect(readers).toEqual([]);
});

describe.skipIf(!findChromium())('Another machine', () => {
  let browser: Browser;
  let folder: string;
  let server: PeerServer;
  let fingerprint: string;
  /** The number of requests that came after a TLS handshake. */
  let requests: number;
  let host: string;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const serve = async (name: string, port = 0) => {
    const tls = await ownCertificate(join(folder, name), 'there');
    fingerprint = fingerprintOf(tls.cert);
    const onRequest = () => {
      requests += 1;
    };
    server = await serveForTest(join(folder, 'offered'), { tls, port, onRequest });
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dray-window-'));
    mkdirSync(join(folder, 'offered'));
    writeFileSync(join(folder, 'offered/there.txt'), 'content');
    requests = 0;
    await serve('certificate');
    host = `127.0.0.1:${server.address.port}`;
  });
  afterEach(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const kept = (name: 'known-peers.json' | 'peer-tokens.json'): unknown => {
    const file = join(folder, 'home/.config/dray', name);
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  };
  const open = (path: string): Promise<OpenWindow> => openWindow(browser, { folder, path });

  it('that a link names gets no request before the user has entered a token and trusts it', async () => {
    await using window = await open(`/#/browse?place=${encodeURIComponent(`dray://${host}`)}`);
    const { page } = window;
    const pane = page.getByRole('region', { name: /^Right pane/ });
    await pane.getByText(`This computer has no token for ${host}`).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const enter = pane.getByRole('button', { name: 'Enter its token' });
    await opensAndCloses(page, { button: enter, dialog: `Token of ${host}` });
    await enter.press('Enter');
    const field = page.getByRole('dialog').getByLabel('Token', { exact: true });
    await expect.poll(() => isFocused(field), WAIT).toBe(true);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.type('two words');
    await page.keyboard.press('Enter');
    await page.getByText('is not a token').waitFor();
    await field.fill('of-an-earlier-run');
    await field.press('Enter');

    await pane.getByText(`${UNKNOWN} ${host}`).waitFor();
    expect((await pane.locator('.fingerprint').textContent())?.trim()).toBe(fingerprint);
    expect(await pane.innerText()).not.toContain('--trust');
    expect(kept('peer-tokens.json')).toEqual({ tokens: { [`dray://${host}`]: 'of-an-earlier-run' } });
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const trust = pane.getByRole('button', { name: TRUST });
    await opensAndCloses(page, { button: trust, dialog: `Trust ${host}?` });
    expect(requests).toBe(0);
    expect(kept('known-peers.json')).toBeUndefined();
    await trust.press('Enter');
    const dialog = page.getByRole('dialog', { name: `Trust ${host}?` });
    expect(await dialog.locator('.fingerprint').textContent()).toBe(fingerprint);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: TRUST }).press('Enter');
    await pane.getByText(`${host} refused the token`).waitFor();
    await pane.getByRole('button', { name: 'Enter another token' }).press('Enter');
    await field.fill(TEST_TOKEN);
    await field.press('Enter');
    await pane.getByText('there.txt').waitFor();
    expect(kept('peer-tokens.json')).toEqual({ tokens: { [`dray://${host}`]: TEST_TOKEN } });
    expect(kept('known-peers.json')).toEqual({ peers: { [host]: fingerprint } });
    await expect.poll(() => pane.evaluate((one) => one.contains(document.activeElement)), WAIT).toBe(true);
    expect(await page.content()).not.toContain(TEST_TOKEN);

    // Another server answers in its place, and no button leads past that.
    const { port } = server.address;
    await server.close();
    await serve('another', port);
    const before = requests;
    await pane.getByRole('button', { name: 'Refresh' }).click();
    await pane.getByText('has changed').waitFor();
    expect(await page.getByRole('button', { name: TRUST }).count()).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(requests).toBe(before);
    expect(window.complaints).toEqual([]);
  });

  longIt('is added by a form that keeps a token for it alone, until Settings removes it', async () => {
    const other = await recordRequests();
    await using window = await open('/#/remotes?add=yes');
    const { page } = window;
    const form = page.getByRole('dialog', { name: FORM });
    await form.getByText('Another machine', { exact: true }).click();
    await form.getByLabel('Name').fill('nas');
    await form.getByLabel('Machine').fill(host);
    await form.getByText(`Saved on this computer, and sent only to ${host}.`).waitFor();
    await form.getByLabel('Token', { exact: true }).fill(TEST_TOKEN);
    await form.getByRole('button', { name: 'Test', exact: true }).click();
    await form.getByRole('alert').getByText(`${UNKNOWN} ${host}`).waitFor();
    expect(await form.innerText()).not.toContain('--trust');
    expect(requests).toBe(0);
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const trust = form.getByRole('button', { name: TRUST });
    await opensAndCloses(page, { button: trust, dialog: `Trust ${host}?` });
    await confirmTrust(page, trust, host);
    await form.getByRole('status').filter({ hasText: 'supports everything that Dray needs' }).waitFor();
    await expect.poll(() => form.evaluate((one) => one.contains(document.activeElement)), WAIT).toBe(true);
    // The test uses the typed token; only adding the remote stores it.
    expect(kept('peer-tokens.json')).toBeUndefined();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'nas' }).waitFor();
    expect(kept('peer-tokens.json')).toEqual({ tokens: { [`dray://${host}`]: TEST_TOKEN } });
    await page.getByRole('button', { name: 'Count its contents' }).click();
    await page.getByText('1 object').waitFor();

    const place = `dray://127.0.0.1:${other.port}?tls=off`;
    await page.goto(`${window.origin}/#/browse?place=${encodeURIComponent(place)}`);
    const pane = page.getByRole('region', { name: /^Right pane/ });
    await pane.getByText(`This computer has no token for 127.0.0.1:${other.port}`).waitFor();
    expect(other.authorizations).toEqual([]);
    await pane.getByRole('button', { name: 'Enter its token' }).click();
    await page.getByText('is not encrypted').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('dialog').getByLabel('Token', { exact: true }).fill('of-the-other');
    await page.keyboard.press('Enter');
    await pane.getByText('is not a Dray peer').waitFor();
    expect(new Set(other.authorizations)).toEqual(new Set(['Bearer of-the-other']));

    await page.goto(`${window.origin}/#/remotes?add=yes`);
    await form.getByText('Another machine', { exact: true }).click();
    await form.getByLabel('Machine').fill(host);
    await form.getByText(`This computer already has a token for ${host}.`).waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${window.origin}/#/settings`);
    await expect.poll(() => page.locator('.credential').count(), WAIT).toBe(2);
    await page.getByRole('button', { name: `Remove: Token of ${host}` }).click();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText(`Token of ${host}`, { exact: true }).waitFor({ state: 'detached' });
    expect(kept('peer-tokens.json')).toEqual({ tokens: { [place]: 'of-the-other' } });
    expect(await page.content()).not.toContain('of-the-other');
    expect(window.complaints).toEqual([]);
  });

  longIt('holds a repository that can be cloned once the user trusts it', async () => {
    const work = join(folder, 'work');
    mkdirSync(work);
    writeFileSync(join(work, 'a.txt'), 'first');
    const store = join(folder, 'offered/repository');
    const environment = { HOME: join(folder, 'elsewhere'), DRAY_AUTHOR: 'tester' };
    for (const command of [['init', '--remote', store], ['push']])
      expect(await runCli(command, { cwd: work, environment })).toMatchObject({ exitCode: 0 });
    await using window = await open('/#/home');
    const { page } = window;
    const root = join(folder, 'cloned');
    await page.getByText('Someone has pushed them already').click();
    await page.getByLabel('Folder to download them to').fill(root);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Create it' }).click();
    await page.getByText('An address', { exact: true }).click();
    await page.getByRole('textbox', { name: 'URL' }).fill(`dray://${host}/repository`);
    await page.getByRole('button', { name: 'Download the files' }).click();
    await page.getByRole('button', { name: 'Enter its token' }).click();
    await page.getByRole('dialog').getByLabel('Token', { exact: true }).fill(TEST_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(`${UNKNOWN} ${host}`).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(requests).toBe(0);
    await confirmTrust(page, page.getByRole('button', { name: TRUST }), host);
    await page.getByRole('heading', { name: 'Transfers', level: 1 }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor();
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('first');
    expect(window.complaints).toEqual([]);
  });

  longIt('that a transfer contacts first can be trusted there, and the transfer runs again', async () => {
    writeFileSync(join(folder, 'file.txt'), 'sent');
    await using window = await open('/#/transfers');
    const { page } = window;
    await askEngine(page, 'peers.login', { peer: host, token: TEST_TOKEN });
    const order = { source: join(folder, 'file.txt'), destination: `dray://${host}/file.txt` };
    await askEngine(page, 'transfers.start', { kind: 'copy', ...order });
    await page.getByRole('alert').getByText(`${UNKNOWN} ${host}`).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    expect(requests).toBe(0);
    await confirmTrust(page, page.getByRole('button', { name: TRUST }), host);
    await page.getByText('Done', { exact: true }).waitFor();
    expect(readFileSync(join(folder, 'offered/file.txt'), 'utf8')).toBe('sent');
    expect(window.complaints).toEqual([]);
  });
});

/** Checks that the dialog takes the focus and that Escape returns it to the button. */
async function opensAndCloses(
  page: Page,
  { button, dialog }: { readonly button: Locator; readonly dialog: string },
): Promise<void> {
  await button.press('Enter');
  const opened = page.getByRole('dialog', { name: dialog });
  await expect.poll(() => opened.evaluate((one) => one.contains(document.activeElement)), WAIT).toBe(true);
  await page.keyboard.press('Escape');
  await opened.waitFor({ state: 'detached' });
  await expect.poll(() => isFocused(button), WAIT).toBe(true);
}

async function confirmTrust(page: Page, button: Locator, host: string): Promise<void> {
  await button.click();
  await page
    .getByRole('dialog', { name: `Trust ${host}?` })
    .getByRole('button', { name: TRUST })
    .click();
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}

/** Starts a server that is not a peer and records the tokens that it gets. */
async function recordRequests(): Promise<{
  readonly port: number;
  readonly authorizations: (string | undefined)[];
}> {
  const authorizations: (string | undefined)[] = [];
  const other = createServer(({ headers }, response) => {
    authorizations.push(headers.authorization);
    response.end('hello');
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  other.listen(0, '127.0.0.1', resolve);
  await promise;
  onTestFinished(() => {
    other.close();
    other.closeAllConnections();
  });
  return { port: (other.address() as AddressInfo).port, authorizations };
}
