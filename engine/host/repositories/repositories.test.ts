import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RepositoryCard } from '../../api/host/repositories.ts';
import type { AskOptions } from '../../api/window/host-client.ts';
import { verifyAndRecord } from '../../jobs/history/last-verified.ts';
import { cloneWorkspace } from '../../jobs/pull/clone.ts';
import { push } from '../../jobs/push/push.ts';
import { initWorkspace } from '../../jobs/remotes/init.ts';
import { commitKeyOf } from '../../jobs/session/damage.fixture.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';
import { addCommits } from './repository.fixture.ts';

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** A user's remote with four commits in three months. */
async function seaRemote() {
  const remote = fixture.sandbox.path('sea');
  const commits = await addCommits(remote, [
    { time: '2026-01-05T00:00:00.000Z', bytes: 100 },
    { time: '2026-01-25T00:00:00.000Z', bytes: 300 },
    { time: '2026-02-05T00:00:00.000Z', bytes: 700 },
    { time: '2026-04-05T00:00:00.000Z', bytes: 500 },
  ]);
  await fixture.client.ask('remotes.add', { name: 'sea', url: remote });
  return { remote, commits };
}

async function look(options: AskOptions = {}, more: { readonly commits?: number } = {}) {
  const { repositories } = await fixture.client.ask('repositories.look', more, options);
  return repositories;
}

async function list(): Promise<readonly RepositoryCard[]> {
  return (await fixture.client.ask('repositories.list', {})).repositories;
}

describe('the overview of repositories', () => {
  it('has the newest commit and the growth by month, and remembers them', async () => {
    await seaRemote();
    expect(await list()).toMatchObject([{ state: 'unknown', knownAs: [{ name: 'sea', of: 'user' }] }]);
    const [card] = await look();
    expect(card).toMatchObject({
      state: 'ready',
      branch: 'main',
      tip: { author: 'Ada Okafor', bytes: 500, time: '2026-04-05T00:00:00.000Z' },
      growth: {
        commitsRead: 4,
        isWhole: true,
        months: [
          { month: '2026-01', bytes: 300, commits: 2 },
          { month: '2026-02', bytes: 700, commits: 1 },
          { month: '2026-04', bytes: 500, commits: 1 },
        ],
      },
      cost: { storageDollars: 0, basis: 'newest', requestDollars: 0 },
    });
    expect(await list()).toEqual([card]);
  });

  it('reads each commit of a long history once, over several refreshes', async () => {
    const { commits, remote } = await seaRemote();
    const [first] = await look({}, { commits: 1 });
    expect(first!.growth).toMatchObject({ commitsRead: 2, isWhole: false });
    for (const hash of commits.slice(2)) rmSync(join(remote, commitKeyOf(hash)));
    const [second] = await look();
    expect(second!.growth).toMatchObject({ commitsRead: 4, isWhole: true });
    rmSync(join(remote, 'commits'), { recursive: true });
    const [third] = await look();
    expect(third).toMatchObject({ growth: second!.growth, tip: second!.tip });
    expect(third!.failure).toBeUndefined();
  });

  it('shows why a repository cannot be reached, beside the last good answer', async () => {
    const { remote } = await seaRemote();
    const [good] = await look();
    renameSync(remote, `${remote}-away`);
    const [away] = await look();
    expect(away).toMatchObject({ state: 'ready', failure: { code: 'bucketMissing' } });
    expect({ ...away, failure: undefined }).toEqual({ ...good, failure: undefined });
    mkdirSync(remote);
    expect((await look())[0]).toMatchObject({ state: 'ready', failure: { code: 'notARepository' } });
    rmSync(remote, { recursive: true });
    renameSync(`${remote}-away`, remote);
    expect((await look())[0]!.failure).toBeUndefined();
  });

  it('keeps the good part of a damaged repository', async () => {
    const { commits, remote } = await seaRemote();
    writeFileSync(join(remote, commitKeyOf(commits[1]!)), 'not a commit');
    const [card] = await look();
    expect(card).toMatchObject({
      failure: { code: 'damaged' },
      tip: { bytes: 500 },
      growth: { commitsRead: 1, isWhole: false },
    });
    writeFileSync(join(remote, 'refs/heads/main'), '{"format":1,"commit":[]');
    expect((await look())[0]).toMatchObject({ failure: { code: 'damaged' }, tip: { bytes: 500 } });
  });

  it('distinguishes remotes without a repository from empty ones, and joins the names of one place', async () => {
    const { client, sandbox } = fixture;
    mkdirSync(sandbox.path('plain'));
    await client.ask('remotes.add', { name: 'plain', url: sandbox.path('plain') });
    const root = await fixture.workspace('work');
    await client.ask('home.addWorkspace', { root });
    await client.ask('remotes.add', { name: 'same', url: sandbox.path('work-remote') });
    const cards = await look();
    expect(cards.map(({ knownAs, state }) => [knownAs.map(({ name }) => name), state])).toEqual([
      [['work', 'same'], 'empty'],
      [['plain'], 'none'],
    ]);
  });

  it('measures the stored size on request, and remembers the time', async () => {
    const { remote } = await seaRemote();
    mkdirSync(join(remote, 'objects/aa'), { recursive: true });
    writeFileSync(join(remote, 'objects/aa', 'b'.repeat(62)), Buffer.alloc(10_000));
    writeFileSync(join(remote, 'beside.txt'), 'no part of it');
    const [{ id } = { id: '' }] = await look();
    const counted: number[] = [];
    const card = await fixture.client.ask(
      'repositories.measure',
      { id },
      {
        onEvents: (events) => {
          for (const event of events) if (event.type === 'progress') counted.push(event.filesDone);
        },
      },
    );
    const { stored } = card;
    expect(stored).toMatchObject({ objects: 6 });
    expect(stored!.bytes - stored!.recordBytes).toBe(10_000);
    expect(counted.at(-1)).toBe(6);
    expect(card.cost.basis).toBe('stored');
    // A later look keeps it.
    expect((await look())[0]!.stored).toEqual(stored);
    await expect(fixture.client.ask('repositories.measure', { id: 'file:///etc' })).rejects.toMatchObject({
      code: 'notFound',
    });
  });

  it('has the time and the result of the last verify, preferring one of the whole history', async () => {
    const { client, environment, sandbox } = fixture;
    const root = sandbox.path('data');
    mkdirSync(root);
    await initWorkspace(testContext(root), { remoteUrl: sandbox.path('data-remote') });
    sandbox.write('data/a.txt', 'a');
    const context = testContext(root, { environment });
    await push(context, {});
    await client.ask('home.addWorkspace', { root });
    expect((await look())[0]!.verified).toBeUndefined();
    await verifyAndRecord(context, { readDataPercent: 100 });
    await verifyAndRecord(context, { ref: 'main' });
    expect(context.events.filter(({ type }) => type === 'warning')).toEqual([]);
    const [card] = await list();
    expect(card!.verified).toEqual({
      at: expect.stringMatching(/^2\d{3}-/),
      missing: 0,
      damaged: 0,
      readDataPercent: 100,
    });
    // Another workspace of the same repository knows it too.
    const other = sandbox.path('other');
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('data-remote'), directory: other });
    await verifyAndRecord(testContext(other, { environment }), {});
    expect((await list())[0]!.verified).not.toHaveProperty('readDataPercent');
    const path = sandbox.path('config', 'verified.json');
    expect(JSON.parse(readFileSync(path, 'utf8')).verified.length).toBe(1);
  });
});
