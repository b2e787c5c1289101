import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heldReach } from '../files/scan/tree-reach.ts';
import { startTestPeer } from './peer.fixture.ts';
import {
  holdParent,
  openOffered,
  openPeerFile,
  openPeerFolder,
  parsePeerPath,
  statPeerPath,
} from './peer-paths.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dray-paths-')));
  mkdirSync(join(folder, 'below'));
  writeFileSync(join(folder, 'below/file'), 'content');
});
afterEach(() => rmSync(folder, { recursive: true }));

const ALL = openOffered('/');

describe.runIf(process.platform !== 'win32')('the root of a file system', () => {
  it('can be offered like any folder', () => {
    const path = join(folder, 'below/file').slice(1);
    const fd = openPeerFile(ALL, path)!;
    expect(readFileSync(fd, 'utf8')).toBe('content');
    closeSync(fd);
    closeSync(openPeerFolder(ALL, '')!);
    expect(statPeerPath(ALL, path)?.isFile()).toBe(true);
    const held = holdParent(ALL, path);
    expect(readFileSync(held.path, 'utf8')).toBe('content');
    held.close();
    const reach = heldReach('/');
    expect(readFileSync(reach.absoluteOf(path), 'utf8')).toBe('content');
    reach.release();
  });
});

describe('a path of a client', () => {
  it.each([
    '..',
    'a/../b',
    './a',
    '/etc/passwd',
    'a//b',
    'a\0b',
    '.dray-tmp/x',
    '.DRAY-TMP',
    '.dray',
    'a/.Dray/config.json',
    'a/.dray-tmp/uploads/x',
    'a/b/.Dray-Tmp',
    'a/.dr\u200cay-tmp/x',
  ])('is refused as %j', (path) =>
    expect(() => parsePeerPath(path)).toThrow(expect.objectContaining({ code: 'unsafePath' })),
  );

  it.each(['a', 'a/b/', 'with space', '.hidden', 'a/.dray-tmp-not', '\u00e4'])('is accepted as %j', (path) =>
    expect(parsePeerPath(path)).toBe(path.replace(/\/$/, '')),
  );

  it("never leads into a workspace's .dray folder, as files or as objects", async () => {
    await using peer = await startTestPeer();
    peer.write('.dray/config.json', 'own');
    expect((await peer.send('GET', 'content?path=.dray/config.json')).status).toBe(422);
    for (const at of ['', '.dray']) {
      const head = JSON.stringify({ key: at === '' ? '.dray/config.json' : 'config.json' });
      const put = await peer.send('POST', `objects/put?at=${at}`, {
        headers: { 'dray-head-bytes': String(head.length) },
        body: `${head}theirs`,
      });
      expect(put.status).toBe(422);
    }
    expect(readFileSync(peer.path('.dray/config.json'), 'utf8')).toBe('own');
  });
});
