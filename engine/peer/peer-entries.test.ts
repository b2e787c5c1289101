import { existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparePaths } from '../model/entry.ts';
import { listPeerEntries, type PeerListOptions } from '../remotes/peer/peer-files.ts';
import { startTestPeer, type TestPeer } from './peer.fixture.ts';

const { signal } = new AbortController();
const FILES = ['a/b/c', 'a/b-c', 'a-b/x', 'a/\u00e4', 'a', 'b', 'z/\ufffd', 'z/\u{1f600}', 'z/1'].filter(
  (path) => path !== 'a',
);
let peer: TestPeer;
let all: readonly string[];
beforeAll(async () => {
  peer = await startTestPeer();
  for (const path of FILES) peer.write(path, path);
  mkdirSync(peer.path('nothing/inside'), { recursive: true });
  symlinkSync('../b', peer.path('a/link'));
  all = [...FILES, 'nothing/inside/', 'a/link'].sort(comparePaths);
});
afterAll(async () => {
  await peer?.[Symbol.asyncDispose]();
});

async function list(options: Partial<PeerListOptions> = {}) {
  const rows = [];
  for await (const page of listPeerEntries(peer.client, {
    below: '',
    signal,
    onProblem: () => {},
    ...options,
  }))
    rows.push(...page);
  return rows;
}
const paths = async (options: Partial<PeerListOptions> = {}) => (await list(options)).map(([path]) => path);

describe('the entries of a folder', () => {
  it('come in byte order with kinds and targets, empty folders included', async () => {
    const rows = await list();
    expect(rows.map(([path]) => path)).toEqual(all);
    expect(rows.find(([path]) => path === 'a/link')).toMatchObject({ 1: 'l', 6: '../b' });
    expect(rows.find(([path]) => path === 'nothing/inside/')).toMatchObject({ 1: 'd', 2: 0 });
  });

  it('continue after any path, up to any number (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.constantFrom(...all),
          fc.string({ maxLength: 3 }).filter((text) => text.isWellFormed()),
        ),
        fc.integer({ min: 1, max: 12 }),
        async (after, limit) => {
          const expected = all.filter((path) => comparePaths(path, after) > 0).slice(0, limit);
          expect(await paths({ after, limit })).toEqual(expected);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  it('are those of one level when folded, with folders for their contents', async () => {
    expect(await paths({ folded: true })).toEqual(['a-b/', 'a/', 'b', 'nothing/', 'z/']);
    expect(await paths({ folded: true, below: 'a' })).toEqual(['b-c', 'b/', 'link', '\u00e4']);
    expect(await paths({ folded: true, after: 'b' })).toEqual(['nothing/', 'z/']);
  });

  it('are relative to the requested folder, and refused if it does not exist', async () => {
    expect(await paths({ below: 'a/b' })).toEqual(['c']);
    await expect(list({ below: 'absent' })).rejects.toMatchObject({ code: 'notFound' });
    await expect(list({ below: 'b' })).rejects.toMatchObject({ code: 'notFound' });
    for (const query of ['limit=0', 'limit=x', 'path=..', 'path=a//b', 'path=%00'])
      expect((await peer.send('GET', `entries?${query}`)).status, query).toBeGreaterThanOrEqual(400);
  });

  it('are kept aside by doing nothing if nothing can exist there', async () => {
    for (const from of ['absent', 'absent/file', 'b/below-a-file', 'x'.repeat(300)]) {
      const body = JSON.stringify({ from, to: 'kept' });
      expect((await peer.send('POST', 'keep', { body })).status, from).toBe(200);
    }
    expect(existsSync(peer.path('kept'))).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'omit a link whose target is not UTF-8, which is reported as a problem and kept byte by byte (needs Linux)',
    async () => {
      const target = Buffer.from('caf\xe9', 'latin1');
      mkdirSync(peer.path('bytes'));
      symlinkSync(target, peer.path('bytes/bad'));
      symlinkSync('good', peer.path('bytes/good'));
      for (const folded of [false, true]) {
        const problems: string[] = [];
        const onProblem = (problem: string) => problems.push(problem);
        expect(await paths({ below: 'bytes', folded, onProblem })).toEqual(['good']);
        expect(problems).toEqual([
          'The target of the link bad is not UTF-8. Create the link again with a UTF-8 target.',
        ]);
      }
      const body = JSON.stringify({ from: 'bytes/bad', to: 'bytes/kept' });
      expect((await peer.send('POST', 'keep', { body })).status).toBe(200);
      expect(readlinkSync(peer.path('bytes/kept'), 'buffer')).toEqual(target);
      rmSync(peer.path('bytes'), { recursive: true });
    },
  );
});
