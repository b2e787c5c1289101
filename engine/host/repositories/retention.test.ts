import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RepositoryCard } from '../../api/host/repositories.ts';
import { push } from '../../jobs/push/push.ts';
import { forget } from '../../jobs/retention/forget.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture, transferIn } from '../host.fixture.ts';

let fixture: HostFixture;
let root: string;
beforeEach(async () => {
  fixture = createHostFixture();
  root = await fixture.workspace();
  await fixture.client.ask('home.addWorkspace', { root });
  for (const number of [1, 2, 3, 4]) await pushNumber(number);
});
afterEach(() => fixture[Symbol.asyncDispose]());

const pushNumber = async (number: number) => {
  fixture.sandbox.write('work/data.bin', randomBytes(100_000));
  await push(testContext(root), { message: `number ${number}` });
};
const card = async (): Promise<RepositoryCard> =>
  (await fixture.client.ask('repositories.look', {})).repositories[0]!;
const check = async () => fixture.client.ask('repositories.garbage', { id: (await card()).id });
const collect = async (order: { readonly graceSeconds?: number } = {}) => {
  const { id } = await fixture.client.ask('transfers.start', { kind: 'gc', root, ...order });
  return transferIn(fixture.client, id, ['done', 'failed']);
};

describe('the retention policy of a repository', () => {
  it('is tried without changing anything, applied, and kept with the repository', async () => {
    const { client } = fixture;
    expect(await client.ask('repositories.policy', { root })).toEqual({});
    const policy = { keepLast: 2 };
    const plan = await client.ask('repositories.planForget', { root, policy, limit: 3 });
    expect([plan.stay, plan.forgotten]).toEqual([2, 2]);
    expect(plan.commits.map(({ keptBy, message }) => [message, keptBy])).toEqual([
      [
        'number 4',
        [
          { ref: 'main', rule: 'ref' },
          { ref: 'main', rule: 'last' },
        ],
      ],
      ['number 3', [{ ref: 'main', rule: 'last' }]],
      ['number 2', []],
    ]);
    expect(await client.ask('repositories.policy', { root })).toEqual({});
    const done = await client.ask('repositories.forget', { root, policy, save: true, expected: 2 });
    expect(done).toEqual({ stay: 2, forgotten: 2, removedTags: [] });
    expect(await client.ask('repositories.policy', { root })).toEqual({ policy });
    const { commits } = await client.ask('history.list', { root, limit: 10 });
    expect(commits.map(({ isForgotten = false }) => isForgotten)).toEqual([false, false, true, true]);
  });

  it('forgets nothing if it would forget another number of commits than was shown', async () => {
    const { client } = fixture;
    const policy = { keepLast: 2 };
    await pushNumber(5);
    const asked = client.ask('repositories.forget', { root, policy, save: true, expected: 2 });
    await expect(asked).rejects.toMatchObject({ code: 'conflict', data: { forgotten: 3 } });
    expect(await client.ask('repositories.policy', { root })).toEqual({});
  });

  it.each([
    [{}, 'usage'],
    [{ keepWithin: 'soon' }, 'usage'],
    [{ keepLast: 0 }, 'usage'],
  ])('of %j is refused', async (policy, code) => {
    const asked = fixture.client.ask('repositories.planForget', { root, policy, limit: 1 });
    await expect(asked).rejects.toMatchObject({ code });
  });
});

describe('the garbage of a repository', () => {
  it('is found by a dry run, kept with the card, and void after commits were forgotten', async () => {
    const { client } = fixture;
    const { garbage } = await check();
    expect(garbage).toMatchObject({ commits: 4, forgottenCommits: 0, garbageObjects: 0, youngObjects: 0 });
    expect((await card()).garbage).toEqual(garbage);
    await client.ask('repositories.forget', { root, policy: { keepLast: 1 }, save: false, expected: 3 });
    expect((await card()).garbage).toBeUndefined();
    // All of it is younger than a day.
    const found = (await check()).garbage!;
    expect(found).toMatchObject({ commits: 1, forgottenCommits: 3, garbageBytes: 0 });
    expect(found.youngBytes).toBeGreaterThan(300_000);
    expect(found.bytes - found.youngBytes).toBeLessThan(110_000);
  });

  it('goes with a collection from the queue, after which the card says what is left', async () => {
    const { client } = fixture;
    const { id } = await card();
    const { stored: before } = await client.ask('repositories.measure', { id });
    await forget(testContext(root), { policy: { keepLast: 1 } });
    const { garbage: found } = await check();
    const collected = await collect({ graceSeconds: 0 });
    expect(collected).toMatchObject({
      state: 'done',
      title: 'Collect garbage of work',
      summary: { result: 'collected', removedBytes: found!.youngBytes },
      requests: { total: expect.any(Number) },
    });
    const { garbage, stored } = await card();
    expect(garbage).toMatchObject({ garbageBytes: 0, youngBytes: 0, commits: 1, forgottenCommits: 3 });
    expect([found!.isCollected, garbage!.isCollected]).toEqual([false, true]);
    expect(garbage!.bytes).toBe(found!.bytes - found!.youngBytes);
    expect(stored!.bytes).toBe(before!.bytes - found!.youngBytes);
    expect((await collect()).summary).toMatchObject({ result: 'nothingToCollect' });
  });

  it('may lie in packs with content that is needed, which a collection writes anew', async () => {
    const { sandbox } = fixture;
    const names = ['1', '2', '3', '4', '5'];
    for (const name of names) sandbox.write(`work/${name}`, randomBytes(1_000));
    await push(testContext(root), {});
    for (const name of names.slice(1)) rmSync(sandbox.path('work', name));
    await push(testContext(root), {});
    await forget(testContext(root), { policy: { keepLast: 1 } });
    await card();
    expect((await collect({ graceSeconds: 0 })).summary).toMatchObject({ repackedPacks: 1 });
    const { garbage } = await card();
    expect(garbage).toMatchObject({ isCollected: true, repackedPacks: 1 });
    expect(garbage!.repackedBytes).toBeGreaterThan(4_000);
  });

  it('needs a workspace of the repository', async () => {
    const { client, sandbox } = fixture;
    await client.ask('home.removeWorkspace', { root });
    await client.ask('remotes.add', { name: 'own', url: sandbox.path('work-remote') });
    const { id, state } = await card();
    expect(state).toBe('ready');
    const asked = client.ask('repositories.garbage', { id });
    await expect(asked).rejects.toMatchObject({
      code: 'notFound',
      message: expect.stringContaining('No workspace'),
    });
  });
});
