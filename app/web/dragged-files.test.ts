/** Files that are dragged out of the browser: who gets them, how often, and as what. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { createDraggedFiles } from './dragged-files.ts';
import { type FakePort, startTestWindow, type TestWindow } from './window-server.fixture.ts';

const WAIT = { timeout: 120_000 };
const TOKEN = 'a'.repeat(43);
const PLACE = 's3://bucket/coast?ref=main&path=a.html';

let sandbox: Sandbox;
let window: TestWindow;
let cookie: string;
beforeEach(async () => {
  sandbox = createSandbox();
  window = await startTestWindow(sandbox);
  cookie = await window.open();
});
afterEach(async () => {
  await window?.[Symbol.asyncDispose]();
  sandbox?.[Symbol.dispose]();
});

const offer = (headers: Record<string, string> = {}, token = TOKEN, place = PLACE) =>
  window.ask(`/drag?${new URLSearchParams({ token, place })}`, {
    method: 'POST',
    headers: { cookie, origin: window.origin, 'dray-key': window.key, ...headers },
  });
const download = (headers: Record<string, string> = { cookie }, token = TOKEN, method = 'GET') =>
  window.ask(`/dragged/${token}/${encodeURIComponent("<a> 'ä'.html")}`, { method, headers });

type Asked = { readonly do: string; readonly id: number; readonly name: string; readonly input: unknown };

/** Answers the requests of the newest port, in order. */
async function answer(...answers: readonly object[]): Promise<FakePort> {
  await expect.poll(() => window.ports.length, WAIT).toBeGreaterThan(0);
  const port = window.ports.at(-1)!;
  for (const [at, given] of answers.entries()) {
    await expect.poll(() => port.received.length, WAIT).toBe(at + 1);
    port.send({ id: (port.received[at] as Asked).id, ...given });
  }
  return port;
}
const is = (answer: object) => ({ is: 'answer', answer });
const bytes = (text: string) => is({ base64: Buffer.from(text).toString('base64') });
const failed = { is: 'failed', error: { code: 'notFound', message: 'It is gone.', retry: 'no', data: {} } };

describe('a file that is dragged out', () => {
  it('is sent once, as a download that no browser shows as a page', async () => {
    expect((await offer()).status).toBe(204);
    const downloading = download();
    const port = await answer(is({}), bytes('<script>'), bytes('alert(1)</script>'), is({}));
    const { body, headers, status } = await downloading;
    expect([status, body]).toEqual([200, '<script>alert(1)</script>']);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''%3Ca%3E%20%27%C3%A4%27.html",
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'cache-control': 'no-store',
    });
    expect(port.received).toMatchObject([
      { name: 'drags.open', input: { place: PLACE } },
      { name: 'drags.next' },
      { name: 'drags.next' },
      { name: 'drags.next' },
    ]);
    await expect.poll(port.isClosed, WAIT).toBe(true);
    expect((await download()).status).toBe(404);
  });

  it('is refused without the cookie, and a HEAD request does not use it up', async () => {
    await offer();
    expect((await download({})).status).toBe(403);
    expect((await download({ cookie, host: 'evil.example' })).status).toBe(421);
    expect((await download({ cookie }, TOKEN, 'HEAD')).status).toBe(404);
    expect(window.ports).toEqual([]);
    const downloading = download();
    await answer(is({}), is({}));
    expect((await downloading).status).toBe(200);
  });

  it('is offered only by the own page, with its key and a token that cannot be guessed', async () => {
    for (const headers of [
      { 'dray-key': '' },
      { origin: 'https://example.com' },
      { 'dray-key': 'wrong' },
      { cookie: '' },
    ])
      expect((await offer(headers)).status, JSON.stringify(headers)).toBe(403);
    for (const token of ['', 'short', `${'a'.repeat(42)}/`, 'a'.repeat(44)])
      expect((await offer({}, token)).status).toBe(400);
    expect((await offer({}, TOKEN, '')).status).toBe(400);
    expect((await download()).status).toBe(404);
    await offer();
    // Another file never takes the place of the one that was offered.
    expect((await offer({}, TOKEN, '/etc/passwd')).status).toBe(400);
  });

  it('fails as a whole: with its error before the first byte, and broken off after it', async () => {
    await offer();
    const early = download();
    await answer(is({}), failed);
    expect(await early).toMatchObject({ status: 404, body: expect.stringContaining('It is gone.') });
    await offer();
    const late = download();
    late.catch(() => {});
    await expect.poll(() => window.ports.length, WAIT).toBe(2);
    await answer(is({}), bytes('a part'), failed);
    await expect(late).rejects.toThrow(/aborted|hang up/);
  });
});

describe('an offer', () => {
  it('ends after two minutes, and with the 64th newer one', () => {
    let nowMs = 0;
    const files = createDraggedFiles({ ...systemClock, monotonicMs: () => nowMs });
    const tokenOf = (at: number) => String(at).padStart(43, '0');
    files.offer(tokenOf(0), '/a');
    nowMs = 120_001;
    expect(files.take(tokenOf(0))).toBeUndefined();
    for (let at = 1; at <= 65; at += 1) files.offer(tokenOf(at), `/${at}`);
    expect(files.take(tokenOf(1))).toBeUndefined();
    expect([files.take(tokenOf(2)), files.take(tokenOf(2))]).toEqual(['/2', undefined]);
  });
});
