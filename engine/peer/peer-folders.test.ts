import { chmodSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listPeerEntries, type PeerListOptions } from '../remotes/peer/peer-files.ts';
import { createPeerFolders } from '../remotes/peer/peer-folders.ts';
import { startTestPeer, type TestPeer } from './peer.fixture.ts';

const { signal } = new AbortController();
let peer: TestPeer;
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
});

const stateOf = (name: string) => {
  const { mode, mtimeNs } = lstatSync(peer.path(name), { bigint: true });
  return { mode: Number(mode & 0o7777n), mtimeNs };
};
const list = async (options: Partial<PeerListOptions> = {}) => {
  const rows = [];
  const all = { below: '', signal, onProblem: () => {}, ...options };
  for await (const page of listPeerEntries(peer.client, all)) rows.push(...page);
  return rows.map(([path, kind]) => `${kind} ${path}`);
};

describe('folders with contents', () => {
  it('are listed on request, each before its contents, the listed folder first', async () => {
    peer.write('a/b/file', 'x');
    peer.write('a-b', 'x');
    mkdirSync(peer.path('a/empty'));
    expect(await list()).toEqual(['f a-b', 'f a/b/file', 'd a/empty/']);
    const all = ['D ', 'f a-b', 'D a/', 'D a/b/', 'f a/b/file', 'd a/empty/'];
    expect(await list({ folders: true })).toEqual(all);
    expect(await list({ folders: true, below: 'a' })).toEqual(['D ', 'D b/', 'f b/file', 'd empty/']);
    // An interrupted listing continues after the last received entry.
    expect(await list({ folders: true, after: '' })).toEqual(all.slice(1));
    expect(await list({ folders: true, after: 'a/b/' })).toEqual(all.slice(4));
  });
});

describe('modes and times of folders', () => {
  it('are set and read many at a time, to the nanosecond, and missing folders are created', async () => {
    peer.write('top/a/file', 'x');
    const folders = createPeerFolders(peer.client, 'top');
    const wanted = [
      { key: 'new/inside/', mode: 0o750, mtimeNs: 1_500_000_000_123_456_789n },
      { key: 'a/', mode: 0o555, mtimeNs: -5n },
      { key: '', mode: 0o711, mtimeNs: 3n },
    ];
    expect(await folders.set(wanted, { signal })).toEqual([undefined, undefined, undefined]);
    for (const { key, ...state } of wanted) expect(stateOf(`top/${key}`), key).toEqual(state);
    const keys = wanted.map(({ key }) => key);
    expect(await folders.read([...keys, 'absent/', 'a/file/'], { signal })).toEqual([
      ...wanted.map(({ key, ...state }) => state),
      undefined,
      undefined,
    ]);
    expect(await folders.set([{ key: 'a/', mode: 0o755 }], { signal })).toEqual([undefined]);
    expect(stateOf('top/a')).toEqual({ mode: 0o755, mtimeNs: -5n });
  });

  it('are never set on a link, a file, anything outside, or the offered folder, which can be read', async () => {
    peer.write('file', 'x');
    peer.write('outside/inner/x', 'x');
    symlinkSync('outside', peer.path('link'));
    const before = [stateOf('.'), stateOf('outside'), stateOf('outside/inner')];
    const folders = createPeerFolders(peer.client, '');
    const keys = ['link/', 'link/inner/', 'file/', '../', ''];
    const failed = await folders.set(
      keys.map((key) => ({ key, mode: 0o700, mtimeNs: 5n })),
      { signal },
    );
    expect(failed.map((error) => error?.code)).toEqual([
      'unsafePath',
      'unsafePath',
      'unsafePath',
      'unsafePath',
      expect.any(String),
    ]);
    expect([stateOf('.'), stateOf('outside'), stateOf('outside/inner')]).toEqual(before);
    expect(await folders.read(['', 'link/', '../'], { signal })).toEqual([before[0], undefined, undefined]);
  });

  it('are refused by a read-only peer, and still readable', async () => {
    await using locked = await startTestPeer({ isReadOnly: true });
    locked.write('a/file', 'x');
    chmodSync(locked.path('a'), 0o700);
    const folders = createPeerFolders(locked.client, '');
    expect(await folders.read(['a/'], { signal })).toMatchObject([{ mode: 0o700 }]);
    await expect(folders.set([{ key: 'a/', mode: 0o777 }], { signal })).rejects.toMatchObject({
      code: 'accessDenied',
    });
  });
});
