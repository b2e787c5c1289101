/** Tests the server through real sockets: who may enter, and what it sends. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { keyOf, PAGE, pathOf, startTestWindow, type TestWindow } from './window-server.fixture.ts';

/** Enough even for a busy machine. */
const WAIT = { timeout: 120_000 };

let sandbox: Sandbox;
let window: TestWindow;
beforeEach(async () => {
  sandbox = createSandbox();
  window = await startTestWindow(sandbox);
});
afterEach(async () => {
  await window?.[Symbol.asyncDispose]();
  sandbox?.[Symbol.dispose]();
});

describe('the link', () => {
  const typed = { 'sec-fetch-site': 'none' };

  it('gives the cookie to one browser and then opens nothing more', async () => {
    const link = pathOf(window.server.newLink());
    const first = await window.ask(link, { headers: typed });
    expect(first).toMatchObject({
      status: 303,
      headers: { location: `/#key=${window.key}`, 'cache-control': 'no-store' },
    });
    const cookie = String(first.headers['set-cookie']);
    expect(cookie).toMatch(/^dray-window-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const second = await window.ask(link);
    expect(second).toMatchObject({ status: 403, body: expect.stringContaining('already used') });
    expect(second.headers['set-cookie']).toBeUndefined();
    expect(keyOf(second)).toBe('');
    expect(await window.ask('/', { headers: { cookie } })).toMatchObject({ status: 200, body: PAGE });
  });

  it('leads a browser that already opened it to the window', async () => {
    const link = pathOf(window.server.newLink());
    const cookie = String((await window.ask(link)).headers['set-cookie']).split(';')[0]!;
    const again = await window.ask(link, { headers: { cookie, ...typed } });
    expect(again).toMatchObject({ status: 303, headers: { location: '/' } });
  });

  it('is not used up by a HEAD request, a prefetch, or another link', async () => {
    const link = pathOf(window.server.newLink());
    expect(await window.ask(link, { method: 'HEAD' })).toMatchObject({ status: 403 });
    for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip'])
      expect(await window.ask(link, { headers: { 'sec-purpose': purpose } })).toMatchObject({ status: 503 });
    const further = pathOf(window.server.newLink());
    expect(await window.ask(further, { headers: typed })).toMatchObject({ status: 303 });
    expect(await window.ask(link, { headers: typed })).toMatchObject({ status: 303 });
  });

  it('is void after sixteen newer links', async () => {
    const oldest = pathOf(window.server.newLink());
    const links = Array.from({ length: 16 }, () => pathOf(window.server.newLink()));
    expect(await window.ask(oldest)).toMatchObject({ status: 403 });
    expect(await window.ask(links[0]!, { headers: typed })).toMatchObject({ status: 303 });
  });

  it('with a wrong token opens nothing and leaves the right link valid', async () => {
    const link = pathOf(window.server.newLink());
    expect(await window.ask('/?t=wrong')).toMatchObject({ status: 403 });
    expect(await window.ask(link, { headers: typed })).toMatchObject({ status: 303 });
  });

  // A redirect from another page's link brings no strict cookie, so the window would be refused.
  it.each(['cross-site', 'same-site', undefined])(
    'clicked on another page (%s) leads through our own page, so that the cookie is sent',
    async (site) => {
      const headers: Record<string, string> = site === undefined ? {} : { 'sec-fetch-site': site };
      const answer = await window.ask(pathOf(window.server.newLink()), { headers });
      expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('url=/?again') });
      const cookie = String(answer.headers['set-cookie']).split(';')[0]!;
      const again = await window.ask('/?again', { headers: { cookie } });
      expect(again).toMatchObject({ status: 303, headers: { location: '/' } });
    },
  );

  it('keeps its place in the window through that page, as the file for the browser does', async () => {
    const startsAt = `#/home?${new URLSearchParams({ workspace: '/data/a "b" & c' })}`;
    await using other = await startTestWindow(sandbox, { startsAt });
    const link = other.server.newLink();
    expect(new URL(link).hash).toBe(startsAt);
    const answer = await other.ask(pathOf(link), { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(answer.body).toContain(`content="0;url=/?again#key=${other.key}${startsAt.slice(1)}"`);
    const plain = await other.ask('/', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(plain.body).toContain('content="0;url=/?again"');
  });
});

describe('the server', () => {
  it.each(['/', '/index.html', '/assets/main-abc.js', '/host', '/nothing'])(
    'refuses a request without the cookie: %s',
    async (path) => {
      expect(await window.ask(path)).toMatchObject({ status: 403 });
      const cookie = `dray-window-${window.server.port}=guess`;
      expect(await window.ask(path, { headers: { cookie } })).toMatchObject({ status: 403 });
    },
  );

  it('reloads once, with its cookie, a browser that comes from another page', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect(await window.ask('/', { headers })).toMatchObject({
      status: 200,
      body: expect.stringContaining('url=/?again'),
    });
    expect(await window.ask('/?again', { headers })).toMatchObject({ status: 403 });
  });

  it.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil.example',
    '127.0.0.1:PORT@evil.example',
    '127.0.0.2:PORT',
    '[::2]:PORT',
    '[::1',
    '127.0.0.1:',
  ])('refuses the host name "%s"', async (name) => {
    const cookie = await window.open();
    const host = name.replace('PORT', String(window.server.port));
    expect(await window.ask('/', { headers: { cookie, host } })).toMatchObject({ status: 421 });
    expect(await window.ask(pathOf(window.server.newLink()), { headers: { host } })).toMatchObject({
      status: 421,
    });
  });

  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('accepts the loopback name %s', async (name) => {
    const headers = { cookie: await window.open(), host: `${name}:${window.server.port}` };
    expect(await window.ask('/', { headers })).toMatchObject({ status: 200 });
  });

  it('accepts a browser behind a tunnel, whatever port the tunnel has', async () => {
    const far = await window.open();
    const host = 'localhost:9000';
    const opened = await window.ask(pathOf(window.server.newLink()), { headers: { host } });
    const cookie = String(opened.headers['set-cookie']).split(';')[0]!;
    expect(cookie).toMatch(/^dray-window-9000=/);
    expect(await window.ask('/', { headers: { cookie, host } })).toMatchObject({ status: 200 });
    const drop = `/drop?${new URLSearchParams({ place: sandbox.path('place'), path: 'a.txt' })}`;
    const post = (origin: string) =>
      window.ask(drop, {
        method: 'POST',
        headers: { cookie, host, origin, 'dray-key': window.key },
        body: 'x',
      });
    expect(await post('http://localhost:9000')).toMatchObject({ status: 201 });
    // Another page of this machine, and the far end's own port.
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:9000', window.origin])
      expect(await post(origin)).toMatchObject({ status: 403 });
    // Each port has its own cookie, so another tunnel from the same machine does not replace this one.
    expect(await window.ask('/', { headers: { cookie: far, host } })).toMatchObject({ status: 403 });
    const both = `${far}; ${cookie}`;
    expect(await window.ask('/', { headers: { cookie: both, host } })).toMatchObject({ status: 200 });
    expect(await window.ask('/', { headers: { cookie: both } })).toMatchObject({ status: 200 });
  });

  it('accepts a browser that also sends cookies of many other servers of this machine', async () => {
    const others = Array.from({ length: 180 }, (_, at) => `other-${at}=${'x'.repeat(200)}`).join('; ');
    const cookie = `${others}; ${await window.open()}`;
    expect(await window.ask('/', { headers: { cookie } })).toMatchObject({ status: 200 });
  });

  it('sends security headers with every answer', async () => {
    const cookie = await window.open();
    for (const { headers } of [
      await window.ask('/', { headers: { cookie } }),
      await window.ask('/'),
      await window.ask('/nothing', { headers: { cookie } }),
      await window.ask('/', { headers: { host: 'evil.example' } }),
      await window.ask(pathOf(window.server.newLink())),
    ]) {
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('files', () => {
  it('are compressed if the browser accepts it; hashed names are cached for good, the page by its tag', async () => {
    const cookie = await window.open();
    const packed = await window.ask('/assets/main-abc.js', {
      headers: { cookie, 'accept-encoding': 'gzip, deflate, br, zstd' },
    });
    expect(packed).toMatchObject({
      status: 200,
      body: 'packed',
      headers: {
        'content-encoding': 'br',
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'private, max-age=31536000, immutable',
      },
    });
    expect(await window.ask('/assets/main-abc.js', { headers: { cookie } })).toMatchObject({ body: 'plain' });
    const page = await window.ask('/', { headers: { cookie } });
    expect(page.headers['cache-control']).toBe('private, no-cache');
    const etag = String(page.headers.etag);
    const again = await window.ask('/', { headers: { cookie, 'if-none-match': etag } });
    expect(again).toMatchObject({ status: 304, body: '' });
  });

  it.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets',
    '//',
  ])('outside the window do not exist: %s', async (path) => {
    const { body, status } = await window.ask(path, { headers: { cookie: await window.open() } });
    expect({ status, body }).not.toMatchObject({ status: 200 });
    expect(body).not.toContain('secret');
  });

  it('are read-only', async () => {
    const headers = { cookie: await window.open(), origin: window.origin };
    expect(await window.ask('/', { method: 'POST', headers })).toMatchObject({ status: 405 });
    expect(await window.ask('/', { method: 'HEAD', headers })).toMatchObject({ status: 200, body: '' });
  });
});

describe('a dropped file', () => {
  const drop = (path: string, place = sandbox.path('place')) =>
    `/drop?${new URLSearchParams({ place, path })}`;
  const headersOf = async (more: Record<string, string> = {}) => ({
    cookie: await window.open(),
    origin: window.origin,
    'dray-key': window.key,
    ...more,
  });

  it('lands where it was dropped, in folders created for it', async () => {
    const headers = await headersOf();
    const answer = await window.ask(drop('a b/100%?#.txt'), { method: 'POST', headers, body: 'content' });
    expect(answer).toMatchObject({ status: 201, body: '{"bytes":7}' });
    expect(readFileSync(sandbox.path('place/a b/100%?#.txt'), 'utf8')).toBe('content');
    // A file: place is a URL, where these characters would have another meaning.
    const url = `file://${sandbox.path('other')}`;
    expect(await window.ask(drop('50%?#.txt', url), { method: 'POST', headers, body: 'x' })).toMatchObject({
      status: 201,
    });
    expect(readFileSync(sandbox.path('other/50%?#.txt'), 'utf8')).toBe('x');
  });

  it.each(['../out.txt', '/etc/out.txt', 'a/../../out.txt', '', 'a/', '.dray/config', 'a//b'])(
    'cannot leave its place: "%s"',
    async (path) => {
      const answer = await window.ask(drop(path), { method: 'POST', headers: await headersOf(), body: 'x' });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'unsafePath' });
      expect(existsSync(sandbox.path('out.txt'))).toBe(false);
    },
  );

  it('is refused from another origin and without an origin', async () => {
    for (const origin of [
      'http://evil.example',
      'null',
      `http://localhost:${window.server.port}`,
      undefined,
    ]) {
      const headers = await headersOf();
      const { origin: _, ...others } = headers;
      const answer = await window.ask(drop('a.txt'), {
        method: 'POST',
        headers: { ...others, ...(origin ? { origin } : {}) },
        body: 'x',
      });
      expect(answer.status).toBe(403);
    }
    expect(existsSync(sandbox.path('place/a.txt'))).toBe(false);
  });

  it('is refused with only the cookie, which another server of this machine may get', async () => {
    for (const key of [undefined, '', 'x'.repeat(43)]) {
      const { 'dray-key': _, ...cookieAlone } = await headersOf();
      const headers = { ...cookieAlone, ...(key === undefined ? {} : { 'dray-key': key }) };
      const answer = await window.ask(drop('a.txt'), { method: 'POST', headers, body: 'x' });
      expect(answer.status).toBe(403);
    }
    expect(existsSync(sandbox.path('place'))).toBe(false);
  });

  it('that breaks off half-way leaves nothing behind', async () => {
    const headers = await headersOf({ 'content-length': '1000000' });
    sandbox.write('place/here.txt', 'here');
    const asked = request({
      host: '127.0.0.1',
      port: window.server.port,
      path: drop('half.bin'),
      method: 'POST',
      headers,
      agent: false,
    });
    asked.on('error', () => {});
    asked.write(Buffer.alloc(100_000));
    await vi.waitFor(() => expect(readdirSync(sandbox.path('place'))).toHaveLength(2), WAIT);
    asked.destroy();
    await vi.waitFor(() => expect(readdirSync(sandbox.path('place'))).toEqual(['here.txt']), WAIT);
  });
});
