import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeS3, startFakeS3 } from '../../../e2e/servers/fake-s3.ts';
import type { EntryView } from '../../api/host/browse.ts';
import type { HostEvent } from '../../api/host.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

let fixture: HostFixture;
let folder: string;
beforeEach(() => {
  fixture = createHostFixture();
  folder = fixture.sandbox.path('files');
  mkdirSync(folder);
});
afterEach(() => fixture[Symbol.asyncDispose]());

const open = async (place = `${folder}/`) => (await fixture.client.ask('browse.open', { place })).list;
const rows = (list: string, view: EntryView = {}, offset = 0) =>
  fixture.client.ask('browse.rows', { list, view, offset, limit: 500 });
const names = async (list: string, view: EntryView = {}) =>
  (await rows(list, view)).rows.map(({ path }) => path);

describe('the listing of a folder', () => {
  it('is sorted by name, with numbers by value and without regard to case and accents', async () => {
    for (const name of ['b10', 'B9', 'a', 'zebra', 'Über', 'b010x', 'élan', 'f2/x', 'f10/x', '_'])
      fixture.sandbox.write(`files/${name}`, name);
    const list = await open();
    expect(await names(list)).toEqual([
      'f2/',
      'f10/',
      '_',
      'a',
      'B9',
      'b10',
      'b010x',
      'élan',
      'Über',
      'zebra',
    ]);
    expect((await names(list, { isDescending: true })).slice(0, 4)).toEqual(['f10/', 'f2/', 'zebra', 'Über']);
  });

  it('is sorted by size and time, filtered by a part of the name, and totals the filtered bytes', async () => {
    for (const [name, size] of [
      ['one.txt', 30],
      ['two.TXT', 10],
      ['three.csv', 20],
    ] as const)
      fixture.sandbox.write(`files/${name}`, 'x'.repeat(size));
    const list = await open();
    expect(await names(list, { sort: 'size' })).toEqual(['two.TXT', 'three.csv', 'one.txt']);
    expect((await names(list, { sort: 'time' })).length).toBe(3);
    expect(await rows(list, { filter: '.txt' })).toMatchObject({ total: 2, bytes: 40 });
    const seek = (sought: { startsWith: string } | { path: string }) =>
      fixture.client.ask('browse.seek', { list, view: {}, sought });
    expect(await seek({ startsWith: 'TW' })).toEqual({ index: 2 });
    expect(await seek({ path: 'three.csv' })).toEqual({ index: 1 });
    expect(await seek({ startsWith: 'four' })).toEqual({});
    const found = await fixture.client.ask('browse.find', { list, paths: ['three.csv', 'gone'] });
    expect(found.rows.map(({ path }) => path)).toEqual(['three.csv']);
  });

  it('returns each of many names once, in pages of any offset', async () => {
    for (let at = 0; at < 2_345; at += 1) fixture.sandbox.write(`files/${at}`, '');
    const list = await open();
    const all: string[] = [];
    for (let offset = 0; offset < 2_500; offset += 500)
      all.push(...(await rows(list, {}, offset)).rows.map(({ path }) => path));
    expect(all).toEqual(Array.from({ length: 2_345 }, (_, at) => String(at)));
  });

  it('cannot be read after it or its window was closed', async () => {
    const list = await open();
    await fixture.client.ask('browse.close', { list });
    await expect(rows(list)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('copies and removes the entries that match a filter, without the exceptions', async () => {
    for (const name of ['a,1.log', 'b{2}.LOG', 'kept.log', 'other.txt', 'old.log.d/inside.txt'])
      fixture.sandbox.write(`files/${name}`, name);
    const list = await open();
    const all = { list, filter: '.log', except: ['kept.log'] };
    const there = fixture.sandbox.path('there');
    mkdirSync(there);
    fixture.sandbox.write('there/b{2}.LOG', 'another');
    const taken = await fixture.client.ask('browse.taken', { place: `${there}/`, all });
    expect(taken).toEqual({ names: ['b{2}.LOG'], total: 1 });
    const order = { kind: 'copy', source: `${folder}/`, destination: `${there}/` } as const;
    const { filter, except } = all;
    const { id } = await fixture.client.ask('transfers.start', { ...order, filter, except });
    await transferIn(fixture.client, id, ['done']);
    expect(readdirSync(there).sort()).toEqual(['a,1.log', 'b{2}.LOG', 'old.log.d']);
    expect(existsSync(`${there}/old.log.d/inside.txt`)).toBe(true);
    expect(await fixture.client.ask('browse.remove', { all })).toEqual({ removed: 3 });
    expect(readdirSync(folder).sort()).toEqual(['kept.log', 'other.txt']);
  });
});

describe('the listing of a store', () => {
  let store: FakeS3;
  beforeEach(async () => {
    store = await startFakeS3();
    for (let at = 0; at < 3_500; at += 1)
      store.objects.set(`many/file-${String(at).padStart(4, '0')}`, new Uint8Array(at % 7));
    fixture.host.setEnvironment({ ...fixture.environment, ...store.environment });
  });
  afterEach(() => store[Symbol.asyncDispose]());
  const place = () => `s3://${store.bucket}/many/`;
  const pages = () => store.log.filter((line) => line === 'GET ').length;

  it('has rows after the first page, stops on request, and continues from there', async () => {
    const stopping = new AbortController();
    let list = '';
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const onEvents = (events: readonly HostEvent[]) => {
      for (const event of events) {
        if (event.type !== 'listing') continue;
        list = event.list;
        stopping.abort();
        release();
      }
    };
    const opening = fixture.client.ask(
      'browse.open',
      { place: place() },
      { signal: stopping.signal, onEvents },
    );
    await expect(opening).rejects.toMatchObject({ code: 'aborted' });
    await held;
    const { total } = await rows(list);
    expect(total).toBeGreaterThanOrEqual(1_000);
    const answer = await fixture.client.ask('browse.open', { place: place(), resume: list });
    expect(answer).toMatchObject({ list, total: 3_500, isCut: false });
    // One request for each thousand, and one more for each stop at most.
    expect(pages()).toBeLessThanOrEqual(5);
    expect((await rows(list, { filter: 'file-34' })).total).toBe(100);
  });

  it('keeps its rows when a page fails, and continues from there', async () => {
    let isDown = true;
    store.fault = ({ query }) =>
      isDown && query.has('continuation-token') ? { status: 403, code: 'AccessDenied' } : undefined;
    let list = '';
    const onEvents = (events: readonly HostEvent[]) => {
      for (const event of events) if (event.type === 'listing') list = event.list;
    };
    const opening = fixture.client.ask('browse.open', { place: place() }, { onEvents });
    await expect(opening).rejects.toMatchObject({ code: 'accessDenied' });
    expect(await rows(list)).toMatchObject({ total: 1_000 });
    isDown = false;
    expect(await fixture.client.ask('browse.open', { place: place(), resume: list })).toMatchObject({
      total: 3_500,
    });
  });

  it('removes all entries in batches without sending their names to the window', async () => {
    const list = await open(place());
    store.log.length = 0;
    const removed = await fixture.client.ask('browse.remove', {
      all: { list, filter: '', except: ['file-0007'] },
    });
    expect(removed).toEqual({ removed: 3_499 });
    expect([...store.objects.keys()]).toEqual(['many/file-0007']);
    // Whether it lies in a repository takes one request for each folder above.
    const asked = ['HEAD dray.json', 'HEAD many/dray.json'];
    expect(store.log.toSorted()).toEqual([...asked, 'POST ', 'POST ', 'POST ', 'POST ']);
  });
});
