/** What lies at a repository's place or below it changes only with a permission, by whatever command. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { beginFleet } from '../../engine/jobs/fleet/begin-fleet.ts';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { serve } from '../../engine/jobs/one-place/serve.ts';
import { uploads } from '../../engine/jobs/one-place/uploads.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

const HEX = 'ab'.repeat(31);
const OBJECT = `objects/ab/${HEX}`;
const STORED = ['dray.json', OBJECT, 'refs/heads/main'];
const REFUSED = { code: 'conflict', data: { repository: 'repo' } };

const newContext = () => contextIn(sandbox.folder, { DRAY_TOKEN: TEST_TOKEN });
const url = (key: string) => `s3://${store.bucket}/${key}`;
const kept = () => [...store.objects.keys()].sort();

/** A repository at `sets/repo/` of the bucket, and beside it a file. */
function storeRepository(): string[] {
  for (const key of STORED) store.objects.set(`sets/repo/${key}`, Buffer.from('kept'));
  store.objects.set('sets/a', Buffer.from('kept'));
  return kept();
}

function writeRepository(): void {
  for (const key of STORED) sandbox.write(`sets/repo/${key}`, 'kept');
}

describe('rm', () => {
  it.each(['', 'sets', 'sets/', 'sets/repo', 'sets/repo/', 'sets/repo/objects', 'sets/repo/refs/'])(
    'removes nothing below "%s", where a repository is, without a permission',
    async (place) => {
      const all = storeRepository();
      const request = { place: url(place), recursive: true };
      await expect(removePlace(newContext(), request)).rejects.toMatchObject(REFUSED);
      const context = newContext();
      expect(await removePlace(context, { ...request, dryRun: true })).toMatchObject({
        wouldStop: 'conflict',
      });
      expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'changesRepository' }]);
      expect(kept()).toEqual(all);
      await removePlace(newContext(), { ...request, allowRepositories: ['repo'] });
      expect(kept().length).toBeLessThan(all.length);
    },
  );

  it.each(STORED)('does not remove the one key %s of a repository', async (key) => {
    const all = storeRepository();
    const request = { place: url(`sets/repo/${key}`) };
    await expect(removePlace(newContext(), request)).rejects.toMatchObject(REFUSED);
    expect(kept()).toEqual(all);
    expect(await removePlace(newContext(), { ...request, allowRepositories: true })).toMatchObject({
      removed: 1,
    });
  });

  it('refuses what its filter selects in a repository, and removes what it selects beside it', async () => {
    const all = storeRepository();
    const only = (pattern: string) => ({
      place: url('sets'),
      recursive: true,
      filter: {
        rules: [{ action: 'include', pattern } as const, { action: 'exclude', pattern: '**' } as const],
      },
    });
    await expect(removePlace(newContext(), only('/repo/objects/**'))).rejects.toMatchObject(REFUSED);
    expect(kept()).toEqual(all);
    expect(await removePlace(newContext(), only('/a'))).toMatchObject({ removed: 1 });
  });

  it('asks once for each folder above, and for nothing below, which the listing shows', async () => {
    storeRepository();
    store.log.length = 0;
    store.objects.set('plain/x/y', Buffer.from('x'));
    await removePlace(newContext(), { place: url('plain/x/'), recursive: true });
    expect(store.log.filter((line) => line.includes('dray.json'))).toHaveLength(3);
    expect(store.log).toHaveLength(5);
  });
});

describe('copy and sync', () => {
  const places = ['sets/repo', 'sets/repo/objects', 'sets/repo/mine/deep'];
  const copy = (place: string, more: object = {}, context = newContext()) =>
    copyTree(context, { source: { place: 'from' }, destination: { place }, ...more });

  it.each(places)('write nothing into the place of a repository: %s', async (place) => {
    const all = storeRepository();
    writeRepository();
    sandbox.write('from/x', 'x');
    for (const destination of [url(place), sandbox.path(place)]) {
      await expect(copy(destination), destination).rejects.toMatchObject(REFUSED);
      const request = { source: { place: 'from' }, destination: { place: destination } };
      await expect(syncTree(newContext(), request), destination).rejects.toMatchObject(REFUSED);
      const context = newContext();
      expect(await copy(destination, { dryRun: true }, context)).toMatchObject({ wouldStop: 'conflict' });
      expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'changesRepository' }]);
    }
    expect(kept()).toEqual(all);
    expect(existsSync(sandbox.path('sets/repo/x'))).toBe(false);
    expect(existsSync(`${sandbox.folder}/sets/repo/mine/deep`)).toBe(false);
    expect(await copy(url(place), { allowRepositories: true })).toMatchObject({ copiedFiles: 1 });
    expect(await copy(sandbox.path(place), { allowRepositories: ['repo'] })).toMatchObject({
      copiedFiles: 1,
    });
  });

  it.each(STORED)('do not replace the object %s of a repository below the destination', async (key) => {
    const all = storeRepository();
    writeRepository();
    sandbox.write(`from/repo/${key}`, 'another');
    for (const destination of [url('sets'), sandbox.path('sets')])
      await expect(copy(destination, { compare: 'checksum' }), destination).rejects.toMatchObject(REFUSED);
    expect(kept()).toEqual(all);
    expect(Buffer.from(store.objects.get(`sets/repo/${key}`)!).toString()).toBe('kept');
    expect(readFileSync(sandbox.path('sets/repo', key), 'utf8')).toBe('kept');
  });

  it('do not put one file, or standard input, over a repository', async () => {
    const all = storeRepository();
    writeRepository();
    sandbox.write('one', 'x');
    const context = () => ({ ...newContext(), standardInput: Readable.from([Buffer.from('x')]) });
    for (const source of ['one', '-'])
      for (const place of [
        url('sets/repo/dray.json'),
        url(`sets/repo/${OBJECT}`),
        sandbox.path('sets/repo/new'),
      ])
        await expect(
          copyTree(context(), { source: { place: source }, destination: { place } }),
          `${source} ${place}`,
        ).rejects.toMatchObject(REFUSED);
    expect(kept()).toEqual(all);
    expect(existsSync(sandbox.path('sets/repo/new'))).toBe(false);
  });

  it('keep no backups in a repository', async () => {
    storeRepository();
    store.objects.set('to/x', Buffer.from('old'));
    sandbox.write('from/x', 'newer');
    const backupDirectory = { place: url('sets/repo/old') };
    await expect(copy(url('to'), { backupDirectory })).rejects.toMatchObject(REFUSED);
    expect(Buffer.from(store.objects.get('to/x')!).toString()).toBe('old');
  });

  it('go on with a mirror of a repository, also with what it no longer has', async () => {
    storeRepository();
    for (const key of STORED) store.objects.set(`mirror/repo/${key}`, Buffer.from('kept'));
    store.objects.set('sets/repo/refs/heads/more', Buffer.from('new'));
    store.objects.set(`mirror/repo/packs/ab/${HEX}`, Buffer.from('collected'));
    for (const folder of ['', '/repo']) {
      const request = {
        source: { place: url(`sets${folder}`) },
        destination: { place: url(`mirror${folder}`) },
      };
      const expected = folder === '' ? { copiedFiles: 2, deletedFiles: 1 } : { result: 'upToDate' };
      expect(await syncTree(newContext(), request)).toMatchObject(expected);
    }
    store.objects.set('mirror/repo/dray.json', Buffer.from('another'));
    store.objects.set('sets/repo/refs/heads/last', Buffer.from('new'));
    for (const folder of ['', '/repo'])
      await expect(
        syncTree(newContext(), {
          source: { place: url(`sets${folder}`) },
          destination: { place: url(`mirror${folder}`) },
        }),
      ).rejects.toMatchObject(REFUSED);
  });

  it('copy a repository to a new place, where nothing has to be asked but the folders above', async () => {
    storeRepository();
    store.log.length = 0;
    const request = { source: { place: url('sets/') }, destination: { place: url('other/place/') } };
    expect(await copyTree(newContext(), request)).toMatchObject({ copiedFiles: 4 });
    const asked = store.log.filter((line) => /^HEAD .*dray\.json/.test(line) && !line.includes(' sets/'));
    expect(new Set(asked)).toEqual(
      new Set(['', 'other/', 'other/place/', 'other/place/repo/'].map((folder) => `HEAD ${folder}dray.json`)),
    );
  });

  it('send no further request where nothing changes', async () => {
    sandbox.write('from/x', 'x');
    await copy(url('plain'));
    store.log.length = 0;
    expect(await copy(url('plain'))).toMatchObject({ result: 'upToDate' });
    expect(store.log.filter((line) => line.includes('dray.json'))).toEqual([]);
  });

  it('do not change a repository that another machine serves', async () => {
    writeRepository();
    sandbox.write('from/x', 'x');
    const server = await serveForTest(sandbox.path('sets'));
    const inner = await serveForTest(sandbox.path('sets/repo'));
    try {
      const { port } = server.address;
      const refused = { code: 'conflict', data: { reason: 'repository' } };
      for (const place of [plainPlace(port, 'repo'), plainPlace(port, 'repo/objects')]) {
        await expect(copy(place), place).rejects.toMatchObject(refused);
        const removal = removePlace(newContext(), { place, recursive: true });
        await expect(removal, place).rejects.toMatchObject(refused);
      }
      await expect(copy(plainPlace(inner.address.port, 'x'))).rejects.toMatchObject(refused);
    } finally {
      await Promise.all([server.close(), inner.close()]);
    }
    expect(existsSync(sandbox.path('sets/repo/x'))).toBe(false);
    expect(readFileSync(sandbox.path('sets/repo', OBJECT), 'utf8')).toBe('kept');
  });
});

describe('other commands', () => {
  it('abort no upload of a push without a permission', async () => {
    storeRepository();
    let pending = ['plain/x', `sets/repo/${OBJECT}`];
    store.fault = ({ key, method, query }) => {
      if (method === 'DELETE') pending = pending.filter((one) => one !== key);
      if (method !== 'GET') return undefined;
      if (query.has('uploadId')) return { document: '<ListPartsResult></ListPartsResult>' };
      const uploads = pending
        .filter((one) => one.startsWith(query.get('prefix') ?? ''))
        .map(
          (one) =>
            `<Upload><Key>${one}</Key><UploadId>id</UploadId><Initiated>2026-11-13T10:00:00Z</Initiated></Upload>`,
        );
      return { document: `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>` };
    };
    for (const place of ['', 'sets', 'sets/repo/'])
      await expect(uploads(newContext(), { place: url(place), abort: true }), place).rejects.toMatchObject(
        REFUSED,
      );
    expect(await uploads(newContext(), { place: url('plain'), abort: true })).toMatchObject({ aborted: 1 });
    expect(await uploads(newContext(), { place: url('') })).toMatchObject({ uploads: 1 });
    expect(
      await uploads(newContext(), { place: url(''), abort: true, allowRepositories: true }),
    ).toMatchObject({ aborted: 1 });
  });

  it('begin no fleet that would write into a repository', async () => {
    storeRepository();
    store.objects.set('from/x', Buffer.from('x'));
    for (const kind of ['copy', 'sync'] as const)
      await expect(
        beginFleet(newContext(), 'job', {
          kind,
          source: { place: url('from') },
          destination: { place: url('sets/repo/mine') },
        }),
      ).rejects.toMatchObject(REFUSED);
  });

  it('neither clone into a repository nor offer a part of it for writing', async () => {
    writeRepository();
    mkdirSync(sandbox.path('work'));
    await initWorkspace(contextIn(sandbox.path('work')), { remoteUrl: sandbox.path('origin') });
    await expect(
      cloneWorkspace(newContext(), {
        url: sandbox.path('origin'),
        directory: sandbox.path('sets/repo/clone'),
      }),
    ).rejects.toMatchObject({ code: 'usage', data: { repository: 'repo' } });
    await expect(
      serve(newContext(), { folder: 'sets/repo/objects', software: 'test' } as never),
    ).rejects.toMatchObject({ code: 'usage', data: { repository: 'repo' } });
    expect(existsSync(sandbox.path('sets/repo/clone'))).toBe(false);
  });
});
