/**
 * Files that a sync must not delete: files that its source has but did not list, and files that changed after
 * the sync saw them.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SyncRequest } from '../../engine/api/jobs/trees.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

const newContext = () => contextIn(sandbox.folder, { DRAY_TOKEN: TEST_TOKEN });
const sync = (request: Partial<SyncRequest> = {}, context = newContext()) =>
  syncTree(context, {
    source: { place: `s3://${store.bucket}/tree` },
    destination: { place: 'to' },
    maxDelete: { percent: 100 },
    ...request,
  });
const files = () => readdirSync(sandbox.path('to')).sort();

describe('A sync from a store', () => {
  it.each([
    ['an HTML page, as a proxy may send', '<html><body>Please sign in</body></html>'],
    [
      'an error with status 200',
      '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>Again</Message></Error>',
    ],
    ['a truncated list', '<ListBucketResult><Contents><Key>tree/n00000</Key></Contents>'],
    [
      'a truncated list without a continuation token',
      '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>',
    ],
  ])('deletes nothing when the store answers a listing with %s', async (_what, document) => {
    for (let at = 0; at < 1_005; at += 1) {
      const name = `n${String(at).padStart(5, '0')}`;
      store.objects.set(`tree/${name}`, Buffer.from('x'));
      sandbox.write(`to/${name}`, 'x');
    }
    let isGiven = false;
    store.fault = ({ query }) => {
      if (isGiven || !query.has('continuation-token')) return undefined;
      isGiven = true;
      return { document };
    };
    expect(await sync({ compare: 'sizeOnly' })).toMatchObject({ deletedFiles: 0, unchangedFiles: 1_005 });
    expect(isGiven).toBe(true);
    expect(files()).toHaveLength(1_005);
  });

  it('refuses a missing source, whatever a filter excludes', async () => {
    store.objects.set('tree2/a', Buffer.from('x'));
    sandbox.write('to/a', 'x');
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ filter })).rejects.toMatchObject({ code: 'notFound' });
    expect(files()).toEqual(['a']);
    store.objects.set('tree/a.tmp', Buffer.from('x'));
    expect(await sync({ filter })).toMatchObject({ deletedFiles: 1 });
  });

  it("that keeps links does not confuse a file with a link's stored name with the link", async () => {
    store.objects.set('tree/a', Buffer.from('a'));
    // A copy without --links brought this file when the source had a link there.
    sandbox.write('to/a.rclonelink', 'elsewhere');
    expect(await sync({ links: true })).toMatchObject({ copiedFiles: 1, deletedFiles: 0 });
    expect(files()).toEqual(['a', 'a.rclonelink']);
  });

  it('keeps a file that changed since it was listed, and deletes both names of a hard link', async () => {
    for (const name of ['changed', 'linked', 'gone'])
      utimesSync(sandbox.write(`to/${name}`, 'x'), 1_000, 1_000);
    linkSync(sandbox.path('to/linked'), sandbox.path('to/linked too'));
    store.objects.set('tree/new', Buffer.from('x'));
    // A file system that ignores case does this when the first of `Changed` and `changed` is copied.
    store.fault = ({ key, method }) => {
      if (method === 'GET' && key === 'tree/new') {
        rmSync(sandbox.path('to/changed'));
        utimesSync(sandbox.write('to/changed', 'y'), 2_000, 2_000);
      }
      return undefined;
    };
    const context = newContext();
    expect(await sync({}, context)).toMatchObject({ copiedFiles: 1, deletedFiles: 3, failed: 1 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'changed', error: { code: 'conflict' } }]);
    expect(files()).toEqual(['changed', 'new']);
  });

  it('keeps a file that replaced one with the same size and the same time in the future', async () => {
    const future = Math.floor(Date.now() / 1_000) + 86_400;
    for (const name of ['gone', 'taken']) utimesSync(sandbox.write(`to/${name}`, 'x'), future, future);
    store.objects.set('tree/new', Buffer.from('x'));
    store.fault = ({ key, method }) => {
      if (method === 'GET' && key === 'tree/new') {
        utimesSync(sandbox.write('other', 'y'), future, future);
        renameSync(sandbox.path('other'), sandbox.path('to/taken'));
      }
      return undefined;
    };
    const context = newContext();
    expect(await sync({}, context)).toMatchObject({ copiedFiles: 1, deletedFiles: 1, failed: 1 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'taken', error: { code: 'conflict' } }]);
    expect(files()).toEqual(['new', 'taken']);
  });
});

describe('An item that waits in a sync for deletions', () => {
  it('fails at once when no deletion can make room, and nothing is deleted', async () => {
    // The source itself fills the folder that blocks `both`, and the filter protects what blocks `kept`.
    for (const key of ['both', 'both/file', 'kept', 'late/file'])
      store.objects.set(`tree/${key}`, Buffer.from('x'));
    for (const name of ['both/extra', 'both/file', 'kept/a.tmp', 'late', 'other'])
      sandbox.write(`to/${name}`, 'x');
    const context = newContext();
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ compare: 'sizeOnly', filter }, context)).rejects.toMatchObject({
      code: 'partial',
      message: expect.stringContaining('Nothing was deleted'),
      data: { deletes: 3 },
    });
    const failed = eventsOf(context, 'fileFailed').map(({ path }) => path);
    expect(failed.sort()).toEqual(['both', 'kept', 'late/file']);
    expect(files()).toEqual(['both', 'kept', 'late', 'other']);
    expect(readdirSync(sandbox.path('to/both')).sort()).toEqual(['extra', 'file']);
  });

  it.each([
    ['the source fills the same folder', ['both', 'both/file'], ['both/extra', 'other']],
    ['only excluded files are there', ['kept', 'late/file'], ['kept/a.tmp', 'late']],
  ])('fails alone too: %s', async (_what, keys, names) => {
    for (const key of keys) store.objects.set(`tree/${key}`, Buffer.from('x'));
    for (const name of names) sandbox.write(`to/${name}`, 'x');
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    const [first] = keys as [string];
    if (first === 'both') sandbox.write('to/both/file', 'x');
    await expect(sync({ compare: 'sizeOnly', filter })).rejects.toMatchObject({
      message: expect.stringContaining('Nothing was deleted'),
    });
    for (const name of names) expect(existsSync(sandbox.path(`to/${name}`)), name).toBe(true);
  });
});

describe('A sync onto a repository', () => {
  const onto = (request: Partial<SyncRequest> = {}, context = newContext()) =>
    syncTree(context, {
      source: { place: 'from' },
      destination: { place: `s3://${store.bucket}/to` },
      ...request,
    });
  const keys = () => [...store.objects.keys()].sort();
  beforeEach(() => sandbox.write('from/a', 'a'));

  it.each([
    ['a folder in it', 'sets/birds/'],
    ['a folder in that', 'sets/new/birds/'],
  ])('deletes nothing unless --max-delete allows the number: %s', async (_what, folder) => {
    const repository = ['dray.json', 'packs/x', 'refs/heads/main'].map((key) => `to/${folder}${key}`);
    for (const key of repository) store.objects.set(key, Buffer.from('x'));
    const context = newContext();
    expect(await onto({ dryRun: true }, context)).toMatchObject({ deletedFiles: 3 });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'deletesRepository', path: folder }]);
    await expect(onto()).rejects.toMatchObject({
      code: 'tooManyDeletes',
      message: expect.stringMatching(/repository of Dray.*--max-delete 3/),
      data: { deletes: 3, repository: folder },
    });
    expect(keys()).toEqual(['to/a', ...repository].sort());
    expect(await onto({ maxDelete: { files: 3 } })).toMatchObject({ deletedFiles: 3 });
    expect(keys()).toEqual(['to/a']);
  });

  it('deletes the files that a mirrored source no longer has', async () => {
    sandbox.write('from/dray.json', 'x');
    for (const key of ['to/dray.json', 'to/packs/x', 'to/not a dray.json'])
      store.objects.set(key, Buffer.from('x'));
    expect(await onto()).toMatchObject({ deletedFiles: 2 });
    expect(keys()).toEqual(['to/a', 'to/dray.json']);
  });
});

describe('A sync from another machine', () => {
  let server: PeerServer;
  const place = () => ({ place: plainPlace(server.address.port, 'tree') });
  beforeEach(async () => {
    mkdirSync(sandbox.path('offered/tree'), { recursive: true });
    server = await serveForTest(sandbox.path('offered'));
  });
  afterEach(() => server.close());

  it('deletes nothing while a file there cannot be read, at any destination', async () => {
    sandbox.write('offered/tree/a', 'a');
    // No listing can name this file.
    writeFileSync(Buffer.from(`${sandbox.path('offered/tree')}/no utf-8: \xff`, 'latin1'), '');
    sandbox.write('to/gone', 'x');
    store.objects.set('to/gone', Buffer.from('x'));
    for (const destination of [{ place: 'to' }, { place: `s3://${store.bucket}/to` }]) {
      const context = newContext();
      await expect(sync({ source: place(), destination }, context)).rejects.toMatchObject({
        code: 'partial',
      });
      expect(eventsOf(context, 'fileFailed')).toHaveLength(1);
    }
    expect(files()).toEqual(['a', 'gone']);
    expect([...store.objects.keys()].sort()).toEqual(['to/a', 'to/gone']);
  });

  it('refuses a missing folder, whatever a filter excludes', async () => {
    rmSync(sandbox.path('offered/tree'), { recursive: true });
    sandbox.write('to/a', 'x');
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ source: place(), filter })).rejects.toMatchObject({ code: 'notFound' });
    expect(files()).toEqual(['a']);
  });
});
