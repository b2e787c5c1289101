/** Access to the window, and the rights of its page: a real Chromium and the real command. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import NodeSocket from 'ws';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { writeLinkFile } from '../../app/web/link-file.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { findChromium } from './find-chromium.ts';
import { launchBrowser, type OpenWindow, openWindow, startUi } from './open-window.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';

const chromium = findChromium();
if (!chromium) console.error('No Chromium was found: the tests of the window are skipped.');

describe.skipIf(!chromium)('The window in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('opens by its link, drops the token from the address, and survives a reload', async () => {
    await using window = await openWindow(browser);
    const { complaints, context, origin, page } = window;
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('navigation').first().waitFor();
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
    const cookies = await context.cookies(origin);
    expect(cookies).toEqual([
      expect.objectContaining({ httpOnly: true, sameSite: 'Strict', expires: -1, path: '/' }),
    ]);
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(complaints).toEqual([]);
  });

  longIt('opens on the workspace of its working directory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-window-'));
    try {
      const root = join(folder, "quotes ' & <b>");
      await runCli(['init', '--remote', join(folder, 'store'), root]);
      await using window = await openWindow(browser, { folder, directory: root });
      await window.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await window.page.getByText(root).first().waitFor();
      expect(window.complaints).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('opens in only one browser per link', async () => {
    await using ui = await startUi();
    const pages = await Promise.all([browser.newPage(), browser.newPage()]);
    try {
      expect((await pages[0]!.goto(ui.link))?.status()).toBe(200);
      expect((await pages[1]!.goto(ui.link))?.status()).toBe(403);
      expect(await pages[1]!.textContent('body')).toContain('already used');
      expect((await pages[1]!.goto(ui.origin))?.status()).toBe(403);
    } finally {
      await Promise.all(pages.map((page) => page.context().close()));
    }
  });

  longIt('opens by a local page on its workspace, without a token in the address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-window-'));
    const root = join(folder, "quotes ' & <b>");
    await runCli(['init', '--remote', join(folder, 'store'), root]);
    const page = await browser.newPage();
    try {
      await using ui = await startUi({ folder, directory: root });
      using file = writeLinkFile(ui.link, folder);
      await page.goto(pathToFileURL(file.path).href);
      await page.getByRole('navigation').first().waitFor();
      expect(page.url()).toBe(`${ui.origin}/#/home?${new URLSearchParams({ workspace: root })}`);
    } finally {
      await page.context().close();
      rmSync(folder, { recursive: true });
    }
  });

  longIt("opens by a link on another site's page", async () => {
    await using ui = await startUi();
    await using site = await startOtherSite(ui.link);
    const page = await browser.newPage();
    try {
      await page.goto(site.origin);
      await page.click('a');
      await page.getByRole('navigation').first().waitFor();
      expect(page.url()).toMatch(new RegExp(`^${ui.origin}/(?:#.*)?$`));
    } finally {
      await page.context().close();
    }
  });

  longIt('opens through a tunnel from another port, beside a window of the same port', async () => {
    await using ui = await startUi();
    await using tunnel = await startTunnel(Number(new URL(ui.origin).port));
    await using here = await openWindow(browser);
    const page = await here.context.newPage();
    await page.goto(ui.link.replace(ui.origin, tunnel.origin));
    await page.getByRole('navigation').first().waitFor();
    await page.getByText('Choose a folder').first().waitFor();
    await here.page.reload();
    await here.page.getByRole('navigation').first().waitFor();
    expect(new URL(page.url()).origin).toBe(tunnel.origin);
  });

  longIt('says when its engine is away or was restarted, and works again by a new link', async () => {
    const first = await startUi();
    const port = Number(new URL(first.origin).port);
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(first.link);
      await page.getByRole('navigation').first().waitFor();
      await first[Symbol.asyncDispose]();
      await page.getByText("Dray's engine does not answer.").waitFor();
      await using second = await startUi({ port });
      await page.getByText('Dray was restarted').waitFor();
      expect(await findViolationsInBothThemes(page)).toEqual([]);
      const other = await context.newPage();
      await other.goto(second.link);
      await page.getByText('Dray was restarted').waitFor({ state: 'detached' });
    } finally {
      await context.close();
      await first[Symbol.asyncDispose]();
    }
  });

  describe('that is open', () => {
    let window: OpenWindow;
    beforeAll(async () => {
      window = await openWindow(browser);
    });
    afterAll(() => window?.[Symbol.asyncDispose]());

    it('runs no foreign script and sends no request elsewhere', async () => {
      const { complaints, page } = window;
      await page.getByRole('navigation').first().waitFor();
      const reached = await page.evaluate(async () => {
        const script = document.createElement('script');
        script.textContent = 'globalThis.wasRun = true';
        document.head.append(script);
        const fetched = await fetch('http://127.0.0.1:9/').then(
          () => 'yes',
          () => 'no',
        );
        return { fetched, wasRun: 'wasRun' in globalThis };
      });
      expect(reached).toEqual({ fetched: 'no', wasRun: false });
      const refused = complaints.filter((text) => text.includes('Content Security Policy'));
      expect(refused.length).toBeGreaterThanOrEqual(2);
    });

    it("is closed to another site's page, even in the browser with the cookie", async () => {
      await using site = await startOtherSite(window.origin);
      const page = await window.context.newPage();
      await page.goto(site.origin);
      const found = await page.evaluate(
        async ({ folder, origin }) => {
          const socket = new WebSocket(`${origin.replace('http', 'ws')}/host`);
          const joined = await new Promise((resolve) => {
            socket.onopen = () => resolve('open');
            socket.onclose = () => resolve('refused');
          });
          const read = await fetch(origin, { credentials: 'include' }).then(
            () => 'read',
            () => 'refused',
          );
          const posted = await fetch(`${origin}/drop?place=${folder}&path=evil.txt`, {
            method: 'POST',
            body: 'x',
            mode: 'no-cors',
            credentials: 'include',
          }).then(
            ({ status }) => status,
            () => 'refused',
          );
          const frame = document.createElement('iframe');
          frame.src = origin;
          const framed = new Promise((resolve) => {
            frame.onload = () => resolve(frame.contentDocument === null ? 'closed' : 'open');
          });
          document.body.append(frame);
          return { joined, read, posted, framed: await framed };
        },
        { folder: window.folder, origin: window.origin },
      );
      expect(found).toEqual({ joined: 'refused', read: 'refused', posted: 'refused', framed: 'closed' });
      expect(existsSync(join(window.folder, 'evil.txt'))).toBe(false);
      expect(page.frames().some((frame) => frame.url().startsWith(window.origin))).toBe(false);
      // A click of the user on its link leads there.
      await page.click('a');
      await page.waitForURL(`${window.origin}/**`);
      await page.getByRole('navigation').first().waitFor();
    });

    it("stays closed to another user's server that received its cookie", async () => {
      await using thief = await startThief();
      const page = await window.context.newPage();
      await page.goto(thief.origin);
      const cookie = thief.cookies().find((one) => one.includes('dray-window-'));
      expect(cookie).toBeDefined();
      const headers = { cookie: cookie ?? '', origin: window.origin };
      const drop = `${window.origin}/drop?${new URLSearchParams({ place: window.folder, path: 'evil.txt' })}`;
      const asPage = [{}, { 'dray-key': 'x'.repeat(43) }];
      for (const more of asPage) {
        const posted = await fetch(drop, { method: 'POST', headers: { ...headers, ...more }, body: 'x' });
        expect(posted.status).toBe(403);
        expect(await posted.text()).not.toContain('key=');
      }
      for (const protocols of [[], ['dray'], ['dray', `dray-key.${'x'.repeat(43)}`]])
        expect(await joinSocket(`${window.origin.replace('http', 'ws')}/host`, protocols, headers)).toBe(403);
      expect(existsSync(join(window.folder, 'evil.txt'))).toBe(false);
      // The other server's page cannot read what the window's tabs exchange.
      const found = await page.evaluate(
        () =>
          new Promise<unknown>((resolve) => {
            const channel = new BroadcastChannel('dray-key');
            channel.onmessage = ({ data }) => resolve(data);
            channel.postMessage({});
            setTimeout(() => resolve(sessionStorage.getItem('dray-key')), 2_000);
          }),
      );
      expect(found).toBe(null);
    });
  });

  longIt('opens another tab by the key of an open one, and none by the cookie alone', async () => {
    await using window = await openWindow(browser);
    const { context, origin, page } = window;
    expect(page.url()).not.toContain('key=');
    const second = await context.newPage();
    await second.goto(origin);
    await second.getByText('Choose a folder').first().waitFor();
    for (const open of [page, second]) await open.goto('about:blank');
    const third = await context.newPage();
    await third.goto(origin);
    await third.getByText('this tab was not opened by a link').waitFor();
    expect(await findViolationsInBothThemes(third)).toEqual([]);
    // The tab that had the key still has it and passes it on.
    await page.goto(origin);
    await third.getByText('this tab was not opened by a link').waitFor({ state: 'detached' });
    await third.getByText('Choose a folder').first().waitFor();
  });

  longIt('has no accessibility violation by axe on its first screen', async () => {
    await using window = await openWindow(browser);
    await window.page.getByRole('navigation').first().waitFor();
    expect(await findViolationsInBothThemes(window.page)).toEqual([]);
  });
});

/** Forwards bytes from a port of its own to another one, as `ssh -L` does. */
async function startTunnel(port: number) {
  const server = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

/**
 * Another user's server on this machine: the same site on another port. It records the cookies that it gets.
 */
async function startThief() {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Thief</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cookies: () => cookies,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Opens a socket with chosen headers, unlike a browser. Returns 101, or the status of the refusal. */
function joinSocket(url: string, protocols: string[], headers: Record<string, string>): Promise<number> {
  const socket = new NodeSocket(url, protocols, { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.once('error', reject);
  });
}

async function startOtherSite(target: string) {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Other</title><a href="${target}">in</a>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    // Another site than 127.0.0.1. Browsers resolve it to loopback.
    origin: `http://other.localhost:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
