/**
 * A client with a token, and a user of the server's machine, try to reach files outside the served folder.
 */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutside, type Outside } from '../base/held-folders.fixture.ts';
import { createPeerObjectStore } from '../remotes/peer/peer-object-store.ts';
import { noise, serveForTest, startTestPeer, type TestPeer } from './peer.fixture.ts';

const UPLOAD_ID = '01234567-89ab-cdef-0123-456789abcdef';
const refused = { code: 'unsafePath' };

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

describe('a forged upload below a folder', () => {
  const folder = `sub/.dray-tmp/uploads/${UPLOAD_ID}`;
  const upload = { key: 'stolen', uploadId: UPLOAD_ID };

  it('is refused as files and links, in any spelling of its folder', async () => {
    for (const own of ['.dray-tmp', '.Dray-TMP', '.dray\u200c-tmp']) {
      const place = folder.replace('.dray-tmp', own);
      const answer = await peer.sendBatch(
        { path: `${place}/upload.json`, content: JSON.stringify({ key: 'stolen' }) },
        { kind: 'link', path: `${place}/00001`, target: outside.secret },
      );
      expect(answer).toMatchObject({ results: [{ error: refused }, { error: refused }] });
    }
    for (const [route, body] of [
      ['uploads', { path: `${folder}/00001`, mtimeNs: '0', rangeBytes: 65_536, sizeBytes: 1 }],
      ['touch', { path: `${folder}/00001`, mtimeNs: '0' }],
      ['keep', { from: 'a', to: `${folder}/00001` }],
    ] as const)
      expect((await peer.send('POST', route, { body: JSON.stringify(body) })).status, route).toBe(422);
    expect(existsSync(peer.path('sub'))).toBe(false);
    const keys = createPeerObjectStore(peer.client, '');
    await expect(keys.put(`${folder}/upload.json`, Buffer.from('x'))).rejects.toMatchObject(refused);
    await expect(
      createPeerObjectStore(peer.client, 'sub/.dray-tmp').list({ prefix: '' }),
    ).rejects.toMatchObject(refused);
  });

  it.each([
    ['a link', symlinkSync],
    ['a hard link', linkSync],
  ])('exposes nothing of a file that its part is %s of, however it was made', async (_, makePart) => {
    peer.write(`${folder}/upload.json`, JSON.stringify({ key: 'stolen' }));
    makePart(outside.secret, peer.path(`${folder}/00001`));
    const store = createPeerObjectStore(peer.client, 'sub');
    expect(await store.multipart!.listParts(upload)).toEqual([]);
    const etags = [lstatSync, (path: string) => lstatSync(realpathSync(path))].map((stat) => {
      const { ino, mtimeMs, size } = stat(peer.path(`${folder}/00001`));
      return `${size.toString(36)}-${(BigInt(Math.floor(mtimeMs)) * 1_000_000n).toString(36)}-${ino.toString(36)}`;
    });
    for (const etag of etags) {
      const part = { number: 1, etag, sizeBytes: 11 };
      await expect(store.multipart!.complete(upload, [part])).rejects.toMatchObject({ code: 'notFound' });
    }
    expect(await store.head('stolen')).toBeUndefined();
  });
});

it('a folder that becomes a link while an upload is joined receives no object', async () => {
  const store = createPeerObjectStore(peer.client, 'sub');
  await store.put('home/present', Buffer.from('x'));
  const key = 'home/authorized_keys';
  const upload = { key, uploadId: await store.multipart!.create(key) };
  const bytes = noise(32 * 1024 * 1024, 1);
  const parts = [
    await store.multipart!.uploadPart(upload, 1, bytes),
    await store.multipart!.uploadPart(upload, 2, bytes),
  ];
  const joining = store.multipart!.complete(upload, parts);
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  joining.then(end, end);
  // The new file exists, and its bytes are on their way.
  while (!hasEnded && readdirSync(peer.path('sub/.dray-tmp/writes')).length === 0) await nextTurn();
  renameSync(peer.path('sub/home'), peer.path('sub/moved'));
  symlinkSync(outside.folder, peer.path('sub/home'));
  await expect(joining).rejects.toMatchObject(refused);
  outside.expectUntouched();
  expect(readdirSync(peer.path('sub/moved'))).toEqual(['present']);
});

describe('a temporary folder that is a link', () => {
  it.each(['.dray-tmp', '.dray-tmp/writes', '.dray-tmp/uploads'])(
    'at %s of a served repository is neither cleaned up nor written through',
    async (place) => {
      for (const area of ['writes', 'uploads']) {
        mkdirSync(join(outside.folder, area));
        writeFileSync(join(outside.folder, area, 'theirs'), 'old');
        utimesSync(join(outside.folder, area, 'theirs'), 1, 1);
      }
      mkdirSync(dirname(peer.path(`sub/${place}`)), { recursive: true });
      symlinkSync(outside.folder, peer.path(`sub/${place}`));
      const store = createPeerObjectStore(peer.client, 'sub');
      await expect(store.multipart!.create('key')).rejects.toMatchObject(refused);
      await expect(store.put('key', Buffer.from('x'))).rejects.toMatchObject(refused);
      expect(readdirSync(outside.folder).sort()).toEqual(['secret', 'uploads', 'writes']);
      for (const area of ['writes', 'uploads'])
        expect(readdirSync(join(outside.folder, area))).toEqual(['theirs']);
    },
  );

  it('of the served folder is neither cleaned up nor written through, present at the start or created later', async () => {
    symlinkSync(outside.folder, peer.path('.dray-tmp'));
    await expect(serveForTest(peer.root)).rejects.toMatchObject(refused);
    const dead = join(outside.folder, 'dray-00000000-1-000000000000-0.0');
    writeFileSync(dead, 'old');
    utimesSync(dead, 1, 1);
    expect(JSON.stringify(await peer.sendBatch({ path: 'a', content: 'x' }))).toContain('unsafePath');
    const upload = { path: 'a', mtimeNs: '0', rangeBytes: 65_536, sizeBytes: 10 };
    expect((await peer.send('POST', 'uploads', { body: JSON.stringify(upload) })).status).toBe(422);
    expect(readdirSync(outside.folder).sort()).toEqual(['dray-00000000-1-000000000000-0.0', 'secret']);
    expect(existsSync(peer.path('a'))).toBe(false);
  });

  it('that replaces one in use leads no file outside', async () => {
    await peer.sendBatch({ path: 'before', content: 'x' });
    renameSync(peer.path('.dray-tmp'), peer.path('moved'));
    symlinkSync(outside.folder, peer.path('.dray-tmp'));
    expect(await peer.sendBatch({ path: 'before', content: 'y' })).toMatchObject({
      results: [{ mtimeMs: 1.6e12 }],
    });
    expect(readFileSync(peer.path('before'), 'utf8')).toBe('y');
    outside.expectUntouched();
  });
});

it('a folder that was listed as a repository and becomes a link is no longer listed', async () => {
  peer.write('b/mine', 'x');
  const list = () => peer.send('POST', 'objects/list?at=b', { body: JSON.stringify({ prefix: '' }) });
  expect(await (await list()).text()).toContain('mine');
  rmSync(peer.path('b'), { recursive: true });
  symlinkSync(outside.folder, peer.path('b'));
  const answer = await list();
  expect(answer.status).toBe(422);
  expect(await answer.text()).not.toContain('secret');
});

it('a served folder that becomes a link shows nothing, and is served again when it is back', async () => {
  peer.write('mine', 'x');
  const calls = [
    () => peer.send('POST', 'objects/list', { body: JSON.stringify({ prefix: '' }) }),
    () => peer.send('GET', 'entries'),
    () => peer.send('GET', 'content?path=secret'),
    () => peer.send('POST', 'read', { body: JSON.stringify({ paths: ['secret'] }) }),
  ];
  expect(await (await calls[1]!()).text()).toContain('mine');
  renameSync(peer.root, `${peer.root}-moved`);
  symlinkSync(outside.folder, peer.root);
  try {
    for (const call of calls) {
      const answer = await call();
      const text = await answer.text();
      expect(answer.status === 200 ? text : 'refused').toMatch(/refused|unsafePath/);
      expect(text).not.toContain('not offered');
      expect(text).not.toContain('"secret",');
      expect(text).not.toContain('mine');
    }
  } finally {
    rmSync(peer.root);
    renameSync(`${peer.root}-moved`, peer.root);
  }
  expect(await (await calls[1]!()).text()).toContain('mine');
});
