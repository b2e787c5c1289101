import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EntryRow } from '../../api/host/browse.ts';
import { push } from '../../jobs/push/push.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { plainPlace, startTestPeer, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';
import { removePlaces } from './remove-places.ts';

let fixture: HostFixture;
let folder: string;
beforeEach(() => {
  fixture = createHostFixture();
  folder = fixture.sandbox.path('files');
  mkdirSync(folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await fixture[Symbol.asyncDispose]();
});

/** All entries by name, folders first. */
async function list(place: string): Promise<readonly EntryRow[]> {
  const { list } = await fixture.client.ask('browse.open', { place });
  return (await fixture.client.ask('browse.rows', { list, view: {}, offset: 0, limit: 500 })).rows;
}

/** RFC 3339. */
const isMoment = (text = '') => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);

describe('browsing a local folder', () => {
  it('shows one level, folders with a slash, links as links', async () => {
    fixture.sandbox.write('files/b.txt', 'bb');
    fixture.sandbox.write('files/a/inside.txt', 'inside');
    symlinkSync('b.txt', join(folder, 'link'));
    const entries = await list(folder);
    expect(entries.map(({ mtime }) => isMoment(mtime))).toEqual([true, true, true]);
    expect(entries[2]?.target).toBe('b.txt');
    expect(entries.map(({ kind, path, sizeBytes }) => [kind, path, sizeBytes])).toEqual([
      ['folder', 'a/', 0],
      ['file', 'b.txt', 2],
      ['link', 'link', 0],
    ]);
    await expect(list(join(folder, 'nothing'))).rejects.toMatchObject({ code: 'notFound' });
  });

  it('creates folders, previews files, and sizes and removes entries', async () => {
    const { client } = fixture;
    const made = () => client.ask('browse.makeFolder', { place: join(folder, 'new') });
    await made();
    await expect(made()).rejects.toMatchObject({ code: 'conflict' });
    fixture.sandbox.write('files/new/a.txt', 'text of a');
    fixture.sandbox.write('files/new/deep/b.txt', 'bb');
    expect(await client.ask('browse.size', { place: join(folder, 'new/') })).toEqual({ files: 2, bytes: 11 });
    const place = join(folder, 'new/a.txt');
    expect(await client.ask('browse.preview', { place })).toMatchObject({ as: 'text', text: 'text of a' });
    expect(await client.ask('browse.remove', { places: [place] })).toEqual({ removed: 1 });
    await expect(client.ask('browse.preview', { place })).rejects.toMatchObject({ code: 'notFound' });
    const withoutSlash = client.ask('browse.remove', { places: [join(folder, 'new')] });
    await expect(withoutSlash).rejects.toMatchObject({ code: 'usage' });
    await client.ask('browse.remove', { places: [`${folder}/new/`] });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('finds which of some names exist, and none in a missing folder', async () => {
    const { client, sandbox } = fixture;
    sandbox.write('files/a.txt', '');
    sandbox.write('files/b/inside.txt', '');
    symlinkSync('gone', join(folder, 'broken'));
    const names = ['a.txt', 'b', 'broken', 'c.txt', 'inside.txt'];
    const taken = (place: string) => client.ask('browse.taken', { place, names });
    expect((await taken(`${folder}/`)).names).toEqual(['a.txt', 'b', 'broken']);
    expect((await taken(`${folder}/not/there/`)).names).toEqual([]);
  });

  it('removes nothing if one of the places must not be removed', async () => {
    const kept = fixture.sandbox.write('files/kept.txt', '');
    for (const forbidden of ['/', `${homedir()}/`, '~/../', join(folder, 'gone')]) {
      const removal = fixture.client.ask('browse.remove', { places: [kept, forbidden] });
      await expect(removal).rejects.toThrow();
    }
    expect(existsSync(kept)).toBe(true);
  });

  it('removes no folder that contains the home folder, whatever path leads to it', async () => {
    const kept = fixture.sandbox.write('files/disk/ada/kept.txt', '');
    fixture.sandbox.write('files/disk/adam/kept.txt', '');
    symlinkSync('disk', join(folder, 'homes'));
    vi.stubEnv('HOME', join(folder, 'homes', 'ada'));
    expect(homedir()).toBe(join(folder, 'homes', 'ada'));
    for (const forbidden of ['disk/ada/', 'disk/', 'homes/ada/', 'homes/', 'homes', '']) {
      const removal = fixture.client.ask('browse.remove', { places: [`${folder}/${forbidden}`] });
      await expect(removal, forbidden).rejects.toMatchObject({ code: 'usage' });
    }
    expect(existsSync(kept)).toBe(true);
    await fixture.client.ask('browse.remove', { places: [`${folder}/disk/adam/`] });
    expect(existsSync(join(folder, 'disk/adam'))).toBe(false);
  });

  it('removes a link and not its target', async () => {
    const target = fixture.sandbox.write('files/target/kept.txt', '');
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    await fixture.client.ask('browse.remove', { places: [join(folder, 'link')] });
    expect(existsSync(target)).toBe(true);
    expect(existsSync(join(folder, 'link'))).toBe(false);
  });
});

describe('removing a folder of this computer', () => {
  it('yields to the event loop, so that transfers continue meanwhile', async () => {
    const { sandbox } = fixture;
    for (let at = 0; at < 50; at += 1) sandbox.write(`many/${at}/file`, 'x');
    let turns = 0;
    const count = () => {
      turns += 1;
      ticking = setImmediate(count);
    };
    let ticking = setImmediate(count);
    expect(await removePlaces(testContext(sandbox.folder), [`${sandbox.path('many')}/`])).toBe(1);
    clearImmediate(ticking);
    expect(turns).toBeGreaterThan(10);
    expect(existsSync(sandbox.path('many'))).toBe(false);
  });
});

describe('browsing a remote', () => {
  it('lists, previews, sizes, removes and tests it', async () => {
    await using peer = await startTestPeer();
    peer.write('top.txt', 'top of the peer');
    peer.write('folder/inside.txt', 'inside');
    const tokenFile = fixture.sandbox.write('token', TEST_TOKEN);
    const url = `${plainPlace(peer.port())}&tokenFile=${encodeURIComponent(tokenFile)}`;
    const { client } = fixture;
    await client.ask('remotes.add', { name: 'peer', url });
    expect((await list('peer:')).find(({ kind }) => kind === 'file')?.mtime).toSatisfy(isMoment);
    expect((await list('peer:')).map(({ kind, path, sizeBytes }) => [kind, path, sizeBytes])).toEqual([
      ['folder', 'folder/', 0],
      ['file', 'top.txt', 15],
    ]);
    expect(await client.ask('browse.preview', { place: 'peer:top.txt' })).toMatchObject({
      text: 'top of the peer',
    });
    expect(await client.ask('browse.size', { place: 'peer:' })).toEqual({ files: 2, bytes: 21 });
    await client.ask('browse.makeFolder', { place: 'peer:new/' });
    expect(statSync(peer.path('new')).isDirectory()).toBe(true);
    for (const taken of ['peer:folder/', 'peer:top.txt/']) {
      const made = client.ask('browse.makeFolder', { place: taken });
      await expect(made).rejects.toMatchObject({ code: 'conflict' });
    }
    const names = ['folder', 'top.txt', 'second.txt', 'fold'];
    const taken = (place: string) => client.ask('browse.taken', { place, names });
    expect((await taken('peer:')).names).toEqual(['folder', 'top.txt']);
    expect((await taken('peer:not/there/')).names).toEqual([]);
    peer.write('second.txt', 'second');
    peer.write('beside.txt', 'stays');
    const places = ['peer:folder/', 'peer:top.txt', 'peer:second.txt'];
    expect(await client.ask('browse.remove', { places })).toEqual({ removed: 3 });
    expect(existsSync(peer.path('beside.txt'))).toBe(true);
    await client.ask('browse.remove', { places: ['peer:beside.txt'] });
    expect((await list('peer:')).filter(({ kind }) => kind === 'file')).toEqual([]);
    const tested = await client.ask('remotes.test', { target: 'peer' });
    expect(tested.passed).toBeGreaterThan(0);
  });
});

describe('the plan of a copy', () => {
  it('shows what a sync would do, deletions first, and changes nothing', async () => {
    const { client, sandbox } = fixture;
    sandbox.write('files/a.txt', 'new');
    sandbox.write('files/b.txt', 'same everywhere');
    sandbox.write('there/gone.txt', 'only there');
    const ends = { source: folder, destination: sandbox.path('there/') };
    const plan = await client.ask('browse.plan', { kind: 'sync', ...ends, limit: 2 });
    expect(plan.summary).toMatchObject({ result: 'wouldCopy', copiedFiles: 2, deletedFiles: 1 });
    expect(plan.rows.map(({ change, path }) => [change, path])).toEqual([
      ['deleted', 'gone.txt'],
      ['added', expect.stringMatching(/^[ab].txt$/)],
    ]);
    expect(plan.isCut).toBe(true);
    expect(existsSync(sandbox.path('there/a.txt'))).toBe(false);
    const copy = await client.ask('browse.plan', { kind: 'copy', ...ends, limit: 500 });
    expect(copy.summary.deletedFiles).toBe(0);
    expect(copy).toMatchObject({ isCut: false, failures: [], skipped: [] });
  });

  it('names skipped entries, or the first few of many', async () => {
    const { client, sandbox } = fixture;
    for (const folder of ['files', 'there']) sandbox.write(`${folder}/same.txt`, 'same everywhere');
    sandbox.write('there/gone.txt', 'only there');
    for (let at = 0; at < 30; at += 1) {
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/${at}-`), Buffer.from([0xff])]), '');
      symlinkSync('same.txt', join(folder, `link-${at}`));
    }
    const ends = { source: folder, destination: sandbox.path('there/') };
    const plan = await client.ask('browse.plan', { kind: 'sync', ...ends, limit: 500 });
    expect(plan.summary).toMatchObject({ failed: 30, skippedFiles: 30, deletedFiles: 0 });
    expect(plan.failures).toHaveLength(20);
    expect(plan.failures[0]).toMatchObject({ path: expect.stringContaining('0-'), message: /UTF-8/ });
    expect(plan.skipped).toHaveLength(20);
    expect(plan.skipped[0]).toBe('link-0');
  });

  it('names a repository that a sync would delete', async () => {
    const { client, sandbox } = fixture;
    sandbox.write('there/gone.txt', 'only there');
    const ends = { source: folder, destination: sandbox.path('there/') };
    const plan = () => client.ask('browse.plan', { kind: 'sync', ...ends, limit: 2 });
    expect(await plan()).not.toHaveProperty('deletesRepository');
    sandbox.write('there/birds/dray.json', '{}');
    expect(await plan()).toMatchObject({ deletesRepository: 'birds/', summary: { deletedFiles: 2 } });
  });
});

describe('browsing a version', () => {
  it('previews a link by its target, as on this computer', async () => {
    const root = await fixture.workspace();
    fixture.sandbox.write('work/raw/a.txt', 'of a');
    symlinkSync('raw/a.txt', join(root, 'link'));
    await push(testContext(root), {});
    const place = (path: string) => `file://${fixture.sandbox.path('work-remote')}?ref=main&path=${path}`;
    const preview = (path: string) => fixture.client.ask('browse.preview', { place: path });
    const shown = { as: 'text', text: 'raw/a.txt', facts: { sizeBytes: 9 } };
    expect(await preview(join(root, 'link'))).toMatchObject(shown);
    expect(await preview(place('link'))).toMatchObject(shown);
    expect(await preview(place('raw/a.txt'))).toMatchObject({ as: 'text', text: 'of a' });
    await expect(preview(place('gone'))).rejects.toMatchObject({ code: 'notFound' });
  });
});
