import { chmodSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteItem } from '../peer-protocol/messages.ts';
import {
  readPeerFiles,
  removePeerFiles,
  sumOf,
  touchPeerFile,
  writePeerFiles,
} from '../remotes/peer/peer-files.ts';
import { noise, startTestPeer, type TestPeer } from './peer.fixture.ts';

const MIB = 1024 * 1024;
const { signal } = new AbortController();
let peer: TestPeer;
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
});
const item = (
  path: string,
  bytes: Uint8Array,
  more: Partial<{ mode: number; crc64: string }> = {},
): WriteItem => ({
  kind: 'file',
  path,
  sizeBytes: bytes.length,
  mtimeNs: '1500000000123456789',
  crc64: sumOf(bytes),
  ...more,
});

describe('files written many at a time', () => {
  it('arrive together with links and folders, each with its own result', async () => {
    mkdirSync(peer.path('full/of'), { recursive: true });
    const [one, two] = [Buffer.from('one'), Buffer.from('twotwo')];
    const items: WriteItem[] = [
      item('a/one', one, { mode: 0o604 }),
      { kind: 'link', path: 'a/link', target: '/nowhere' },
      item('../out', one),
      item('full', one),
      item('wrong', one, { crc64: '0'.repeat(16) }),
      { kind: 'folder', path: 'empty/' },
      item('a/two', two),
    ];
    const results = await writePeerFiles(peer.client, { items, contents: [one, one, one, one, two] }, signal);
    expect(results.map((result) => ('error' in result ? result.error.code : 'done'))).toEqual([
      'done',
      'done',
      'unsafePath',
      'conflict',
      'checksumRefused',
      'done',
      'done',
    ]);
    expect(readFileSync(peer.path('a/two'), 'utf8')).toBe('twotwo');
    expect(readlinkSync(peer.path('a/link'))).toBe('/nowhere');
    const stat = statSync(peer.path('a/one'), { bigint: true });
    expect([stat.mode & 0o777n, stat.mtimeNs]).toEqual([0o604n, 1_500_000_000_123_456_789n]);
    expect(statSync(peer.path('empty')).isDirectory()).toBe(true);
  });

  it('are all refused if the body does not match its head', async () => {
    const head = JSON.stringify({ items: [item('a', Buffer.from('abc'))] });
    const send = (body: string, headBytes: string) =>
      peer.send('POST', 'write', { body, headers: { 'dray-head-bytes': headBytes } });
    expect((await send(`${head}ab`, String(head.length))).status).toBe(400);
    expect((await send(`${head}abcd`, String(head.length))).status).toBe(400);
    expect((await send(`${head}abc`, '9999999')).status).toBe(400);
    expect((await send('{}', '2')).status).toBe(400);
    expect((await send(`${head}abc`, String(head.length))).status).toBe(200);
  });
});

describe('files read many at a time', () => {
  it('come in the requested order, each in full or as its error', async () => {
    peer.write('one', 'one');
    peer.write('folder/two', 'twotwo');
    symlinkSync('one', peer.path('link'));
    chmodSync(peer.path('one'), 0o640);
    const paths = ['folder/two', 'absent', 'link', 'folder', '../x', 'one'];
    const { contents, results } = await readPeerFiles(peer.client, { paths }, signal);
    expect(Buffer.from(contents).toString()).toBe('twotwoone');
    expect(results.map((result) => ('error' in result ? result.error.code : result.sizeBytes))).toEqual([
      6,
      'notFound',
      'unsafePath',
      'notFound',
      'unsafePath',
      3,
    ]);
    expect(results.at(-1)).toMatchObject({ mode: 0o640, mtimeNs: '1600000000000000000' });
  });

  it('are left for the next request if they are too many bytes, and refused if one alone is too large', async () => {
    for (const name of ['a', 'b', 'c']) peer.write(name, noise(7 * MIB, 1));
    peer.write('huge', noise(17 * MIB, 1));
    expect((await readPeerFiles(peer.client, { paths: ['a', 'b', 'c'] }, signal)).results).toHaveLength(2);
    const { results } = await readPeerFiles(peer.client, { paths: ['huge', 'c'] }, signal);
    expect(results).toMatchObject([{ error: { code: 'usage' } }, { sizeBytes: 7 * MIB }]);
  });
});

describe('small changes', () => {
  it('set the time, the mode or both of a file, and leave a link unchanged', async () => {
    peer.write('file', 'x');
    symlinkSync('file', peer.path('link'));
    const stat = () => statSync(peer.path('file'), { bigint: true });
    await touchPeerFile(peer.client, { path: 'file', mode: 0o600 }, signal);
    expect([stat().mode & 0o777n, stat().mtimeNs]).toEqual([0o600n, 1_600_000_000_000_000_000n]);
    await touchPeerFile(peer.client, { path: 'file', mtimeNs: 5_000_000_001n, mode: 0o644 }, signal);
    expect([stat().mode & 0o777n, stat().mtimeNs]).toEqual([0o644n, 5_000_000_001n]);
    await expect(touchPeerFile(peer.client, { path: 'link', mode: 0o777 }, signal)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:io|unsafePath)$/),
    });
    expect(stat().mode & 0o777n).toBe(0o644n);
  });

  it('remove files, links and empty folders, and report only obstacles', async () => {
    peer.write('folder/file', 'x');
    mkdirSync(peer.path('empty'));
    const errors = await removePeerFiles(
      peer.client,
      ['folder/', 'empty/', 'absent', '../x', 'folder/file'],
      signal,
    );
    expect(errors.map((error) => error?.code)).toEqual([
      'conflict',
      undefined,
      undefined,
      'unsafePath',
      undefined,
    ]);
  });
});
