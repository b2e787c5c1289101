import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pull } from '../jobs/pull/pull.ts';
import { push } from '../jobs/push/push.ts';
import { onlyKey, spoilObject } from '../jobs/session/damage.fixture.ts';
import { testContext } from '../jobs/session/job.fixture.ts';
import { bandwidthNow } from './bandwidth.ts';
import { createHostFixture, type HostFixture, transferIn } from './host.fixture.ts';

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function cloneInto(name: string, end: 'done' | 'failed') {
  const { client, sandbox } = fixture;
  const order = { kind: 'clone', url: sandbox.path('work-remote'), root: sandbox.path(name) } as const;
  const { id } = await client.ask('transfers.start', order);
  return transferIn(client, id, [end]);
}

describe('home', () => {
  it('creates a workspace with a folder as its remote, and shows what was pushed without a scan', async () => {
    const { client, sandbox } = fixture;
    const root = sandbox.path('data');
    const remoteUrl = sandbox.path('remote');
    const mistyped = client.ask('home.createWorkspace', { root, remoteUrl });
    await expect(mistyped).rejects.toMatchObject({ code: 'notFound' });
    expect(existsSync(root)).toBe(false);
    const made = await client.ask('home.createWorkspace', { root, remoteUrl, createsFolder: true });
    expect(made).toEqual({
      root,
      name: 'data',
      state: 'ready',
      branch: 'main',
      remotes: [{ name: 'origin', url: expect.stringContaining('remote'), isDefault: true }],
    });
    sandbox.write('data/a.txt', 'twelve bytes');
    await push(testContext(root), {});
    const { workspaces } = await client.ask('home.list', {});
    expect(workspaces).toMatchObject([
      { root, files: 1, bytes: 12, commit: expect.any(String), lastPush: expect.stringMatching(/^2\d{3}-/) },
    ]);
  });

  it('clones, and adds an existing workspace, also from a folder inside it', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('work/inside/a.txt', 'a');
    await push(testContext(root), {});
    expect(await client.ask('home.addWorkspace', { root: join(root, 'inside') })).toMatchObject({ root });
    await cloneInto('cloned', 'done');
    const { workspaces } = await client.ask('home.list', {});
    expect(workspaces).toMatchObject([{ name: 'cloned', state: 'ready', files: 1 }, { name: 'work' }]);
  });

  it('says which part a workspace holds, and continues the clone of a part', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('work/in/a.txt', 'a');
    sandbox.write('work/out/b.txt', 'b');
    await push(testContext(root), {});
    const order = {
      kind: 'clone',
      url: sandbox.path('work-remote'),
      root: sandbox.path('part'),
      only: ['in'],
    } as const;
    const cloneIt = async () => {
      const { id } = await client.ask('transfers.start', order);
      await transferIn(client, id, ['done']);
    };
    await cloneIt();
    const statePath = sandbox.path('part/.dray/state.json');
    const state = readFileSync(statePath, 'utf8');
    writeFileSync(statePath, JSON.stringify({ ...JSON.parse(state), bases: {}, cloning: {} }));
    const listed = async () =>
      (await client.ask('home.list', {})).workspaces.find(({ name }) => name === 'part');
    const clone = { ...order, url: expect.any(String) };
    expect(await listed()).toMatchObject({ state: 'unfinished', clone });
    await cloneIt();
    expect(await listed()).toMatchObject({ state: 'ready', only: ['in'] });
    sandbox.write('part/out/b.txt', 'mine');
    const { scope } = await client.ask('changes.status', { root: sandbox.path('part') });
    expect(scope).toEqual({ only: ['in'], outside: { count: 1, paths: ['out/b.txt'] } });
  });

  it('lists a clone with missing files as unfinished, with the order that fetches them', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('work/a.txt', 'the content of a');
    sandbox.write('work/b.txt', 'the content of b');
    await push(testContext(root), {});
    const remote = sandbox.path('work-remote');
    const key = onlyKey(remote, 'packs');
    const whole = readFileSync(join(remote, key));
    spoilObject(remote, key, whole.indexOf('of b'));
    expect(await cloneInto('cloned', 'failed')).toMatchObject({ failed: 1, error: { code: 'partial' } });
    const unfinished = async () => (await client.ask('home.list', {})).workspaces;
    const order = { kind: 'clone', url: expect.any(String), root: sandbox.path('cloned') };
    expect(await unfinished()).toMatchObject([{ name: 'cloned', state: 'unfinished', clone: order }]);
    // Also after its transfer was forgotten.
    const ids = (await fixture.host.transfers()).list().map(({ id }) => id);
    await client.ask('transfers.change', { ids, action: 'remove' });
    const [card] = await unfinished();
    expect(card).toMatchObject({ state: 'unfinished', clone: order });
    chmodSync(join(remote, key), 0o644);
    writeFileSync(join(remote, key), whole);
    const { id } = await client.ask('transfers.start', card!.clone!);
    await transferIn(client, id, ['done']);
    expect(await unfinished()).toMatchObject([{ name: 'cloned', state: 'ready', files: 2 }]);
    expect(readFileSync(sandbox.path('cloned/b.txt'), 'utf8')).toBe('the content of b');
  });

  it('lists a clone that has not written a file yet, and removes it with its transfer', async () => {
    const { client, sandbox } = fixture;
    const root = sandbox.path('cloned');
    const order = { kind: 'clone', url: sandbox.path('nothing'), root } as const;
    const { id } = await client.ask('transfers.start', order);
    await transferIn(client, id, ['failed']);
    const { workspaces } = await client.ask('home.list', {});
    expect(workspaces).toEqual([{ root, name: 'cloned', state: 'unfinished', remotes: [], clone: order }]);
    await client.ask('home.removeWorkspace', { root });
    expect(await client.ask('home.list', {})).toEqual({ workspaces: [] });
    expect((await fixture.host.transfers()).list()).toEqual([]);
    expect(existsSync(root)).toBe(false);
  });

  it('refuses a clone into an unsuitable folder before it is queued', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('full/file', 'mine');
    const url = sandbox.path('work-remote');
    for (const [at, code] of [
      [root, 'workspaceExists'],
      [join(root, 'inside'), 'workspaceExists'],
      [sandbox.path('full'), 'usage'],
      [sandbox.path('full/file'), 'usage'],
    ] as const) {
      const checked = client.ask('home.checkFolder', { root: at, use: 'clone' });
      await expect(checked).rejects.toMatchObject({ code });
    }
    const started = client.ask('transfers.start', { kind: 'clone', url, root: sandbox.path('full') });
    await expect(started).rejects.toMatchObject({ code: 'usage' });
    expect((await fixture.host.transfers()).list()).toEqual([]);
    const fresh = await client.ask('home.checkFolder', { root: sandbox.path('new'), use: 'clone' });
    expect(fresh).toEqual({ exists: false });
  });

  it('forgets a workspace without touching it, and reports a missing one', async () => {
    const { client } = fixture;
    const root = await fixture.workspace();
    const other = await fixture.workspace('other');
    for (const each of [root, other]) await client.ask('home.addWorkspace', { root: each });
    rmSync(other, { recursive: true });
    const before = await client.ask('home.list', {});
    expect(before.workspaces.map(({ name, state }) => [name, state])).toEqual([
      ['other', 'missing'],
      ['work', 'ready'],
    ]);
    await client.ask('home.removeWorkspace', { root: other });
    await client.ask('home.removeWorkspace', { root });
    expect(await client.ask('home.list', {})).toEqual({ workspaces: [] });
    expect(await client.ask('home.addWorkspace', { root })).toMatchObject({ state: 'ready' });
  });

  it('counts what is incoming and outgoing, until a push or pull makes the counts stale', async () => {
    const { client, sandbox } = fixture;
    const mine = await fixture.workspace();
    sandbox.write('work/a.txt', 'a');
    await push(testContext(mine), {});
    await cloneInto('theirs', 'done');
    const theirs = sandbox.path('theirs');
    await client.ask('home.addWorkspace', { root: mine });
    for (const name of ['b', 'c']) {
      sandbox.write(`theirs/${name}`, name);
      await push(testContext(theirs), {});
    }
    sandbox.write('work/mine.txt', 'mine');
    await client.ask('changes.status', { root: mine });
    const look = async () => {
      const { looks } = await client.ask('home.look', { maxAgeMs: 60_000 });
      return looks.find(({ root }) => root === mine);
    };
    const incoming = { commits: 2, isMore: false, isRewritten: false };
    expect(await look()).toMatchObject({ hasIncoming: true, incoming, outgoing: 1 });
    await push(testContext(mine), {});
    // The push was merged, and the workspace stays on its own commit. Its files were not counted since.
    const merged = await look();
    expect(merged).toMatchObject({ hasIncoming: true, incoming: { ...incoming, commits: 3 } });
    expect(merged).not.toHaveProperty('outgoing');
    await pull(testContext(mine), {});
    const pulled = await look();
    expect(pulled).toMatchObject({ hasIncoming: false });
    expect(pulled).not.toHaveProperty('isGone');
    expect(pulled).not.toHaveProperty('incoming');
    rmSync(sandbox.path('work-remote/refs/heads/main'));
    const { looks } = await client.ask('home.look', { maxAgeMs: 0, isAsked: true });
    expect(looks.find(({ root }) => root === mine)).toMatchObject({ hasIncoming: false, isGone: true });
  });

  it('lists folders without hidden ones, and marks workspaces', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    for (const name of ['b', 'A', '.hidden']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'file'), '');
    symlinkSync(join(root, 'b'), join(root, 'link'));
    symlinkSync(join(root, 'file'), join(root, 'link-to-file'));
    const listing = await client.ask('home.listFolders', { folder: root });
    expect(listing).toEqual({
      folder: root,
      parent: sandbox.folder,
      folders: ['A', 'b', 'link'],
      isWorkspace: true,
    });
    const missing = client.ask('home.listFolders', { folder: join(root, 'nothing') });
    await expect(missing).rejects.toMatchObject({ code: 'notFound' });
  });
});

describe('settings', () => {
  it('survive a new host; a damaged file is set aside', async () => {
    const { client, host } = fixture;
    await client.ask('settings.set', {
      theme: 'dark',
      bandwidth: { limit: 1_000_000, from: '08:00', to: '18:00' },
    });
    const second = fixture.reopen();
    expect(await second.client.ask('settings.get', {})).toEqual({
      theme: 'dark',
      density: 'comfortable',
      bandwidth: { limit: 1_000_000, from: '08:00', to: '18:00' },
      transfers: null,
      notifications: true,
      looksForIncoming: true,
    });
    second.client.close();
    const path = join(host.folder, 'window.json');
    writeFileSync(path, '{"workspaces": 5}');
    expect((await client.ask('settings.get', {})).theme).toBe('system');
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('5');
  });

  it("keep each table's columns, over another host and beside another table's, until they are reset", async () => {
    const { client } = fixture;
    const size = { id: 'size', widthPx: 120 } as const;
    const hidden = { id: 'kind', isHidden: true } as const;
    await client.ask('settings.keepColumns', { table: 'browse', columns: [size] });
    await client.ask('settings.keepColumns', { table: 'changes', columns: [hidden] });
    await client.ask('settings.set', { theme: 'dark' });
    const second = fixture.reopen();
    const { columns } = await second.client.ask('settings.get', {});
    second.client.close();
    expect(columns).toEqual({ browse: [size], changes: [hidden] });
    await client.ask('settings.keepColumns', { table: 'browse', columns: [] });
    expect((await client.ask('settings.get', {})).columns).toEqual({ changes: [hidden] });
    const wide = { id: 'size', widthPx: 100_000 } as const;
    await expect(
      client.ask('settings.keepColumns', { table: 'browse', columns: [wide] }),
    ).rejects.toMatchObject({ code: 'usage' });
  });

  it('refuse an invalid time', async () => {
    const bandwidth = { limit: 5000, from: '25:00', to: '07:00' };
    await expect(fixture.client.ask('settings.set', { bandwidth })).rejects.toMatchObject({
      code: 'usage',
      data: { field: 'bandwidth.from' },
    });
  });

  it('limit bandwidth by the hour, also over midnight', () => {
    const at = (time: string) => new Date(`2026-01-01T${time}:00`);
    const day = { limit: 10, from: '08:00', to: '18:00' };
    const night = { limit: 10, from: '22:00', to: '06:00' };
    expect(
      [at('07:59'), at('08:00'), at('17:59'), at('18:00')].map((time) => bandwidthNow(day, time)),
    ).toEqual([undefined, 10, 10, undefined]);
    expect(
      [at('21:59'), at('23:00'), at('05:59'), at('06:00')].map((time) => bandwidthNow(night, time)),
    ).toEqual([undefined, 10, 10, undefined]);
    expect(bandwidthNow({ limit: 10 }, at('00:00'))).toBe(10);
    expect(bandwidthNow({ ...day, limit: null }, at('12:00'))).toBeUndefined();
  });
});
