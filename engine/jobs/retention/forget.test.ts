import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForgetRequest } from '../../api/jobs/jobs.ts';
import { tag } from '../history/refs.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { tipOf } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { forget } from './forget.ts';

let sandbox: Sandbox;
let root: string;
/** By message. */
let commits: Record<string, string>;

beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  commits = {};
  for (const name of ['one', 'two', 'three', 'four']) await commit(name);
});
afterEach(() => sandbox[Symbol.dispose]());

async function commit(name: string): Promise<void> {
  sandbox.write('work/file', name);
  await push(testContext(root), { message: name });
  commits[name] = tipOf(sandbox.path('store'));
}

/** The verdicts, such as `keep four` and `forget one`, newest first, and the summary. */
async function run(request: ForgetRequest) {
  const context = testContext(root);
  const summary = await forget(context, request);
  const verdicts = eventsOf(context, 'retention').map(
    ({ keptBy, message }) => `${keptBy.length === 0 ? 'forget' : 'keep'} ${message}`,
  );
  return { summary, verdicts };
}

function storedList(): { readonly forgotten: readonly string[]; readonly policy?: unknown } {
  return JSON.parse(zstdDecompressSync(readFileSync(sandbox.path('store/retention.json'))).toString('utf8'));
}

async function tagNames(): Promise<string[]> {
  const context = testContext(root);
  await tag(context, {});
  return eventsOf(context, 'ref').map(({ name }) => name);
}

function hashesOf(...names: readonly string[]): (string | undefined)[] {
  return names.map((name) => commits[name]);
}

describe('forgetting commits', () => {
  it('adds what no rule keeps to the list of the repository, the oldest first', async () => {
    const { summary, verdicts } = await run({ policy: { keepLast: 2 } });
    expect(verdicts).toEqual(['keep four', 'keep three', 'forget two', 'forget one']);
    expect(summary).toMatchObject({ result: 'forgot', stay: 2, forgotten: 2, removedTags: [], saved: false });
    expect(storedList()).toEqual({
      format: 1,
      repository: expect.any(String),
      forgotten: hashesOf('one', 'two'),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('changes nothing in a dry run', async () => {
    await tag(testContext(root), { name: 'v1' });
    const { summary, verdicts } = await run({
      policy: { keepLast: 3 },
      tags: ['v1'],
      save: true,
      dryRun: true,
    });
    expect(verdicts).toContain('forget one');
    expect(summary).toMatchObject({ result: 'wouldForget', forgotten: 1, removedTags: ['v1'], saved: false });
    expect(existsSync(sandbox.path('store/retention.json'))).toBe(false);
    expect(await tagNames()).toEqual(['v1']);
  });

  it('only ever appends to the list', async () => {
    await run({ policy: { keepLast: 3 } });
    await commit('five');
    const { verdicts } = await run({ policy: { keepLast: 2 } });
    expect(verdicts).toEqual(['keep five', 'keep four', 'forget three', 'forget two']);
    expect(storedList().forgotten).toEqual(hashesOf('one', 'two', 'three'));
    expect((await run({ policy: { keepLast: 9 } })).summary).toMatchObject({
      result: 'nothingToForget',
      stay: 2,
    });
    expect(storedList().forgotten).toEqual(hashesOf('one', 'two', 'three'));
  });

  it('keeps a policy with the repository, which later runs apply', async () => {
    expect((await run({ policy: { keepLast: 3, keepTags: ['v*'] }, save: true })).summary.saved).toBe(true);
    expect(storedList().policy).toEqual({ keepLast: 3, keepTags: ['v*'] });
    await commit('five');
    const { summary, verdicts } = await run({});
    expect(verdicts).toEqual(['keep five', 'keep four', 'keep three', 'forget two']);
    expect(summary.policy).toEqual({ keepLast: 3, keepTags: ['v*'] });
    await run({ policy: { keepLast: 1 } });
    expect(storedList().policy).toEqual({ keepLast: 3, keepTags: ['v*'] });
  });

  it('saves a policy even if nothing goes', async () => {
    expect((await run({ policy: { keepLast: 9 }, save: true })).summary.result).toBe('nothingToForget');
    expect(storedList()).toMatchObject({ policy: { keepLast: 9 }, forgotten: [] });
  });

  it('without rules and without a kept policy says so', async () => {
    await expect(run({})).rejects.toMatchObject({ code: 'usage', data: { reason: 'noPolicy' } });
    await expect(run({ policy: { keepLast: 0 } })).rejects.toMatchObject({ code: 'usage' });
    await expect(run({ policy: { keepWithin: 'soon' } })).rejects.toMatchObject({ code: 'usage' });
    await expect(run({ policy: { keepTags: ['['] } })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('tags', () => {
  it('hold their commits unless they are named', async () => {
    await tag(testContext(root), { name: 'v1', ref: commits.one! });
    await tag(testContext(root), { name: 'nightly/1', ref: commits.two! });
    expect((await run({ policy: { keepLast: 1 } })).verdicts).toEqual([
      'keep four',
      'forget three',
      'keep two',
      'keep one',
    ]);
    const { summary, verdicts } = await run({ policy: { keepLast: 1 }, tags: ['nightly/*'] });
    expect(verdicts).toEqual(['keep four', 'forget two', 'keep one']);
    expect(summary).toMatchObject({ removedTags: ['nightly/1'], forgotten: 1 });
    expect(await tagNames()).toEqual(['v1']);
    expect(storedList().forgotten).toEqual(hashesOf('three', 'two'));
  });

  it('that no pattern matches are told', async () => {
    await tag(testContext(root), { name: 'v1' });
    const context = testContext(root);
    await forget(context, { policy: { keepLast: 9 }, tags: ['v*', 'nigthly-*'], dryRun: true });
    expect(eventsOf(context, 'warning')).toMatchObject([
      { warning: 'noSuchTag', message: 'No tag matches "nigthly-*".' },
    ]);
  });

  it('that --keep-tag matches are not removed', async () => {
    for (const [name, at] of [
      ['v1', 'one'],
      ['v2', 'two'],
    ] as const)
      await tag(testContext(root), { name, ref: commits[at]! });
    const { summary, verdicts } = await run({ policy: { keepLast: 1, keepTags: ['v1'] }, tags: ['*'] });
    expect(verdicts).toEqual(['keep four', 'forget three', 'forget two', 'keep one']);
    expect(summary.removedTags).toEqual(['v2']);
  });

  it('are removed by the next run when one ended before', async () => {
    await tag(testContext(root), { name: 'v1', ref: commits.one! });
    const stop = new AbortController();
    const stopped = testContext(root, {
      signal: stop.signal,
      // Before the request that removes the tag.
      requestThrottle: {
        take: () => {
          if (existsSync(sandbox.path('store/retention.json'))) stop.abort();
          return undefined;
        },
      },
    });
    const request = { policy: { keepLast: 3 }, tags: ['v1'] };
    await expect(forget(stopped, request)).rejects.toMatchObject({ code: 'aborted' });
    expect(storedList().forgotten).toEqual(hashesOf('one'));
    expect(await tagNames()).toEqual(['v1']);
    const { summary } = await run(request);
    expect(summary).toMatchObject({ result: 'forgot', removedTags: ['v1'], forgotten: 0 });
    expect(await tagNames()).toEqual([]);
  });
});

describe('the list', () => {
  it('keeps what another machine adds at the same moment', async () => {
    await run({ policy: { keepLast: 3 } });
    const path = sandbox.path('store/retention.json');
    const other = 'a'.repeat(64);
    const context = testContext(root, {
      // The list has been read, and is not written yet.
      emit: (event) => {
        if (event.type !== 'retention' || event.message !== 'two') return;
        const list = storedList();
        const text = JSON.stringify({
          ...list,
          forgotten: [...list.forgotten, other],
          policy: { keepLast: 7 },
          sha256: undefined,
        });
        writeFileSync(path, zstdCompressSync(Buffer.from(text)));
      },
    });
    await forget(context, { policy: { keepLast: 2 } });
    expect(storedList()).toMatchObject({
      policy: { keepLast: 7 },
      forgotten: [commits.one, other, commits.two],
    });
  });

  it.each<[string, string, string]>([
    ['damaged', 'that is cut', '{"format":1,'],
    ['damaged', 'with a name that is none', '{"format":1,"repository":"REPOSITORY","forgotten":["x"]}'],
    ['formatTooNew', 'of a later version', '{"format":2,"repository":"REPOSITORY","forgotten":[]}'],
    ['notARepository', 'of another repository', '{"format":1,"repository":"OTHER","forgotten":[]}'],
  ])('is refused as %s when it is one %s', async (code, _, text) => {
    await run({ policy: { keepLast: 3 } });
    const { repository } = JSON.parse(readFileSync(sandbox.path('store/refs/heads/main'), 'utf8'));
    const other = '00000000-0000-4000-8000-000000000000';
    const filled = text.replace('REPOSITORY', repository).replace('OTHER', other);
    writeFileSync(sandbox.path('store/retention.json'), zstdCompressSync(Buffer.from(filled)));
    await expect(run({ policy: { keepLast: 2 } })).rejects.toMatchObject({ code });
  });
});
