import { appendFileSync, chmodSync, cpSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FolderEvent } from '../../api/host/changes.ts';
import type { HostEvent } from '../../api/host.ts';
import { cloneWorkspace } from '../../jobs/pull/clone.ts';
import { push } from '../../jobs/push/push.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';

let fixture: HostFixture;
let root: string;
beforeEach(async () => {
  fixture = createHostFixture();
  root = await fixture.workspace();
  const { sandbox } = fixture;
  sandbox.write('work/a.txt', 'first line\n');
  sandbox.write('work/b.txt', 'bbb');
  sandbox.write('work/folder/moved.bin', 'moved content');
  sandbox.write('work/gone.txt', 'gone');
  await push(testContext(root), {});
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function change() {
  const { sandbox } = fixture;
  appendFileSync(join(root, 'a.txt'), 'second line\n');
  chmodSync(join(root, 'b.txt'), 0o755);
  sandbox.write('work/new/big.bin', 'x'.repeat(1000));
  renameSync(join(root, 'folder/moved.bin'), join(root, 'folder/to.bin'));
  unlinkSync(join(root, 'gone.txt'));
}

describe('the changes of a push', () => {
  it('come as rows with totals, by offset, filter, kind and size', async () => {
    await change();
    const { client } = fixture;
    const opened = await client.ask('changes.open', { root, direction: 'push' });
    expect(opened).toMatchObject({
      totals: { added: 1, modified: 1, deleted: 1, renamed: 1, mode: 1 },
      conflicts: 0,
      failed: 0,
    });
    const rows = (view: object, offset = 0, limit = 500) =>
      client.ask('changes.rows', { root, list: opened.list, offset, limit, view });
    const all = await rows({});
    expect(all.total).toBe(5);
    expect(all.rows).toEqual([
      { change: 'modified', path: 'a.txt', kind: 'file', sizeBytes: 23, oldSizeBytes: 11 },
      { change: 'mode', path: 'b.txt', kind: 'file', sizeBytes: 3 },
      { change: 'renamed', path: 'folder/to.bin', fromPath: 'folder/moved.bin', kind: 'file', sizeBytes: 13 },
      { change: 'deleted', path: 'gone.txt', kind: 'file', sizeBytes: 4 },
      { change: 'added', path: 'new/big.bin', kind: 'file', sizeBytes: 1000 },
    ]);
    expect(await rows({}, 3, 1)).toEqual({ total: 5, rows: [all.rows[3]] });
    expect((await rows({ filter: 'MOVED' })).rows.map(({ path }) => path)).toEqual(['folder/to.bin']);
    expect((await rows({ kinds: ['deleted', 'mode'] })).total).toBe(2);
    expect((await rows({ sort: 'size' })).rows[0]?.path).toBe('new/big.bin');
    expect(await rows({ filter: 'nothing has it' })).toEqual({ total: 0, rows: [] });
  });

  it('mark a folder as deleted only if no file of it is kept, also in a pull', async () => {
    const { client, sandbox } = fixture;
    const goneFolders = async (direction: 'push' | 'pull', at = root) => {
      const { list } = await client.ask('changes.open', { root: at, direction });
      const view = { open: ['', 'all/'] };
      const { rows } = await client.ask('changes.rows', { root: at, list, offset: 0, limit: 50, view });
      return rows.filter(({ below }) => below).map(({ below, path }) => [path, below?.isGone ?? false]);
    };
    for (const path of ['all/deep/1', 'all/2', 'some/1', 'some/2']) sandbox.write(`work/${path}`, path);
    await push(testContext(root), {});
    const clone = sandbox.path('clone');
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('work-remote'), directory: clone });
    rmSync(join(root, 'all'), { recursive: true });
    unlinkSync(join(root, 'some/1'));
    const expected = [
      ['all/', true],
      ['all/deep/', true],
      ['some/', false],
    ];
    expect(await goneFolders('push')).toEqual(expected);
    await push(testContext(root), {});
    expect(await goneFolders('pull', clone)).toEqual(expected);
  });

  it('send only progress to the window, not each row', async () => {
    for (let at = 0; at < 200; at += 1) fixture.sandbox.write(`work/many/${at}`, `${at}`);
    const types = new Set<string>();
    await fixture.client.ask(
      'changes.open',
      { root, direction: 'push' },
      {
        onEvents: (events) => {
          for (const { type } of events) types.add(type);
        },
      },
    );
    expect(types).toEqual(new Set(['phase', 'progress']));
  });

  it('are replaced when they are reopened, and dropped when their window closes', async () => {
    const { client } = fixture;
    const first = await client.ask('changes.open', { root, direction: 'push' });
    const other = fixture.connect();
    const others = await other.ask('changes.open', { root, direction: 'push' });
    const second = await client.ask('changes.open', { root, direction: 'push' });
    const rowsOf = (list: string) =>
      client.ask('changes.rows', { root, list, offset: 0, limit: 1, view: {} });
    await expect(rowsOf(first.list)).rejects.toMatchObject({ code: 'notFound' });
    expect((await rowsOf(second.list)).total).toBe(0);
    expect((await rowsOf(others.list)).total).toBe(0);
    other.close();
    await expect.poll(() => rowsOf(others.list).catch((error) => error.code)).toBe('notFound');
    await client.ask('changes.close', { root, list: second.list });
    await expect(rowsOf(second.list)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('are kept while a window that uses them waits for the next ones', async () => {
    const { client } = fixture;
    const open = (using?: string) =>
      client.ask('changes.open', { root, direction: 'push', ...(using === undefined ? {} : { using }) });
    const rowsOf = (list: string) =>
      client.ask('changes.rows', { root, list, offset: 0, limit: 1, view: {} });
    const { list: shown } = await open();
    const { list: unseen } = await open(shown);
    const { list: next } = await open(shown);
    expect((await rowsOf(shown)).total).toBe(0);
    expect((await rowsOf(next)).total).toBe(0);
    await expect(rowsOf(unseen)).rejects.toMatchObject({ code: 'notFound' });
    await open(next);
    await expect(rowsOf(shown)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('show both sides of a file', async () => {
    await change();
    const preview = (path: string, fromPath?: string) =>
      fixture.client.ask('changes.preview', { root, path, ...(fromPath ? { fromPath } : {}) });
    const changed = await preview('a.txt');
    expect(changed.before).toMatchObject({ as: 'text', text: 'first line\n', facts: { sizeBytes: 11 } });
    expect(changed.after).toMatchObject({ as: 'text', text: 'first line\nsecond line\n' });
    const same = await preview('b.txt');
    expect(same.after?.facts.hash).toBe(same.before?.facts.hash);
    expect(Object.keys(await preview('gone.txt'))).toEqual(['before']);
    expect(Object.keys(await preview('new/big.bin'))).toEqual(['after']);
    const moved = await preview('folder/to.bin', 'folder/moved.bin');
    expect([moved.before, moved.after]).toMatchObject([{ text: 'moved content' }, { text: 'moved content' }]);
    for (const path of ['../outside', '/etc/passwd', 'a/../../b'])
      await expect(preview(path)).rejects.toMatchObject({ code: 'unsafePath' });
  });
});

describe('the changes of a pull', () => {
  it('mark conflicts, and show both sides of them', async () => {
    const { client, sandbox } = fixture;
    const theirs = sandbox.path('theirs');
    await cloneWorkspace(testContext(sandbox.folder), {
      url: sandbox.path('work-remote'),
      directory: theirs,
    });
    sandbox.write('theirs/a.txt', 'theirs');
    sandbox.write('theirs/added.txt', 'added');
    unlinkSync(join(theirs, 'gone.txt'));
    await push(testContext(theirs), {});
    sandbox.write('work/a.txt', 'ours, and longer');

    const opened = await client.ask('changes.open', { root, direction: 'pull' });
    expect(opened).toMatchObject({
      conflicts: 1,
      totals: { added: 1, modified: 0, deleted: 1 },
      commit: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { rows } = await client.ask('changes.rows', {
      root,
      list: opened.list,
      offset: 0,
      limit: 10,
      view: {},
    });
    expect(rows.map(({ change: kind, path }) => `${kind} ${path}`)).toEqual([
      'conflict a.txt',
      'added added.txt',
      'deleted gone.txt',
    ]);
    const sides = await client.ask('changes.preview', { root, path: 'a.txt', direction: 'pull' });
    expect([sides.before, sides.after]).toMatchObject([{ text: 'ours, and longer' }, { text: 'theirs' }]);
  });
});

describe('the plan of a push', () => {
  it('explains its cost, and changes nothing', async () => {
    await change();
    const plan = await fixture.client.ask('plan.push', { root });
    expect(plan).toMatchObject({
      query: { reason: expect.any(String), each: { requests: expect.any(Number) } },
      requests: { total: expect.any(Number) },
      // A folder costs nothing.
      isPriced: true,
      changes: { added: 1, deleted: 1 },
    });
    const opened = await fixture.client.ask('changes.open', { root, direction: 'push' });
    expect(opened.totals.added).toBe(1);
  });
});

describe('the watch of a folder', () => {
  it('says from when it misses no change, and lists made after it wait until then', async () => {
    const { client } = fixture;
    const stop = new AbortController();
    const news: FolderEvent[] = [];
    const options = {
      signal: stop.signal,
      onEvents: (events: readonly HostEvent[]) =>
        news.push(...events.filter((event) => event.type === 'folder')),
    };
    const watching = client.ask('changes.watch', { root }, options);
    const { lookedMs } = await client.ask('changes.open', { root, direction: 'push' });
    await vi.waitFor(() => expect(news.at(-1)).toMatchObject({ watchedMs: expect.any(Number) }), 60_000);
    expect(news[0]).toMatchObject({ unwatched: 'starting', changes: 0 });
    expect(news.at(-1)?.watchedMs).toBeLessThanOrEqual(lookedMs);
    await change();
    await vi.waitFor(() => expect(news.at(-1)?.changes).toBeGreaterThan(0), 60_000);
    stop.abort();
    await expect(watching).rejects.toMatchObject({ code: 'aborted' });
  });

  it('reports a push by another program, and watches another folder that took its path', async () => {
    const { client } = fixture;
    const stop = new AbortController();
    let news: FolderEvent | undefined;
    const watching = client.ask(
      'changes.watch',
      { root },
      {
        signal: stop.signal,
        onEvents: (events) => {
          news = events.findLast((event) => event.type === 'folder') ?? news;
        },
      },
    );
    const untilNews = async (act: () => unknown) => {
      const before = news?.changes ?? 0;
      await act();
      await vi.waitFor(() => {
        expect(news?.changes).toBeGreaterThan(before);
        expect(news?.unwatched).toBeUndefined();
      }, 60_000);
    };
    await vi.waitFor(() => expect(news?.watchedMs).toBeDefined(), 60_000);
    await untilNews(change);
    await untilNews(() => push(testContext(root), {}));
    await untilNews(() => {
      renameSync(root, `${root}.away`);
      cpSync(`${root}.away`, root, { recursive: true });
    });
    await untilNews(() => fixture.sandbox.write('work/later.txt', 'later'));
    stop.abort();
    await expect(watching).rejects.toMatchObject({ code: 'aborted' });
  });
});
