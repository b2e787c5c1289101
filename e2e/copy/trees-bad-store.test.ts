/**
 * Copies from and to a store that misbehaves: every file that arrives is correct, and every other one is
 * reported.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CopyRequest } from '../../engine/api/jobs/trees.ts';
import { eventsOf, type TestContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

const down = (more: Partial<CopyRequest> = {}): CopyRequest => ({
  source: { place: `s3://${store.bucket}/tree` },
  destination: { place: sandbox.path('down') },
  ...more,
});
const up = (): CopyRequest => ({
  source: { place: sandbox.path('up') },
  destination: { place: `s3://${store.bucket}/tree` },
});

function put(objects: Readonly<Record<string, string>>): void {
  for (const [key, content] of Object.entries(objects))
    store.objects.set(`tree/${key}`, Buffer.from(content));
}

function arrived(): readonly string[] {
  const folder = sandbox.path('down');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

const failures = (context: TestContext) =>
  eventsOf(context, 'fileFailed')
    .map(({ error, path }) => [path, error.code] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));

describe('Keys that are not valid local paths', () => {
  it('are reported and skipped, and nothing is written outside the folder', async () => {
    const long = 'n'.repeat(1_000);
    put({
      good: 'good',
      '../outside': 'x',
      'a/../../b': 'x',
      '/absolute': 'x',
      'a//b': 'x',
      'content/': 'x',
      'marker/': '',
      [long]: 'x',
    });
    const context = contextIn();
    const summary = await copyTree(context, down());
    expect(arrived()).toEqual(['good']);
    expect(failures(context)).toEqual(
      [
        ['../outside', 'unsafePath'],
        ['/absolute', 'unsafePath'],
        ['a//b', 'unsafePath'],
        ['a/../../b', 'unsafePath'],
        ['content/', 'unsafePath'],
        [long, expect.stringMatching(/^(io|unsafePath)$/)],
      ].sort(([left], [right]) => (left! < right! ? -1 : 1)),
    );
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 6 });
    expect(readdirSync(sandbox.folder).sort()).toEqual(['cache', 'down']);
  });
});

describe('An object', () => {
  it('that changes between listing and reading is reported, and the old file stays', async () => {
    put({ a: 'first', b: 'fine' });
    store.fault = ({ key, method }) =>
      method === 'GET' && key === 'tree/a' ? { replacedBy: 'other' } : undefined;
    const context = contextIn();
    expect(await copyTree(context, down())).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(failures(context)).toEqual([['a', 'io']]);
    expect(arrived()).toEqual(['b']);
  });

  it('that changes while its ranges are read never arrives as a mixture', async () => {
    store.objects.set('tree/large', Buffer.alloc(20 * 1024 * 1024, 'a'));
    store.fault = ({ key, method, times }) =>
      method === 'GET' && key === 'tree/large' && times === 2
        ? { replacedBy: 'b'.repeat(20 * 1024 * 1024) }
        : undefined;
    const context = contextIn();
    expect(await copyTree(context, down())).toMatchObject({ copiedFiles: 0, failed: 1 });
    expect(arrived()).toEqual([]);
    store.fault = () => undefined;
    expect(await copyTree(contextIn(), down())).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(readFileSync(sandbox.path('down/large'), 'utf8').startsWith('bbb')).toBe(true);
  });

  it('that vanishes or cannot be read fails alone', async () => {
    put({ gone: 'g', secret: 's', fine: 'f' });
    store.fault = ({ key, method }) => {
      if (method !== 'GET') return undefined;
      if (key === 'tree/gone') return { status: 404, code: 'NoSuchKey' };
      return key === 'tree/secret' ? { status: 403, code: 'AccessDenied' } : undefined;
    };
    const context = contextIn();
    expect(await copyTree(context, down())).toMatchObject({ copiedFiles: 1, failed: 2 });
    expect(failures(context)).toEqual([
      ['gone', 'io'],
      ['secret', 'accessDenied'],
    ]);
  });

  it('that refuses a HEAD fails alone among the names of --files-from', async () => {
    put({ secret: 's', fine: 'f' });
    store.fault = ({ key, method }) =>
      method === 'HEAD' && key === 'tree/secret' ? { status: 403, code: 'AccessDenied' } : undefined;
    const context = contextIn();
    const filter = { filesFrom: ['fine', 'secret'] };
    expect(await copyTree(context, down({ filter }))).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(failures(context)).toEqual([['secret', 'accessDenied']]);
  });

  it('that does not match its etag is not written', async () => {
    put({ a: 'right', b: 'fine' });
    store.fault = ({ key, method }) => (method === 'GET' && key === 'tree/a' ? { spoiled: true } : undefined);
    const context = contextIn();
    expect(await copyTree(context, down())).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(failures(context)).toEqual([['a', 'damaged']]);
    expect(arrived()).toEqual(['b']);
  });

  it('whose connection breaks is requested again until it is whole', async () => {
    const content = 'c'.repeat(100_000);
    put({ cut: content, fine: content });
    store.fault = ({ key, method, times }) =>
      method === 'GET' && key === 'tree/cut' && times <= 2 ? { cutAfter: 50_000 } : undefined;
    expect(await copyTree(contextIn(), down())).toMatchObject({ copiedFiles: 2, failed: 0 });
    expect(store.log.filter((line) => line === 'GET tree/cut')).toHaveLength(3);
    expect(readFileSync(sandbox.path('down/cut'), 'utf8')).toBe(content);
  });

  it('shorter than its listed size is not accepted', async () => {
    put({ a: 'a'.repeat(1_000), b: 'fine' });
    store.fault = ({ key, method }) => (method === 'GET' && key === 'tree/a' ? { announced: 10 } : undefined);
    const context = contextIn();
    expect(await copyTree(context, down())).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(arrived()).toEqual(['b']);
  });
});

describe('A store', () => {
  it('that asks for fewer requests gets fewer, and every file arrives', async () => {
    mkdirSync(sandbox.path('up'), { recursive: true });
    for (let at = 0; at < 60; at += 1) sandbox.write(`up/f${at}`, `content ${at}`);
    store.fault = ({ key, method, times }) =>
      method === 'PUT' && times === 1 && key.endsWith('7') ? { status: 503, code: 'SlowDown' } : undefined;
    expect(await copyTree(contextIn(), up())).toMatchObject({ copiedFiles: 60, failed: 0 });
    expect(store.objects.size).toBe(60);
  });

  it('that refuses some keys makes those fail, and a sync then deletes nothing', async () => {
    for (const name of ['a', 'b', 'c']) sandbox.write(`up/${name}`, name);
    put({ extra: 'extra' });
    store.fault = ({ key, method }) =>
      method === 'PUT' && key === 'tree/b' ? { status: 403, code: 'AccessDenied' } : undefined;
    const context = contextIn();
    await expect(syncTree(context, up())).rejects.toMatchObject({ code: 'partial' });
    expect(failures(context)).toEqual([['b', 'accessDenied']]);
    expect([...store.objects.keys()].sort()).toEqual(['tree/a', 'tree/c', 'tree/extra']);
  });

  it('that rejects the credentials during a run ends the run', async () => {
    for (let at = 0; at < 50; at += 1) sandbox.write(`up/f${at}`, `content ${at}`);
    let puts = 0;
    store.fault = ({ method }) => {
      if (method === 'PUT') puts += 1;
      return method === 'PUT' && puts > 10 ? { status: 400, code: 'ExpiredToken' } : undefined;
    };
    const context = contextIn();
    await expect(copyTree(context, up())).rejects.toMatchObject({ code: 'accessDenied' });
    expect(failures(context)).toEqual([]);
    store.fault = () => undefined;
    expect(await copyTree(contextIn(), up())).toMatchObject({ failed: 0 });
    expect(store.objects.size).toBe(50);
  });

  it('whose clock differs makes the copy fail with clock skew', async () => {
    sandbox.write('up/a', 'a');
    store.fault = () => ({
      status: 403,
      code: 'RequestTimeTooSkewed',
      headers: { date: 'Fri, 13 Nov 2020 10:00:00 GMT' },
    });
    await expect(copyTree(contextIn(), up())).rejects.toMatchObject({ code: 'clockSkew' });
  });

  it('without etags can be copied from and to', async () => {
    store.etags = false;
    put({ a: 'aaa', 'b/c': 'ccc' });
    expect(await copyTree(contextIn(), down())).toMatchObject({ copiedFiles: 2, failed: 0 });
    expect(arrived()).toEqual(['a', 'b/c']);
    sandbox.write('up/new', 'n');
    expect(await copyTree(contextIn(), up())).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(Buffer.from(store.objects.get('tree/new')!).toString()).toBe('n');
  });

  it("that lists in no order is sorted first, as a source and as a sync's destination", async () => {
    store.listing = 'shuffled';
    put({ c: 'c', a: 'a', 'b/x': 'x', 'b-': '-' });
    expect(await copyTree(contextIn(), down())).toMatchObject({ copiedFiles: 4, failed: 0 });
    expect(arrived()).toEqual(['a', 'b-', 'b/x', 'c']);
    for (const name of ['a', 'b-', 'n1', 'n2']) sandbox.write(`up/${name}`, name === 'a' ? 'a' : name);
    const synced = await syncTree(contextIn(), up());
    expect(synced).toMatchObject({ failed: 0, deletedFiles: 2 });
    expect([...store.objects.keys()].sort()).toEqual(['tree/a', 'tree/b-', 'tree/n1', 'tree/n2']);
    const context = contextIn();
    sandbox.write('up/n2', 'N2');
    const checked = await checkTrees(context, up());
    expect(checked).toMatchObject({ same: 3, differing: 1, onlyInSource: 0, onlyInDestination: 0 });
    const compared = context.events.filter(({ type }) => type === 'compared');
    expect(compared.map((event) => 'path' in event && event.path)).toHaveLength(4);
  });

  it('that stops listing half-way makes a sync fail before it deletes anything', async () => {
    for (let at = 0; at < 1_500; at += 1)
      store.objects.set(`tree/f${String(at).padStart(5, '0')}`, Buffer.from('x'));
    sandbox.write('up/other', 'o');
    store.fault = ({ query }) =>
      query.has('list-type') && (query.has('continuation-token') || query.has('start-after'))
        ? { status: 403, code: 'AccessDenied' }
        : undefined;
    await expect(syncTree(contextIn(), { ...up(), maxDelete: { percent: 100 } })).rejects.toMatchObject({
      code: 'accessDenied',
    });
    expect(store.objects.size).toBeGreaterThanOrEqual(1_500);
  });
});

describe('A store that refuses server-side copies', () => {
  /** More than are in flight at once, so that some start after the first refusal. */
  const OBJECTS = 1_500;
  const inside = (): CopyRequest => ({
    source: { place: `s3://${store.bucket}/tree` },
    destination: { place: `s3://${store.bucket}/there` },
  });
  const countOf = (method: string) => store.log.filter((line) => line.startsWith(`${method} there/`)).length;
  beforeEach(() => {
    for (let at = 0; at < OBJECTS; at += 1) store.objects.set(`tree/${at}`, Buffer.from(`object ${at}`));
  });

  it('of archived objects copies all others', async () => {
    const archived = { status: 403, code: 'InvalidObjectState' };
    const first = new Set(Array.from({ length: 20 }, (_, at) => String(at)));
    store.fault = ({ key, method }) => {
      const [tree, name = ''] = key.split('/');
      return first.has(name) && (method === 'COPY' || (method === 'GET' && tree === 'tree'))
        ? archived
        : undefined;
    };
    const context = contextIn();
    expect(await copyTree(context, inside())).toMatchObject({
      copiedFiles: OBJECTS - first.size,
      copiedInStore: OBJECTS - first.size,
      failed: first.size,
    });
    expect(new Set(failures(context).map(([path]) => path))).toEqual(first);
    expect(countOf('PUT')).toBe(0);
  });

  it('of every object is not asked again, and the bytes go through this machine', async () => {
    store.fault = ({ method }) => (method === 'COPY' ? { status: 403, code: 'AccessDenied' } : undefined);
    expect(await copyTree(contextIn(), inside())).toMatchObject({
      copiedFiles: OBJECTS,
      copiedInStore: 0,
      failed: 0,
    });
    expect(countOf('PUT')).toBe(OBJECTS);
    expect(countOf('COPY')).toBeLessThan(OBJECTS);
  });
});
