/** What a sync must not delete: what its source has and was not told of, and what is at the destination by another name than it seems. */
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
import type { SyncRequest } from '../engine/api/trees.ts';
import { eventsOf } from '../engine/jobs/session/job.fixture.ts';
import { syncTree } from '../engine/jobs/trees/copy-tree.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../engine/peer/serve-folder.ts';
import { contextIn, sandbox, store } from './fresh-store.ts';

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
    ['a page of somebody else, as a proxy may give it', '<html><body>Please sign in</body></html>'],
    [
      'an error that comes as a success',
      '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>Again</Message></Error>',
    ],
    ['a list that was cut short', '<ListBucketResult><Contents><Key>tree/n00000</Key></Contents>'],
    ['a list that goes on nowhere', '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'],
  ])('takes for no list %s', async (_what, document) => {
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

  it('refuses a source that is not there, whatever a filter leaves out', async () => {
    store.objects.set('tree2/a', Buffer.from('x'));
    sandbox.write('to/a', 'x');
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ filter })).rejects.toMatchObject({ code: 'notFound' });
    expect(files()).toEqual(['a']);
    store.objects.set('tree/a.tmp', Buffer.from('x'));
    expect(await sync({ filter })).toMatchObject({ deletedFiles: 1 });
  });

  it('that keeps links never takes a file with the name of a link for the file of that name', async () => {
    store.objects.set('tree/a', Buffer.from('a'));
    // As it came without --links, when the source had a link there.
    sandbox.write('to/a.rclonelink', 'elsewhere');
    expect(await sync({ links: true })).toMatchObject({ copiedFiles: 1, deletedFiles: 0 });
    expect(files()).toEqual(['a', 'a.rclonelink']);
  });

  it('deletes no file that is not the one that it saw there, and all names of one that is', async () => {
    for (const name of ['changed', 'linked', 'gone'])
      utimesSync(sandbox.write(`to/${name}`, 'x'), 1_000, 1_000);
    linkSync(sandbox.path('to/linked'), sandbox.path('to/linked too'));
    store.objects.set('tree/new', Buffer.from('x'));
    // As a file system does that takes `Changed` and `changed` for one name, when the first is copied.
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

  it('leaves a file that took the place of one with the same size and time, a time that is still to come', async () => {
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

describe('What waits in a sync for something to go', () => {
  it('fails at once where no extra is in its way, and nothing is deleted', async () => {
    // `both` fills the folder that has to go for it; what is in the way of `kept` is left out by the filter.
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
    ['the very folder is filled by the source', ['both', 'both/file'], ['both/extra', 'other']],
    ['nothing but what the filter leaves out is there', ['kept', 'late/file'], ['kept/a.tmp', 'late']],
  ])('alone, too: %s', async (_what, keys, names) => {
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
    ['the destination itself', ''],
    ['a folder in it', 'sets/birds/'],
  ])('deletes nothing unless it may delete so many: %s', async (_what, folder) => {
    const repository = ['dray.json', 'packs/x', 'refs/heads/main'].map((key) => `to/${folder}${key}`);
    for (const key of repository) store.objects.set(key, Buffer.from('x'));
    const told = newContext();
    expect(await onto({ dryRun: true }, told)).toMatchObject({ deletedFiles: 3 });
    expect(eventsOf(told, 'warning')).toMatchObject([{ warning: 'deletesRepository', path: folder }]);
    await expect(onto()).rejects.toMatchObject({
      code: 'tooManyDeletes',
      message: expect.stringMatching(/repository of Dray.*--max-delete 3/),
      data: { deletes: 3, repository: folder },
    });
    expect(keys()).toEqual(['to/a', ...repository].sort());
    expect(await onto({ maxDelete: { files: 3 } })).toMatchObject({ deletedFiles: 3 });
    expect(keys()).toEqual(['to/a']);
  });

  it('that is a mirror of its source deletes what the source has no longer', async () => {
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

  it('deletes nothing while something there cannot be read, wherever it goes', async () => {
    sandbox.write('offered/tree/a', 'a');
    // Of which no listing can tell.
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

  it('refuses a folder that is not there, whatever a filter leaves out', async () => {
    rmSync(sandbox.path('offered/tree'), { recursive: true });
    sandbox.write('to/a', 'x');
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ source: place(), filter })).rejects.toMatchObject({ code: 'notFound' });
    expect(files()).toEqual(['a']);
  });
});
