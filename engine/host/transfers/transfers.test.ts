import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TransferOrder } from '../../api/host/transfers.ts';
import { systemClock } from '../../base/clock.ts';
import { cloneWorkspace } from '../../jobs/pull/clone.ts';
import { push } from '../../jobs/push/push.ts';
import { remoteAdd } from '../../jobs/remotes/remotes.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { noise } from '../../peer/peer.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';
import { createHost } from '../host-state.ts';

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fixture[Symbol.asyncDispose]();
});

const start = async (order: TransferOrder) => (await fixture.client.ask('transfers.start', order)).id;
const change = (id: string, action: 'pause' | 'resume' | 'cancel' | 'retry' | 'remove' | 'up' | 'down') =>
  fixture.client.ask('transfers.change', { ids: [id], action });

/** A push that a bandwidth limit slows to a minute, so that the test can act half-way. */
async function slowPush(): Promise<TransferOrder> {
  await setLimit(64 * 1024);
  const root = await fixture.workspace('slow');
  for (let at = 0; at < 64; at += 1) fixture.sandbox.write(`slow/file-${at}`, noise(64 * 1024, at));
  return { kind: 'push', root };
}

const setLimit = (limit: number | null) => fixture.client.ask('settings.set', { bandwidth: { limit } });

describe('the queue of transfers', () => {
  it('runs a push, a pull, a restore, a copy and a sync, and keeps their summaries', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('work/a.txt', 'a');
    sandbox.write('work/b.txt', 'b');
    const pushed = await transferIn(
      client,
      await start({ kind: 'push', root, message: 'first', skip: ['b.txt'] }),
      ['done', 'failed'],
    );
    expect(pushed).toMatchObject({
      state: 'done',
      title: 'Push work',
      summary: { result: 'pushed', changes: { added: 1 } },
      requests: { total: expect.any(Number) },
      startedMs: expect.any(Number),
      endedMs: expect.any(Number),
    });

    const other = sandbox.path('other');
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('work-remote'), directory: other });
    sandbox.write('other/c.txt', 'c');
    await push(testContext(other), {});
    const pulled = await transferIn(client, await start({ kind: 'pull', root }), ['done', 'failed']);
    expect(pulled).toMatchObject({ state: 'done', summary: { result: 'pulled' } });
    expect(readFileSync(join(root, 'c.txt'), 'utf8')).toBe('c');

    writeFileSync(join(root, 'a.txt'), 'spoilt');
    const restored = await transferIn(client, await start({ kind: 'restore', root, paths: ['a.txt'] }), [
      'done',
      'failed',
    ]);
    expect(restored).toMatchObject({ state: 'done', summary: { restored: 1 } });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a');

    const destination = sandbox.path('copy');
    for (const kind of ['copy', 'sync'] as const) {
      const id = await start({ kind, source: other, destination });
      expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    }
    expect(readFileSync(join(destination, 'c.txt'), 'utf8')).toBe('c');
  });

  it('copies the named files of a folder, and lists the first few names', async () => {
    const { client, sandbox } = fixture;
    const names = Array.from({ length: 30 }, (_, at) => `f${at}`);
    for (const name of [...names, 'other']) sandbox.write(`from/${name}`, name);
    const ends = { source: `${sandbox.path('from')}/`, destination: `${sandbox.path('to')}/` };
    const id = await start({ kind: 'copy', ...ends, names });
    const done = await transferIn(client, id, ['done', 'failed']);
    expect(done).toMatchObject({
      state: 'done',
      title: 'Copy 30 files of from to to',
      order: { names: names.slice(0, 20) },
      summary: { copiedFiles: 30 },
    });
    expect(readdirSync(sandbox.path('to')).sort()).toEqual(names.toSorted());
  });

  it('uses the remote that Browse shows under a name, even if started in a workspace with a remote of that name', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    const [ofUser, ofWorkspace] = [sandbox.path('users/mine'), sandbox.path('workspaces/mine')];
    for (const folder of [ofUser, ofWorkspace]) mkdirSync(folder);
    await client.ask('remotes.add', { name: 'mine', url: ofUser });
    await remoteAdd(testContext(root), { name: 'mine', url: ofWorkspace });
    const source = sandbox.write('file', 'content');
    vi.spyOn(process, 'cwd').mockReturnValue(root);
    const id = await start({ kind: 'copy', source, destination: 'mine:below/' });
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    expect(readdirSync(join(ofUser, 'below'))).toEqual(['file']);
    expect(readdirSync(ofWorkspace)).toEqual([]);
  });

  it('ends with the error of its job, and runs again on demand', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    const id = await start({ kind: 'pull', root });
    const failed = await transferIn(client, id, ['failed']);
    expect(failed.error).toMatchObject({ code: 'notFound' });
    sandbox.write('work/a.txt', 'a');
    await push(testContext(root), {});
    await change(id, 'retry');
    const done = await transferIn(client, id, ['done']);
    expect(done.error).toBeUndefined();
  });

  it('lists the paths of a conflict', async () => {
    const { client, sandbox } = fixture;
    const root = await fixture.workspace();
    sandbox.write('work/a.txt', 'a');
    await push(testContext(root), {});
    const other = sandbox.path('other');
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('work-remote'), directory: other });
    sandbox.write('other/a.txt', 'theirs');
    await push(testContext(other), {});
    sandbox.write('work/a.txt', 'ours!');
    const failed = await transferIn(client, await start({ kind: 'push', root }), ['failed']);
    expect(failed).toMatchObject({ error: { code: 'conflict' }, failed: 1 });
    const { failures } = await client.ask('transfers.failures', { id: failed.id });
    expect(failures).toMatchObject([{ path: 'a.txt' }]);
    const decided = await start({ kind: 'pull', root, conflicts: 'theirs' });
    expect(await transferIn(client, decided, ['done'])).toMatchObject({ summary: { decided: 1 } });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs');
  });

  it('pauses, resumes and cancels', async () => {
    const { client } = fixture;
    const id = await start(await slowPush());
    await transferIn(client, id, ['running']);
    await change(id, 'pause');
    await transferIn(client, id, ['paused']);
    // Before it has stopped: it starts after that.
    await change(id, 'resume');
    await change(id, 'cancel');
    const ended = await transferIn(client, id, ['cancelled']);
    expect(ended.endedMs).toBeDefined();
    await setLimit(null);
    await change(id, 'retry');
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      summary: { result: 'pushed', changes: { added: 64 } },
    });
    await change(id, 'remove');
    expect((await fixture.host.transfers()).list()).toEqual([]);
    await expect(change(id, 'pause')).rejects.toMatchObject({ code: 'notFound' });
  });

  it('reports the end of a cancelled transfer again once it has stopped writing', async () => {
    const order = await slowPush();
    let nowMs = systemClock.nowMs();
    const nextMs = () => {
      nowMs += 1;
      return nowMs;
    };
    const host = createHost({
      environment: fixture.environment,
      clock: { ...systemClock, nowMs: nextMs },
    });
    try {
      const queue = await host.transfers();
      const id = queue.start(order);
      queue.change({ ids: [id], action: 'cancel' });
      const [{ endedMs, state } = {}] = queue.list();
      expect(state).toBe('cancelled');
      await expect.poll(() => queue.list()[0]?.endedMs).toBeGreaterThan(endedMs!);
    } finally {
      await host.close();
    }
  });

  it('removes partial uploads also of a waiting transfer', async () => {
    const { client, sandbox } = fixture;
    const order = await slowPush();
    const id = await start(order);
    await transferIn(client, id, ['running']);
    const next = await start(order);
    expect(await transferIn(client, next, ['waiting'])).toMatchObject({
      waitsFor: expect.stringContaining('“Push slow” has ended'),
    });
    await change(id, 'pause');
    await transferIn(client, next, ['running']);
    await change(id, 'resume');
    await transferIn(client, id, ['waiting']);
    await change(id, 'cancel');
    // A failed removal causes a warning, which shows that it was tried.
    renameSync(sandbox.path('slow-remote'), sandbox.path('gone'));
    await change(next, 'pause');
    const warnings = async () => (await transferIn(client, id, ['cancelled'])).warnings;
    await expect
      .poll(warnings, { timeout: 20_000 })
      .toEqual([expect.stringContaining('Parts of files may be left')]);
  });

  /** Both at one place: the first has begun and is paused, and the second is working. */
  const startTwo = async () => {
    const order = await slowPush();
    const paused = await start(order);
    await transferIn(fixture.client, paused, ['running']);
    await change(paused, 'pause');
    const running = await start(order);
    await transferIn(fixture.client, running, ['running']);
    return { paused, running };
  };

  it('removes partial uploads of a cancelled transfer once no other works in its place', async () => {
    const { host, sandbox } = fixture;
    const { paused, running } = await startTwo();
    const isAtWork = () => existsSync(sandbox.path('slow', '.dray', 'lock'));
    await expect.poll(isAtWork).toBe(true);
    // Every start asks how to connect.
    const begun: { readonly besideAnother: boolean }[] = [];
    const { connectionFlags } = host;
    host.connectionFlags = () => {
      begun.push({ besideAnother: isAtWork() });
      return connectionFlags();
    };
    await change(paused, 'cancel');
    await import('../../jobs/one-place/drop-uploads.ts');
    await change(running, 'pause');
    await expect.poll(() => begun, { timeout: 20_000 }).toEqual([{ besideAnother: false }]);
  });

  it('removes partial uploads of a cancelled transfer even if the host ended before it could', async () => {
    const { sandbox } = fixture;
    const { paused } = await startTwo();
    await change(paused, 'cancel');
    await fixture.host.close();
    renameSync(sandbox.path('slow-remote'), sandbox.path('gone'));
    const host = createHost({ environment: fixture.environment, clock: systemClock });
    try {
      const queue = await host.transfers();
      const warnings = () => queue.list().find(({ id }) => id === paused)?.warnings;
      await expect
        .poll(warnings, { timeout: 20_000 })
        .toEqual([expect.stringContaining('Parts of files may be left')]);
    } finally {
      await host.close();
    }
  });

  it('starts no transfer in the place of a removed one until that has stopped', async () => {
    const queue = await fixture.host.transfers();
    const order = await slowPush();
    const id = queue.start(order);
    queue.change({ ids: [id], action: 'cancel' });
    queue.change({ ids: [id], action: 'remove' });
    const next = queue.start(order);
    expect(queue.list()).toMatchObject([{ id: next, state: 'waiting' }]);
    await transferIn(fixture.client, next, ['running']);
  });

  it('changes hundreds at once, skipping those that no longer exist', async () => {
    const queue = await fixture.host.transfers();
    const root = await fixture.workspace();
    const known = Array.from({ length: 110 }, () => queue.start({ kind: 'pull', root }));
    const ids = [...known, ...Array.from({ length: 600 }, () => randomUUID())];
    await fixture.client.ask('transfers.change', { ids, action: 'cancel' });
    await expect
      .poll(() => queue.list().filter(({ endedMs }) => endedMs === undefined), { timeout: 20_000 })
      .toEqual([]);
    // The queue drops the oldest ended transfers.
    expect(queue.list().length).toBeLessThan(known.length);
    await fixture.client.ask('transfers.change', { ids, action: 'remove' });
    expect(queue.list()).toEqual([]);
    await expect(change(known[0]!, 'remove')).rejects.toMatchObject({ code: 'notFound' });
  });

  it('puts removed transfers back where they were', async () => {
    const queue = await fixture.host.transfers();
    const root = await fixture.workspace();
    const known = Array.from({ length: 5 }, () => queue.start({ kind: 'pull', root }));
    queue.change({ ids: 'all', action: 'cancel' });
    const listed = () => queue.list().map(({ id }) => id);
    const ids = [known[1]!, known[2]!, known[4]!];
    const { client } = fixture;
    expect(await client.ask('transfers.change', { ids, action: 'remove' })).toEqual({ removed: ids });
    expect(listed()).toEqual([known[0], known[3]]);
    expect(await client.ask('transfers.change', { ids, action: 'putBack' })).toEqual({});
    expect(listed()).toEqual(known);
    await expect(client.ask('transfers.change', { ids, action: 'putBack' })).rejects.toMatchObject({
      code: 'notFound',
    });
    expect(listed()).toEqual(known);
  });

  it('opens the queue once the obstacle is gone', async () => {
    const path = join(fixture.host.folder, 'transfers.json');
    mkdirSync(path, { recursive: true });
    const root = await fixture.workspace();
    await expect(start({ kind: 'pull', root })).rejects.toMatchObject({ code: 'io' });
    rmSync(path, { recursive: true });
    const id = await start({ kind: 'pull', root });
    // The state is saved, so the first try left no lock behind.
    expect(readFileSync(path, 'utf8')).toContain(id);
  });

  it('runs two at once, never two in one workspace, in an order that can be changed', async () => {
    const roots = await Promise.all(['one', 'two', 'three'].map((name) => fixture.workspace(name)));
    const [one, two, three] = roots as [string, string, string];
    for (const name of ['one', 'two', 'three']) fixture.sandbox.write(`${name}/file`, name);
    const queue = await fixture.host.transfers();
    const ids = [one, one, two, three, three].map((root) => queue.start({ kind: 'push', root }));
    const states = () => queue.list().map(({ state }) => state);
    expect(states()).toEqual(['running', 'waiting', 'running', 'waiting', 'waiting']);
    queue.change({ ids: [ids[4]!], action: 'up' });
    expect(queue.list().map(({ id }) => id)).toEqual([ids[0], ids[1], ids[2], ids[4], ids[3]]);
    queue.change({ ids: [ids[0]!, ids[1]!], action: 'up' });
    expect(
      queue
        .list()
        .map(({ id }) => id)
        .slice(0, 2),
    ).toEqual([ids[0], ids[1]]);
    queue.change({ ids: [ids[0]!, ids[1]!], action: 'down' });
    expect(
      queue
        .list()
        .map(({ id }) => id)
        .slice(0, 3),
    ).toEqual([ids[2], ids[0], ids[1]]);
    await expect.poll(states, { timeout: 20_000 }).toEqual(Array(5).fill('done'));
  });

  it('survives a restart: transfers resume after a proper end and after one kill, but not after two', async () => {
    const order = await slowPush();
    const id = await start(order);
    await transferIn(fixture.client, id, ['running']);
    const path = join(fixture.host.folder, 'transfers.json');
    const killed = readFileSync(path, 'utf8');
    expect(JSON.parse(killed).transfers).toMatchObject([{ id, state: 'running', order }]);

    await fixture.host.close();
    expect(JSON.parse(readFileSync(path, 'utf8')).transfers).toMatchObject([{ id, state: 'waiting' }]);
    const second = fixture.reopen();
    expect((await second.host.transfers()).list()).toMatchObject([{ id, state: 'running' }]);
    await second.host.close();

    writeFileSync(path, killed);
    const third = fixture.reopen();
    expect((await third.host.transfers()).list()).toMatchObject([{ id, state: 'running' }]);
    const killedAgain = readFileSync(path, 'utf8');
    await third.host.close();

    writeFileSync(path, killedAgain);
    const fourth = fixture.reopen();
    const queue = await fourth.host.transfers();
    expect(queue.list()).toMatchObject([{ id, state: 'paused', notice: expect.stringContaining('twice') }]);
    // Its user decides, so the count of kills begins anew.
    queue.change({ ids: [id], action: 'resume' });
    const resumed = readFileSync(path, 'utf8');
    expect(JSON.parse(resumed).transfers).toMatchObject([{ id, state: 'running' }]);
    await fourth.host.close();
    writeFileSync(path, resumed);
    const fifth = fixture.reopen();
    expect((await fifth.host.transfers()).list()).toMatchObject([{ id, state: 'running' }]);
    await fifth.host.close();
  });

  it('skips a transfer that it cannot read, such as of a newer version, and keeps the file', async () => {
    const id = await start(await slowPush());
    const path = join(fixture.host.folder, 'transfers.json');
    await fixture.host.close();
    const [known] = JSON.parse(readFileSync(path, 'utf8')).transfers;
    const newer = { ...known, id: 'newer', order: { kind: 'teleport' } };
    writeFileSync(path, JSON.stringify({ transfers: [newer, known] }));
    const next = fixture.reopen();
    expect((await next.host.transfers()).list()).toMatchObject([{ id, state: 'running' }]);
    await next.host.close();
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('teleport');
  });

  it('shows the bytes that had arrived after two kills', async () => {
    const id = await start(await slowPush());
    const path = join(fixture.host.folder, 'transfers.json');
    const progressPath = join(fixture.host.folder, 'transfers-progress.json');
    const saved = () =>
      existsSync(progressPath) ? JSON.parse(readFileSync(progressPath, 'utf8')) : undefined;
    const bytesTotal = 64 * 64 * 1024;
    await expect.poll(saved, { timeout: 30_000 }).toMatchObject({ runs: [{ id, bytesTotal }] });
    const [killed] = JSON.parse(readFileSync(path, 'utf8')).transfers;
    expect(killed.bytesTotal).toBeUndefined();
    const [run] = saved().runs;
    await fixture.host.close();
    writeFileSync(path, JSON.stringify({ transfers: [{ ...killed, killedMs: Date.now() }] }));
    const arrived = { ...run, filesDone: 1, bytesDone: 65_536 };
    writeFileSync(progressPath, JSON.stringify({ runs: [arrived, { ...run, id: 'gone' }] }));
    const next = fixture.reopen();
    const shown = { id, state: 'paused', filesDone: 1, bytesDone: 65_536, bytesTotal };
    expect((await next.host.transfers()).list()).toMatchObject([shown]);
    await next.host.close();
  });

  it('refuses an order that it cannot save, and lets running transfers continue', async () => {
    const queue = await fixture.host.transfers();
    const root = await fixture.workspace();
    fixture.sandbox.write('work/a.txt', 'a');
    const id = queue.start({ kind: 'push', root });
    const path = join(fixture.host.folder, 'transfers.json');
    rmSync(path);
    mkdirSync(path);
    expect(() => queue.start({ kind: 'pull', root })).toThrow(/cannot be written/);
    expect(queue.list().length).toBe(1);
    expect(await transferIn(fixture.client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
  });

  it('counts its requests to a remote', async () => {
    const root = await fixture.workspace();
    fixture.sandbox.write('work/a.txt', 'a');
    await transferIn(fixture.client, await start({ kind: 'push', root }), ['done']);
    const { months } = await fixture.client.ask('remotes.usage', {});
    expect(months).toMatchObject([
      {
        place: expect.stringContaining('work-remote'),
        transfers: 1,
        requests: { total: expect.any(Number) },
      },
    ]);
  });

  it('belongs to one host at a time; another host has a queue of its own', async () => {
    const queue = await fixture.host.transfers();
    const root = await fixture.workspace();
    queue.start({ kind: 'push', root });
    const second = fixture.reopen();
    const others = await second.host.transfers();
    expect(others.list()).toEqual([]);
    await second.host.close();
    expect(queue.list().length).toBe(1);
  });
});
