/** Links that lead out of the offered folder, there from the start or created during writes. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutside, type Outside } from '../base/held-folders.fixture.ts';
import { sumOf } from '../remotes/peer/peer-files.ts';
import { noise, startTestPeer, type TestPeer } from './peer.fixture.ts';

let peer: TestPeer;
let outside: Outside;
beforeEach(async () => {
  peer = await startTestPeer();
  outside = createOutside();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
  outside?.[Symbol.dispose]();
});

const json = async (answer: Promise<Response>) => (await answer).json() as Promise<Record<string, never>>;
const content = new TextEncoder().encode('from a client');

/** The folder is now a link that leads out. */
function leadAway(name: string): void {
  rmSync(peer.path(name), { recursive: true });
  symlinkSync(outside.folder, peer.path(name));
}

describe('a folder that becomes a link out', () => {
  beforeEach(() => mkdirSync(peer.path('folder')));

  it('receives no files of a batch, although the server wrote there before', async () => {
    expect(await peer.sendBatch({ path: 'folder/before', content })).toMatchObject({
      results: [{ mtimeMs: 1.6e12 }],
    });
    leadAway('folder');
    const answer = await peer.sendBatch(
      { path: 'folder/new', content },
      { path: 'folder/secret', content },
      { path: 'fine', content },
    );
    const refused = { error: { code: 'unsafePath' } };
    expect(answer).toMatchObject({ results: [refused, refused, { mtimeMs: 1.6e12 }] });
    outside.expectUntouched();
    expect(readFileSync(peer.path('fine'), 'utf8')).toBe('from a client');
  });

  it('receives no links, folders or times, and exposes none', async () => {
    await peer.sendBatch({ path: 'folder/before', content });
    leadAway('folder');
    const made = await peer.sendBatch(
      { kind: 'link', path: 'folder/link', target: 'x' },
      { kind: 'folder', path: 'folder/made' },
    );
    const refused = { error: { code: 'unsafePath' } };
    expect(made).toMatchObject({ results: [refused, refused] });
    const removed = peer.send('POST', 'remove', {
      body: JSON.stringify({ paths: ['folder/secret', 'folder/none/'] }),
    });
    expect(await json(removed)).toMatchObject({ errors: [{ code: 'unsafePath' }, { code: 'unsafePath' }] });
    for (const [route, body] of [
      ['touch', { path: 'folder/secret', mtimeNs: '0', mode: 0o777 }],
      ['keep', { from: 'fine', to: 'folder/kept' }],
      ['uploads', { path: 'folder/new', mtimeNs: '0', rangeBytes: 65_536, sizeBytes: 10 }],
      [
        'deltas',
        {
          side: 'target',
          path: 'folder/secret',
          hash: 'xxh3',
          seed: '1',
          blockBytes: 4_096,
          chunkSize: { min: 4_096, average: 8_192, max: 65_536 },
          isInPlace: true,
          isDryRun: false,
          mtimeNs: '0',
        },
      ],
      ['objects/put?at=folder', { key: 'new' }],
    ] as const) {
      peer.write('fine', 'is there');
      const { status } = await peer.send('POST', route, { body: JSON.stringify(body) });
      expect(status, route).toBeGreaterThanOrEqual(400);
      expect(status, route).toBeLessThan(500);
    }
    outside.expectUntouched();
  });

  it('hides its target from a listing that has already seen the folder', async () => {
    writeFileSync(peer.path('folder/inside'), 'offered');
    // They come between a folder's name and its contents, and fill many pages.
    for (let at = 0; at < 8_000; at += 1) writeFileSync(peer.path(`folder-${at}`), '');
    const answer = await peer.send('GET', 'entries?path=');
    const reader = answer.body!.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value, { stream: true });
    expect(text).not.toContain('"end"');
    leadAway('folder');
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    expect(text).not.toContain('secret');
    const last = JSON.parse(text.trim().split('\n').at(-1)!);
    if (process.platform === 'linux')
      expect(last).toMatchObject({ end: true, problems: [expect.stringContaining('folder/')] });
  });

  it('does not receive an upload that began while it was a folder', async () => {
    const bytes = noise(200_000, 1);
    const begun = await json(
      peer.send('POST', 'uploads', {
        body: JSON.stringify({
          path: 'folder/large',
          mtimeNs: '0',
          rangeBytes: 65_536,
          sizeBytes: bytes.length,
          content: 'c',
        }),
      }),
    );
    const { upload: id } = begun as unknown as { readonly upload: string };
    for (let at = 0; at < bytes.length; at += 65_536) {
      const range = bytes.subarray(at, at + 65_536);
      const put = await peer.send('PUT', `uploads/${id}?at=${at}`, {
        headers: { 'dray-crc64nvme': sumOf(range) },
        body: range,
      });
      expect(put.status).toBe(200);
    }
    renameSync(peer.path('folder'), peer.path('aside'));
    symlinkSync(outside.folder, peer.path('folder'));
    const completed = await peer.send('POST', `uploads/${id}/complete`, {
      body: JSON.stringify({ crc64: sumOf(bytes) }),
    });
    expect(completed.status).toBe(422);
    expect(((await completed.json()) as { error: { code: string } }).error.code).toBe('unsafePath');
    outside.expectUntouched();
  });

  it('leads nothing away while it changes back and forth under many writes', async () => {
    symlinkSync(outside.folder, peer.path('link'));
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        renameSync(peer.path('folder'), peer.path('aside'));
        renameSync(peer.path('link'), peer.path('folder'));
        await new Promise(setImmediate);
        renameSync(peer.path('folder'), peer.path('link'));
        renameSync(peer.path('aside'), peer.path('folder'));
        await new Promise(setImmediate);
      }
    })();
    let written = 0;
    let refused = 0;
    for (let round = 0; round < 60; round += 1) {
      const items = Array.from({ length: 40 }, (_, index) => ({ path: `folder/${round}-${index}`, content }));
      const { results } = await peer.sendBatch(...items);
      written += results.filter(({ error }) => !error).length;
      refused += results.filter(({ error }) => error).length;
    }
    isOver = true;
    await swapping;
    expect(written + refused).toBe(2_400);
    outside.expectUntouched();
    expect(readdirSync(peer.path('folder')).length).toBe(written);
  });
});

describe('a link that leads out', () => {
  it('is stored as it is, listed as a link, and never followed', async () => {
    symlinkSync(outside.folder, peer.path('out'));
    for (const path of ['out/secret', 'out']) {
      expect((await peer.send('GET', `content?path=${path}`)).status, path).toBeGreaterThanOrEqual(400);
      expect(
        (await peer.send('HEAD', `content?path=${path}&sums=crc64nvme`)).status,
        path,
      ).toBeGreaterThanOrEqual(400);
    }
    expect((await peer.send('GET', 'entries?path=out')).status).toBe(404);
    const listed = await (await peer.send('GET', 'entries?path=')).text();
    expect(listed).toContain('["out","l"');
    expect(listed).not.toContain('secret');
    expect(await json(peer.send('POST', 'read', { body: '{"paths":["out/secret"]}' }))).toMatchObject({});
    expect(await json(peer.send('POST', 'remove', { body: '{"paths":["out"]}' }))).toEqual({
      errors: [null],
    });
    expect(existsSync(peer.path('out'))).toBe(false);
    outside.expectUntouched();
  });
});
