/** What other commands do with commits that were forgotten and whose content is gone from the store. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepSteps } from '../../base/sweep-steps.fixture.ts';
import { findCutPath } from '../../repository/manifest/cut-path.fixture.ts';
import { collectGarbage } from '../collect/collect.ts';
import { listTree } from '../history/list-tree.ts';
import { log } from '../history/log.ts';
import { readCommitted } from '../history/read-committed.ts';
import { branch, tag } from '../history/refs.ts';
import { findSoleCommits } from '../history/sole-commits.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { keysBelow, tipOf } from '../session/damage.fixture.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { diff } from '../working-copy/diff.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { forget } from './forget.ts';

/** With the path that ends a segment: two segments and more. */
const MANY = 1_050;

interface Repository {
  readonly sandbox: Sandbox;
  readonly store: string;
  readonly root: string;
  /** By message. */
  readonly commits: Record<string, string>;
}

async function createRepository(): Promise<Repository> {
  const sandbox = createSandbox();
  const store = sandbox.path('store');
  const root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: store, layout: { packBelow: 64, chunkAbove: 1_000 } });
  return { sandbox, store, root, commits: {} };
}

async function commit(
  { commits, root, sandbox, store }: Repository,
  message: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) sandbox.write(`work/${path}`, content);
  await push(testContext(root), { message });
  commits[message] = tipOf(store);
}

async function collect({ root }: Repository): Promise<void> {
  expect(await collectGarbage(testContext(root), { graceSeconds: 0 })).toMatchObject({ result: 'collected' });
}

function contentOf(store: string): string[] {
  return ['manifests', 'objects', 'packs'].flatMap((folder) => keysBelow(store, folder));
}

/** Content of an object of its own. */
const object = (text: string) => text.padEnd(100, text);

/**
 * Four commits, of which the first three are forgotten and collected. The manifests have segments, and the
 * workspace `based` is based on the first.
 */
async function createForgotten(): Promise<Repository> {
  const repository = await createRepository();
  const { sandbox, store } = repository;
  const many = Array.from({ length: MANY }, (_, at) => [`many/${String(at).padStart(4, '0')}`, `${at}`]);
  const files = {
    ...Object.fromEntries(many),
    [findCutPath('many~')]: 'cut',
    large: object('1'),
    gone: 'gone',
    zz: 'z',
  };
  await commit(repository, 'one', { ...files, chunked: object('c').repeat(30) });
  await cloneWorkspace(testContext(sandbox.folder), { url: store, directory: sandbox.path('based') });
  await commit(repository, 'two', { 'many/0000': 'two', 'many/0001': 'two', large: object('2') });
  rmSync(sandbox.path('work/gone'));
  await commit(repository, 'three', { 'many/0002': 'three', large: object('3') });
  await commit(repository, 'four', {
    'many/0002': 'four',
    large: object('4'),
    chunked: object('d').repeat(30),
  });
  await forget(testContext(repository.root), { policy: { keepLast: 1 } });
  const before = contentOf(store);
  await collect(repository);
  const left = new Set(contentOf(store));
  const removed = before.filter((key) => !left.has(key));
  const folders = new Set(removed.map((key) => key.split('/')[0]));
  expect(folders).toEqual(new Set(['manifests', 'objects', 'packs']));
  return repository;
}

describe('a forgotten commit', () => {
  let repository: Repository;
  let root: string;
  let forgotten: string;
  beforeAll(async () => {
    repository = await createForgotten();
    root = repository.root;
    forgotten = repository.commits.two!;
  });
  afterAll(() => repository.sandbox[Symbol.dispose]());

  it('is shown as such in the log', async () => {
    const context = testContext(root);
    expect(await log(context, {})).toEqual({ commits: 4, isMore: false });
    expect(eventsOf(context, 'commit').map(({ isForgotten, message }) => [message, isForgotten])).toEqual([
      ['four', undefined],
      ['three', true],
      ['two', true],
      ['one', true],
    ]);
  });

  const readers: Record<string, (context: TestContext, ref: string) => Promise<unknown>> = {
    pull: (context, ref) => pull(context, { ref }),
    clone: (context, ref) =>
      cloneWorkspace(context, { url: repository.store, directory: repository.sandbox.path('never'), ref }),
    restore: (context, from) => restore(context, { paths: ['large'], from }),
    cat: (context, from) => readCommitted(context, { from, path: 'large' }, async () => {}),
    ls: (context, ref) => listTree(context, { ref }),
    'diff with the files': (context, from) => diff(context, { from }),
    'diff from it': (context, from) => diff(context, { from, to: 'main' }),
    'diff to it': (context, to) => diff(context, { from: 'main', to }),
    verify: (context, ref) => verify(context, { ref }),
  };
  it.each(Object.entries(readers))('cannot be read: %s', async (_, read) => {
    const before = describeTree(root);
    for (const ref of [forgotten, forgotten.slice(0, 10)]) {
      await expect(read(testContext(root), ref)).rejects.toMatchObject({
        code: 'forgotten',
        message: expect.stringContaining(`The commit ${forgotten.slice(0, 10)} was forgotten`),
        data: { commit: forgotten },
      });
    }
    expect(describeTree(root)).toEqual(before);
  });

  it('is left out by a verification, which says so', async () => {
    const summary = await verify(testContext(root), { readDataPercent: 100 });
    expect(summary).toMatchObject({ commits: 1, forgotten: 3, missing: 0, damaged: 0, affectedPaths: 0 });
    expect(summary.objects).toBeGreaterThan(2);
  });

  it('is passed over in the history of a path', async () => {
    const historyOf = async (path: string) => {
      const context = testContext(root);
      await log(context, { path });
      return eventsOf(context, 'commit').map(({ change, message }) => `${message} ${change}`);
    };
    expect(await historyOf('large')).toEqual(['four added']);
    expect(await historyOf('many')).toEqual(['four added']);
  });
});

describe('a commit on the list', () => {
  it('is not forgotten while a branch or a tag names it', async () => {
    const repository = await createRepository();
    using _ = repository.sandbox;
    const { commits, root } = repository;
    for (const name of ['one', 'two', 'three', 'four']) await commit(repository, name, { a: object(name) });
    await forget(testContext(root), { policy: { keepLast: 1 } });
    await tag(testContext(root), { name: 'back', ref: commits.two! });
    const forgottenNow = async () => {
      const context = testContext(root);
      await log(context, {});
      return eventsOf(context, 'commit').flatMap(({ isForgotten, message }) =>
        isForgotten ? [message] : [],
      );
    };
    expect(await forgottenNow()).toEqual(['three', 'one']);
    await collect(repository);
    expect(await verify(testContext(root), {})).toMatchObject({ commits: 2, forgotten: 2, missing: 0 });
    for (const ref of ['back', commits.two!])
      expect((await listTree(testContext(root), { ref })).entries).toBe(1);
    await tag(testContext(root), { name: 'back', remove: true });
    expect(await forgottenNow()).toEqual(['three', 'two', 'one']);
    await expect(listTree(testContext(root), { ref: commits.two! })).rejects.toMatchObject({
      code: 'forgotten',
    });
  });
});

describe('a damaged list', () => {
  it('is a finding of a verification, which then reads all commits', async () => {
    const repository = await createRepository();
    using _ = repository.sandbox;
    for (const name of ['one', 'two']) await commit(repository, name, { a: object(name) });
    await forget(testContext(repository.root), { policy: { keepLast: 1 } });
    writeFileSync(`${repository.store}/retention.json`, 'no list');
    const context = testContext(repository.root);
    expect(await verify(context, {})).toMatchObject({ commits: 2, forgotten: 0, missing: 0, damaged: 1 });
    expect(eventsOf(context, 'check')).toMatchObject([
      { result: 'failed', detail: expect.stringContaining('retention.json is damaged') },
    ]);
  });
});

describe('the history of a path', () => {
  it('counts what forgotten commits changed as a change of the next one that is kept', async () => {
    const repository = await createRepository();
    using _ = repository.sandbox;
    await commit(repository, 'one', { a: object('1'), b: object('1') });
    await tag(testContext(repository.root), { name: 'v1' });
    await commit(repository, 'two', { a: object('2') });
    await commit(repository, 'three', { b: object('3') });
    await commit(repository, 'four', { c: object('4') });
    await commit(repository, 'five', { c: object('5') });
    await forget(testContext(repository.root), { policy: { keepLast: 2 } });
    const historyOf = async (path: string, ref = 'main') => {
      const context = testContext(repository.root);
      await log(context, { path, ref });
      return eventsOf(context, 'commit').map(({ change, message }) => `${message} ${change}`);
    };
    expect(await historyOf('a')).toEqual(['four modified', 'one added']);
    expect(await historyOf('b')).toEqual(['four modified', 'one added']);
    expect(await historyOf('c')).toEqual(['five modified', 'four added']);
    expect(await historyOf('a', repository.commits.three)).toEqual(['one added']);
  });
});

describe('the commits that only one ref leads to', () => {
  it('do not include forgotten ones', async () => {
    const repository = await createRepository();
    using _ = repository.sandbox;
    const { root } = repository;
    await commit(repository, 'one', { a: '1' });
    await branch(testContext(root), { name: 'other' });
    for (const name of ['two', 'three', 'four']) await commit(repository, name, { a: name });
    const sole = async () =>
      (await findSoleCommits(testContext(root), { kind: 'heads', name: 'main' })).commits;
    expect(await sole()).toBe(3);
    await forget(testContext(root), { policy: { keepLast: 2 } });
    expect(await sole()).toBe(2);
  });
});

describe('a workspace whose base is forgotten', () => {
  let repository: Repository;
  let based: string;
  let copies = 0;
  beforeAll(async () => {
    repository = await createForgotten();
  });
  beforeEach(() => {
    copies += 1;
    based = repository.sandbox.path(`based-${copies}`);
    cpSync(repository.sandbox.path('based'), based, { recursive: true, preserveTimestamps: true });
  });
  afterAll(() => repository.sandbox[Symbol.dispose]());

  it('pulls as before, and keeps what was changed in it', async () => {
    writeFileSync(`${based}/many/0500`, 'mine');
    const summary = await pull(testContext(based), {});
    expect(summary).toMatchObject({ result: 'pulled', failed: 0, commit: repository.commits.four });
    expect(summary.changes).toMatchObject({ modified: 5, deleted: 1, added: 0 });
    expect(readFileSync(`${based}/many/0500`, 'utf8')).toBe('mine');
    writeFileSync(`${based}/many/0500`, '500');
    expect(describeTree(based, { times: false })).toEqual(describeTree(repository.root, { times: false }));
    const again = testContext(based);
    await diff(again, {});
    expect(eventsOf(again, 'change')).toEqual([]);
  });

  it('goes on with a pull that brought not all files, and knows what was changed here meanwhile', async () => {
    writeFileSync(`${based}/many/0500`, 'mine');
    const { commits, store } = repository;
    const key = keysBelow(store, 'objects').find((one) =>
      readFileSync(`${store}/${one}`, 'utf8').startsWith('4'),
    )!;
    renameSync(`${store}/${key}`, `${store}/away`);
    expect(await pull(testContext(based), {})).toMatchObject({ failed: 1, commit: commits.one });
    for (const work of [push, status, diff])
      expect(await work(testContext(based), { dryRun: true })).toMatchObject({
        changes: { modified: 1, added: 0, deleted: 0 },
      });
    expect(await pull(testContext(based), {})).toMatchObject({ failed: 1, changes: { modified: 0 } });
    renameSync(`${store}/away`, `${store}/${key}`);
    expect(await pull(testContext(based), {})).toMatchObject({ failed: 0, changes: { modified: 1 } });
    expect(readFileSync(`${based}/many/0500`, 'utf8')).toBe('mine');
    writeFileSync(`${based}/many/0500`, '500');
    expect(describeTree(based, { times: false })).toEqual(describeTree(repository.root, { times: false }));
  });

  it('goes on with a pull that was stopped at any of its requests', async () => {
    const stopAtRequest = async (request: number) => {
      const stop = new AbortController();
      let requests = 0;
      const take = () => {
        requests += 1;
        if (requests === request) stop.abort();
        return undefined;
      };
      const root = `${based}-${request}`;
      cpSync(based, root, { recursive: true, preserveTimestamps: true });
      const context = testContext(root, { signal: stop.signal, requestThrottle: { take } });
      const outcome = await pull(context, {}).then(
        () => 'whole',
        ({ code }) => code,
      );
      expect(outcome).toBe(stop.signal.aborted ? 'aborted' : 'whole');
      expect(await pull(testContext(root), {})).toMatchObject({ failed: 0, commit: repository.commits.four });
      expect(describeTree(root, { times: false })).toEqual(describeTree(repository.root, { times: false }));
      return stop.signal.aborted;
    };
    await sweepSteps(stopAtRequest, { least: 2 });
  });

  it('restores a file of another commit, and knows its base afterwards', async () => {
    expect(await restore(testContext(based), { paths: ['large'], from: 'main' })).toMatchObject({
      restored: 1,
    });
    const context = testContext(based);
    await diff(context, {});
    expect(eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`)).toEqual([
      'modified large',
    ]);
    expect(await pull(testContext(based), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(describeTree(based, { times: false })).toEqual(describeTree(repository.root, { times: false }));
  });

  it('finds conflicts as before', async () => {
    writeFileSync(`${based}/many/0001`, 'mine');
    await expect(pull(testContext(based), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['many/0001'] },
    });
  });

  it('shows how far the branch is ahead', async () => {
    const { upstream } = await status(testContext(based), { remote: true });
    expect(upstream).toMatchObject({ state: 'behind', changes: { modified: 5, deleted: 1 } });
  });

  it('switches to another branch', async () => {
    await branch(testContext(repository.root), { name: 'side' });
    expect(await switchBranch(testContext(based), { name: 'side' })).toMatchObject({
      failed: 0,
      branch: 'side',
    });
    expect(describeTree(based, { times: false })).toEqual(describeTree(repository.root, { times: false }));
  });

  it('compares its files with a commit', async () => {
    const context = testContext(based);
    expect((await diff(context, { from: 'main' })).changes).toMatchObject({ modified: 5, added: 1 });
  });

  it('cannot read its base, and says so', async () => {
    rmSync(`${based}/large`);
    const failure = { code: 'forgotten', data: { commit: repository.commits.one } };
    await expect(restore(testContext(based), { paths: ['large'] })).rejects.toMatchObject(failure);
    await expect(listTree(testContext(based), {})).rejects.toMatchObject(failure);
    await expect(
      readCommitted(testContext(based), { from: '@', path: 'large' }, async () => {}),
    ).rejects.toMatchObject(failure);
  });

  it('without an index says what to do', async () => {
    rmSync(`${based}/.dray/index.db`);
    await expect(pull(testContext(based), {})).rejects.toMatchObject({
      code: 'forgotten',
      message: expect.stringContaining('Clone the repository into another folder'),
      data: { commit: repository.commits.one, reason: 'base' },
    });
  });
});

describe('a pull from a forgotten base that was stopped', () => {
  it('takes a file that it deleted, and that came back meanwhile, without a conflict', async () => {
    const repository = await createRepository();
    const { root, sandbox, store } = repository;
    using _ = sandbox;
    await commit(repository, 'one', { a: object('1'), gone: 'gone' });
    await cloneWorkspace(testContext(sandbox.folder), { url: store, directory: sandbox.path('based') });
    rmSync(`${root}/gone`);
    await commit(repository, 'two', { a: object('2') });
    await forget(testContext(root), { policy: { keepLast: 1 } });
    await collect(repository);
    const [key] = keysBelow(store, 'objects');
    renameSync(`${store}/${key}`, `${store}/away`);
    expect(await pull(testContext(sandbox.path('based')), {})).toMatchObject({ failed: 1 });
    expect(existsSync(sandbox.path('based/gone'))).toBe(false);
    renameSync(`${store}/away`, `${store}/${key}`);
    await commit(repository, 'three', { gone: 'back again' });
    expect(await pull(testContext(sandbox.path('based')), {})).toMatchObject({ failed: 0, decided: 0 });
    expect(describeTree(sandbox.path('based'))).toEqual(describeTree(root));
  });
});

describe('a commit that is forgotten while it is read', () => {
  /** Stops before the request of that number, and lets the branch move on, forget and collect. */
  function losingAt(repository: Repository, request: number, directory: string) {
    let requests = 0;
    let isLost = false;
    const lose = async () => {
      isLost = true;
      await commit(repository, 'later', {
        a: object('L'),
        b: object('M'),
        'c/d': object('N').repeat(30),
        e: 'e',
      });
      await forget(testContext(repository.root), { policy: { keepLast: 1 } });
      await collect(repository);
    };
    const context = testContext(directory, {
      requestThrottle: {
        take: () => {
          requests += 1;
          return requests === request ? lose() : undefined;
        },
      },
    });
    return { context, isLost: () => isLost };
  }

  /** For each request of the command: it ends whole, or as forgotten. */
  async function loseAtEach(
    run: (context: TestContext, repository: Repository) => Promise<{ readonly failed: number }>,
    at: string,
  ): Promise<string[]> {
    const outcomes: string[] = [];
    const loseAt = async (request: number) => {
      const repository = await createRepository();
      using sandbox = repository.sandbox;
      await commit(repository, 'one', { a: object('a'), z: 'z' });
      await cloneWorkspace(testContext(sandbox.folder), {
        url: repository.store,
        directory: sandbox.path('based'),
      });
      await commit(repository, 'two', {
        a: object('b'),
        b: object('c'),
        'c/d': object('d').repeat(30),
        e: 'packed',
      });
      const { context, isLost } = losingAt(
        repository,
        request,
        at === '' ? sandbox.folder : sandbox.path(at),
      );
      const outcome = await run(context, repository).then(
        ({ failed }) => `whole with ${failed} failures`,
        (error: { readonly code: string }) => error.code,
      );
      expect(eventsOf(context, 'fileFailed')).toEqual([]);
      if (isLost()) outcomes.push(outcome);
      return isLost();
    };
    await sweepSteps(loseAt, { least: 3 });
    return outcomes;
  }

  it('fails a clone as forgotten, and not as damaged', async () => {
    const outcomes = await loseAtEach(
      (context, { sandbox, store }) =>
        cloneWorkspace(context, { url: store, directory: sandbox.path('clone') }),
      '',
    );
    expect(new Set(outcomes)).toEqual(new Set(['whole with 0 failures', 'forgotten']));
    expect(outcomes.filter((outcome) => outcome === 'forgotten').length).toBeGreaterThan(2);
  });

  it('fails a pull as forgotten, and not as damaged', async () => {
    const outcomes = await loseAtEach((context) => pull(context, {}), 'based');
    expect(new Set(outcomes)).toEqual(new Set(['whole with 0 failures', 'forgotten']));
    expect(outcomes.filter((outcome) => outcome === 'forgotten').length).toBeGreaterThan(2);
  });
});
