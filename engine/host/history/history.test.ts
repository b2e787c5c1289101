import { existsSync, readFileSync, unlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostEvent } from '../../api/host.ts';
import { formatVersionPlace } from '../../api/text/version-place.ts';
import { branch, tag } from '../../jobs/history/refs.ts';
import { pull } from '../../jobs/pull/pull.ts';
import { switchBranch } from '../../jobs/pull/switch.ts';
import { push } from '../../jobs/push/push.ts';
import { forget } from '../../jobs/retention/forget.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let fixture: HostFixture;
let root: string;
beforeEach(async () => {
  fixture = createHostFixture();
  root = await fixture.workspace();
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function pushTwice(): Promise<void> {
  const { sandbox } = fixture;
  const modified = new Date('2024-02-03T04:05:06.789Z');
  utimesSync(sandbox.write('work/a.txt', 'one'), modified, modified);
  sandbox.write('work/folder/deep/b.txt', 'bb');
  sandbox.write('work/folder/pixel.png', Buffer.from(PIXEL, 'base64'));
  await push(testContext(root), { message: 'first' });
  await tag(testContext(root), { name: 'v1' });
  await branch(testContext(root), { name: 'side' });
  sandbox.write('work/a.txt', 'longer');
  unlinkSync(join(root, 'folder/deep/b.txt'));
  await push(testContext(root), { message: 'second' });
}

describe('history', () => {
  it('is empty before the first push', async () => {
    expect(await fixture.client.ask('history.list', { root, limit: 10 })).toEqual({ commits: [], refs: [] });
  });

  it('lists commits, newest first, with the names of branches and tags', async () => {
    await pushTwice();
    const { commits, refs } = await fixture.client.ask('history.list', { root, limit: 10 });
    expect(commits.map(({ message, refs: names }) => [message, names])).toEqual([
      ['second', ['main']],
      ['first', ['side', 'tag: v1']],
    ]);
    expect(commits[0]?.parents).toEqual([commits[1]?.commit]);
    expect(refs.map(({ isCurrent, kind, name }) => [kind, name, isCurrent])).toEqual([
      ['branch', 'main', true],
      ['branch', 'side', false],
      ['tag', 'v1', false],
    ]);
    const side = await fixture.client.ask('history.list', { root, branch: 'side', limit: 10 });
    expect(side.commits.map(({ message }) => message)).toEqual(['first']);
    expect((await fixture.client.ask('history.list', { root, limit: 1 })).commits.length).toBe(1);
    const unknown = fixture.client.ask('history.list', { root, branch: 'nothing', limit: 1 });
    await expect(unknown).rejects.toMatchObject({ code: 'notFound' });
  });

  it('marks forgotten commits, and says that their files are not kept', async () => {
    await pushTwice();
    fixture.sandbox.write('work/a.txt', 'third');
    await push(testContext(root), { message: 'third' });
    await forget(testContext(root), { policy: { keepLast: 1 } });
    const { commits } = await fixture.client.ask('history.list', { root, limit: 10 });
    expect(commits.map(({ isForgotten, message }) => [message, isForgotten])).toEqual([
      ['third', undefined],
      ['second', true],
      ['first', undefined],
    ]);
    const at = { root, commit: commits[1]!.commit };
    const { client } = fixture;
    // All at once: a refusal that nobody awaits yet would count as unhandled.
    const answers = await Promise.allSettled([
      client.ask('browse.open', { place: formatVersionPlace(`${root}-remote`, at.commit, '') }),
      client.ask('history.preview', { ...at, path: 'a.txt' }),
      client.ask('history.bytes', { ...at, path: 'a.txt', start: 0, limit: 10 }),
      client.ask('history.compare', { root, to: at.commit, limit: 10 }),
      client.ask('history.planRestore', { ...at, paths: ['a.txt'] }),
    ]);
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { code: 'forgotten', data: { commit: at.commit } },
      });
  });

  it('sums the changes of two commits by folder, or all files of one', async () => {
    await pushTwice();
    const { client } = fixture;
    const none = { added: 0, modified: 0, deleted: 0, renamed: 0, other: 0, bytes: 0 };
    const ask = (folder: string) => client.ask('history.folders', { root, from: 'v1', to: 'main', folder });
    expect(await ask('')).toMatchObject({
      folders: [{ ...none, name: 'folder/', added: 1, deleted: 1 }],
      rows: [{ change: 'modified', path: 'a.txt' }],
      isCut: false,
    });
    expect((await ask('folder/')).folders).toMatchObject([{ name: 'deep/', added: 1, deleted: 1 }]);
    const bytes = 2 + Buffer.from(PIXEL, 'base64').length;
    expect(await client.ask('history.folders', { root, to: 'v1', folder: '' })).toMatchObject({
      folders: [{ ...none, name: 'folder/', added: 2, bytes }],
      rows: [{ change: 'added', path: 'a.txt' }],
    });
    await expect(ask('folder')).rejects.toMatchObject({ code: 'usage' });
  });

  it('compares two commits, cut at a limit', async () => {
    await pushTwice();
    const compare = (limit: number) =>
      fixture.client.ask('history.compare', { root, from: 'v1', to: 'main', limit });
    const whole = await compare(10);
    expect(whole.isCut).toBe(false);
    expect(whole.rows).toEqual([
      { change: 'modified', path: 'a.txt', kind: 'file', sizeBytes: 6, oldSizeBytes: 3 },
      { change: 'added', path: 'folder/deep/', kind: 'folder', sizeBytes: 0 },
      { change: 'deleted', path: 'folder/deep/b.txt', kind: 'file', sizeBytes: 2 },
    ]);
    expect(await compare(1)).toMatchObject({
      isCut: true,
      rows: [{ path: 'a.txt' }],
      changes: { deleted: 1 },
    });
  });

  it('lists the files of a first commit as added, cut at a limit', async () => {
    await pushTwice();
    const added = (limit: number) => fixture.client.ask('history.compare', { root, to: 'v1', limit });
    const { changes, isCut, rows } = await added(10);
    expect([changes.added, isCut]).toEqual([3, false]);
    expect(rows.map(({ change, path }) => `${change} ${path}`)).toEqual([
      'added a.txt',
      'added folder/deep/b.txt',
      'added folder/pixel.png',
    ]);
    expect(await added(1)).toMatchObject({ isCut: true, changes: { added: 3 }, rows: [{ path: 'a.txt' }] });
  });

  it('sends the commits that changed a path', async () => {
    await pushTwice();
    const found: string[] = [];
    const onEvents = (events: readonly HostEvent[]) => {
      for (const event of events)
        if (event.type === 'commit') found.push(`${event.message} ${event.change} ${event.sizeBytes}`);
    };
    const input = { root, path: 'folder/deep/b.txt', limit: 10 };
    expect(await fixture.client.ask('history.ofPath', input, { onEvents })).toEqual({
      commits: 2,
      walked: 2,
    });
    expect(found).toEqual(['second deleted 2', 'first added 2']);
    const first = await fixture.client.ask('history.ofPath', { ...input, limit: 1 }, { onEvents });
    const [older] = (await fixture.client.ask('history.list', { root, limit: 2 })).commits.slice(1);
    expect(first).toMatchObject({ commits: 1, next: [older?.commit] });
    const after = first.next!;
    await fixture.client.ask('history.ofPath', { ...input, limit: 1, after }, { onEvents });
    expect(found.slice(2)).toEqual(['second deleted 2', 'first added 2']);
    const outside = fixture.client.ask('history.ofPath', { ...input, path: '../a' });
    await expect(outside).rejects.toMatchObject({ code: 'unsafePath' });
  });

  it('shows a file as a commit has it', async () => {
    await pushTwice();
    const preview = (path: string) => fixture.client.ask('history.preview', { root, commit: 'v1', path });
    expect(await preview('a.txt')).toMatchObject({ as: 'text', text: 'one', isCut: false });
    expect(await preview('folder/pixel.png')).toMatchObject({
      as: 'image',
      mime: 'image/png',
      base64: PIXEL,
    });
    await expect(preview('nothing')).rejects.toMatchObject({ code: 'notFound' });
    await expect(preview('../a.txt')).rejects.toMatchObject({ code: 'unsafePath' });
  });

  it('creates, moves, renames and removes branches and tags unless they have moved', async () => {
    await pushTwice();
    const { client } = fixture;
    const refs = async () => {
      const { commits, refs: all } = await client.ask('history.list', { root, limit: 10 });
      const messageOf = new Map(commits.map(({ commit, message }) => [commit, message]));
      return all.map(({ commit, kind, name }) => `${kind} ${name} ${messageOf.get(commit)}`);
    };
    const { commits } = await client.ask('history.list', { root, limit: 10 });
    const [second, first] = commits.map(({ commit }) => commit) as [string, string];
    const side = { root, kind: 'branch', name: 'side' } as const;
    await client.ask('history.placeRef', { root, kind: 'tag', name: 'v2', commit: second });
    await client.ask('history.placeRef', { ...side, commit: second, at: first });
    await client.ask('history.renameRef', { ...side, to: 'other', at: second });
    const v1 = { root, kind: 'tag', name: 'v1' } as const;
    await client.ask('history.removeRef', { ...v1, at: first });
    expect(await refs()).toEqual(['branch main second', 'branch other second', 'tag v2 second']);
    expect(await client.ask('history.soleCommits', { root, kind: 'branch', name: 'main' })).toEqual({
      commits: 0,
      isMore: false,
    });
    await client.ask('history.placeRef', { ...v1, commit: first });
    expect((await refs())[2]).toBe('tag v1 first');
    const stale = client.ask('history.removeRef', { root, kind: 'tag', name: 'v2', at: first });
    await expect(stale).rejects.toMatchObject({ code: 'conflict' });
    const bad = client.ask('history.placeRef', { root, kind: 'tag', name: 'a b', commit: first });
    await expect(bad).rejects.toMatchObject({ code: 'usage' });
  });

  it('plans a switch, runs it as a transfer, and names the paths that block it', async () => {
    await pushTwice();
    const { client, sandbox } = fixture;
    expect(await client.ask('history.planSwitch', { root, branch: 'side' })).toMatchObject({
      changes: { added: 1, modified: 1 },
      conflicts: 0,
    });
    const { id } = await client.ask('transfers.start', { kind: 'switch', root, branch: 'side' });
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      title: 'Switch work to side',
    });
    expect((await client.ask('home.addWorkspace', { root })).branch).toBe('side');
    sandbox.write('work/a.txt', 'not pushed');
    expect(await client.ask('history.planSwitch', { root, branch: 'main' })).toEqual({
      conflicts: 1,
      conflictPaths: ['a.txt'],
    });
  });

  it('plans a merge, with its conflicts, and runs it as a transfer that decides them', async () => {
    await pushTwice();
    const { client, sandbox } = fixture;
    const planned = (ref: string) => client.ask('history.planMerge', { root, ref, kind: 'merge' });
    expect(await planned('side')).toMatchObject({ isMerged: true });
    await switchBranch(testContext(root), { name: 'other', create: true });
    sandbox.write('work/a.txt', 'of other');
    sandbox.write('work/new.txt', 'of other');
    await push(testContext(root), {});
    await switchBranch(testContext(root), { name: 'main' });
    const order = { kind: 'merge', root, ref: 'other' } as const;
    expect(await planned('other')).toMatchObject({
      changes: { added: 1, modified: 1 },
      conflicts: 0,
    });
    sandbox.write('work/a.txt', 'not pushed');
    expect(await planned('other')).toEqual({
      conflicts: 1,
      conflictPaths: ['a.txt'],
    });
    const failed = await client.ask('transfers.start', order);
    expect(await transferIn(client, failed.id, ['done', 'failed'])).toMatchObject({ state: 'failed' });
    const { id } = await client.ask('transfers.start', { ...order, conflicts: 'theirs' });
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      title: 'Merge other into work',
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('of other');
    expect(await push(testContext(root), {})).toMatchObject({ merged: expect.any(String) });
  });

  it('plans and runs a revert, decides its conflicts by path, and takes it back before it is pushed', async () => {
    await pushTwice();
    const { client, sandbox } = fixture;
    sandbox.write('work/a.txt', 'bad');
    sandbox.write('work/b.txt', 'bad');
    sandbox.write('work/c.txt', 'bad');
    const { commit } = await push(testContext(root), { message: 'bad' });
    sandbox.write('work/a.txt', 'later');
    sandbox.write('work/b.txt', 'later');
    const wanted = { kind: 'revert', root, ref: commit! } as const;
    expect(await client.ask('history.planMerge', wanted)).toEqual({
      conflicts: 2,
      conflictPaths: ['a.txt', 'b.txt'],
    });
    const { id } = await client.ask('transfers.start', {
      ...wanted,
      conflicts: 'ours',
      decisions: { 'a.txt': 'theirs' },
    });
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).not.toMatch(/bad|later/);
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('later');
    expect(existsSync(join(root, 'c.txt'))).toBe(false);
    const card = () => client.ask('home.addWorkspace', { root });
    expect((await card()).merging).toEqual({ kind: 'revert', commit, ref: commit });
    const back = await client.ask('transfers.start', { kind: 'abortMerge', root, of: 'revert' });
    expect(await transferIn(client, back.id, ['done', 'failed'])).toMatchObject({
      state: 'done',
      title: 'Take back the revert in work',
    });
    expect(readFileSync(join(root, 'c.txt'), 'utf8')).toBe('bad');
    expect((await card()).merging).toBeUndefined();
  });

  it('tells that a folder shows another version than its branch', async () => {
    await pushTwice();
    const { client } = fixture;
    expect((await client.ask('home.addWorkspace', { root })).detached).toBeUndefined();
    const { commit } = await pull(testContext(root), { ref: 'v1' });
    expect((await client.ask('home.addWorkspace', { root })).detached).toEqual({ ref: 'v1', commit });
  });

  it('plans and runs the restore of a whole version', async () => {
    await pushTwice();
    const { client, sandbox } = fixture;
    sandbox.write('work/own.txt', 'mine');
    const plan = await client.ask('history.planRestore', { root, commit: 'v1', paths: ['.'] });
    expect(plan).toMatchObject({ files: 2, changed: 0 });
    const order = { kind: 'restore', root, paths: ['.'], from: 'v1', keepsChanges: true } as const;
    const { id } = await client.ask('transfers.start', order);
    expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one');
    expect(readFileSync(join(root, 'own.txt'), 'utf8')).toBe('mine');
  });
});
