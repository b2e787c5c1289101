/** Branches and switches when something goes wrong around them. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { JobEvent } from '../../api/events.ts';
import type { PullSummary } from '../../api/jobs/jobs.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { onlyKey, tipOf } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { log } from './log.ts';
import { branch, tag } from './refs.ts';
import { findSoleCommits } from './sole-commits.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  sandbox.write('work/a', 'one');
  await push(testContext(root), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const clone = (name: string) =>
  cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: name });

describe('a switch', () => {
  it.runIf(process.platform === 'linux')(
    'follows the branch whose files it brought, even if the scan met a name that it cannot record (Linux only)',
    async () => {
      await switchBranch(testContext(root), { name: 'trial', create: true });
      sandbox.write('work/a', 'trial');
      await push(testContext(root), {});
      await clone('copy');
      const copy = sandbox.path('copy');
      writeFileSync(Buffer.from(`${copy}/caf\xe9`, 'latin1'), 'no UTF-8');
      expect(await switchBranch(testContext(copy), { name: 'trial' })).toMatchObject({
        branch: 'trial',
        failed: 1,
      });
      expect(readFileSync(join(copy, 'a'), 'utf8')).toBe('trial');
      expect(await status(testContext(copy), {})).toMatchObject({
        branch: 'trial',
        changes: { modified: 0 },
      });
    },
  );

  it('that stops at a conflict leaves the workspace on its branch', async () => {
    await switchBranch(testContext(root), { name: 'trial', create: true });
    sandbox.write('work/a', 'trial');
    await push(testContext(root), {});
    await clone('copy');
    sandbox.write('copy/a', 'mine');
    const copy = sandbox.path('copy');
    await expect(switchBranch(testContext(copy), { name: 'trial' })).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['a'], reason: 'switch' },
      message:
        'This workspace and the branch trial both changed a. Nothing was changed. Push or restore what changed here, then switch.',
    });
    expect(await status(testContext(copy), {})).toMatchObject({ branch: 'main' });
  });
});

describe('a conflict', () => {
  it('names what was typed, and advises commands that settle it', async () => {
    await tag(testContext(root), { name: 'v1' });
    sandbox.write('work/b', 'later');
    await push(testContext(root), {});
    await switchBranch(testContext(root), { name: 'trial', create: true });
    sandbox.write('work/a', 'trial');
    const { commit } = await push(testContext(root), {});
    await remoteAdd(testContext(root), { name: 'second', url: sandbox.path('store') });
    await clone('copy');
    const copy = sandbox.path('copy');
    await remoteAdd(testContext(copy), { name: 'second', url: sandbox.path('store') });
    await pull(testContext(copy, { remoteName: 'second' }), {});
    const settle = async (ref: string, what: string, remoteName?: string) => {
      sandbox.write('copy/a', `edited for ${ref}`);
      const context = testContext(copy, remoteName === undefined ? {} : { remoteName });
      const error = await pull(context, { ref }).catch((caught: Error) => caught);
      expect(error).toMatchObject({ code: 'conflict', data: { ref, count: 1 } });
      expect(String(error)).toContain(`This workspace and the ${what} both changed a.`);
      const [, command] = /or "dray (.*?)"/.exec(String(error)) ?? [];
      expect(command).toBe(`pull ${ref} --both${remoteName === undefined ? '' : ` --remote ${remoteName}`}`);
      expect(await runCli(command!.split(' '), { cwd: copy })).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(copy, 'a'), 'utf8')).toBe(ref === 'v1' ? 'one' : 'trial');
    };
    await settle('trial', 'branch trial');
    await settle('v1', 'tag v1');
    await settle(commit!.slice(0, 12), `commit ${commit!.slice(0, 12)}`);
    await settle('v1', 'tag v1');
    await settle('trial~0', 'branch trial~0', 'second');
  });
});

describe('a switch that does not bring all files', () => {
  const object = () => `${sandbox.path('store')}/${onlyKey(sandbox.path('store'), 'objects')}`;
  const hide = () => renameSync(object(), sandbox.path('hidden'));
  let bring: () => void;
  let main: string;

  /** On `main` with edits of its own; one of the objects of `trial` is missing. */
  beforeEach(async () => {
    sandbox.write('work/gone', 'goes');
    sandbox.write('work/mine', 'one');
    await push(testContext(root), {});
    main = tipOf(sandbox.path('store'));
    await switchBranch(testContext(root), { name: 'trial', create: true });
    sandbox.write('work/a', 'trial');
    sandbox.write('work/new/large', Buffer.alloc(1_500_000, 'large'));
    rmSync(join(root, 'gone'));
    await push(testContext(root), {});
    await switchBranch(testContext(root), { name: 'main' });
    sandbox.write('work/mine', 'own edit');
    const place = object();
    bring = () => renameSync(sandbox.path('hidden'), place);
    hide();
  });

  const fail = async (work: Promise<PullSummary>) =>
    expect(await work).toMatchObject({ failed: 1, branch: 'main' });
  const refused = async () => {
    await expect(push(testContext(root), {})).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /a and 1 more came by a transfer.*"dray switch trial".*dray switch main/,
      ),
      data: { path: 'a', count: 2 },
    });
    expect(tipOf(sandbox.path('store'))).toBe(main);
  };

  it('is reported by status, keeps a push from recording its part, and ends when it is run again', async () => {
    await fail(switchBranch(testContext(root), { name: 'trial' }));
    const context = testContext(root);
    expect(await status(context, {})).toMatchObject({ branch: 'main', changes: { modified: 1, deleted: 0 } });
    expect(eventsOf(context, 'warning')).toMatchObject([
      { warning: 'halfArrived', message: expect.stringContaining('It was "dray switch trial".') },
    ]);
    const logged = testContext(root);
    await log(logged, {});
    expect(eventsOf(logged, 'commit')[0]).toMatchObject({ commit: main, refs: ['main'] });
    await refused();
    rmSync(join(root, '.dray/index.db'));
    await refused();

    bring();
    expect(await switchBranch(testContext(root), { name: 'trial' })).toMatchObject({
      failed: 0,
      branch: 'trial',
    });
    const after = testContext(root);
    expect(await status(after, {})).toMatchObject({
      branch: 'trial',
      changes: { modified: 1, added: 0, deleted: 0 },
    });
    expect(eventsOf(after, 'warning')).toEqual([]);
    expect(await push(testContext(root), {})).toMatchObject({ branch: 'trial', changes: { modified: 1 } });
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('own edit');
  });

  it('is undone by a switch back, without the missing content', async () => {
    await fail(switchBranch(testContext(root), { name: 'trial' }));
    expect(await switchBranch(testContext(root), { name: 'main' })).toMatchObject({
      failed: 0,
      branch: 'main',
    });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('one');
    expect(readFileSync(join(root, 'gone'), 'utf8')).toBe('goes');
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('own edit');
    expect(await push(testContext(root), {})).toMatchObject({
      branch: 'main',
      changes: { modified: 1, deleted: 0 },
    });
  });

  it('from another remote is undone by the switch that the warning names', async () => {
    await remoteAdd(testContext(root), { name: 'backup', url: sandbox.path('store') });
    const backup = () => testContext(root, { remoteName: 'backup' });
    sandbox.write('work/mine', 'one');
    await pull(backup(), {});
    sandbox.write('work/mine', 'own edit');
    await fail(switchBranch(backup(), { name: 'trial' }));
    const context = testContext(root);
    await status(context, {});
    const [warning] = eventsOf(context, 'warning');
    expect(warning?.message).toContain('It was "dray switch trial --remote backup".');
    expect(warning?.message).toContain('go back by "dray switch main --remote backup"');
    await expect(push(testContext(root), {})).rejects.toMatchObject({ code: 'conflict' });
    await switchBranch(backup(), { name: 'main' });
    expect(await push(testContext(root), {})).toMatchObject({ branch: 'main', changes: { modified: 1 } });
  });

  it('continues to what its branch has become meanwhile, though both changed one file', async () => {
    await fail(switchBranch(testContext(root), { name: 'trial' }));
    bring();
    await cloneWorkspace(testContext(sandbox.folder), {
      url: sandbox.path('store'),
      directory: 'copy',
      ref: 'trial',
    });
    sandbox.write('copy/a', 'trial, later');
    await push(testContext(sandbox.path('copy')), {});
    expect(await switchBranch(testContext(root), { name: 'trial' })).toMatchObject({
      failed: 0,
      branch: 'trial',
    });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('trial, later');
  });

  it('is forgotten when none of its files is left', async () => {
    await fail(switchBranch(testContext(root), { name: 'trial' }));
    await restore(testContext(root), { paths: ['a', 'gone'], from: 'main' });
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
    expect(JSON.parse(readFileSync(join(root, '.dray/state.json'), 'utf8'))).not.toHaveProperty('arriving');
  });

  it('counts as well when it was stopped, and so does a pull of another commit', async () => {
    const stop = new AbortController();
    const isFirst = setInterval(() => existsSync(join(root, 'gone')) || stop.abort(), 0);
    const emit = (event: JobEvent) => event.type === 'fileFailed' && stop.abort();
    const stopped = switchBranch(testContext(root, { signal: stop.signal, emit }), { name: 'trial' });
    await stopped.catch(() => {}).finally(() => clearInterval(isFirst));
    expect(stop.signal.aborted).toBe(true);
    await expect(push(testContext(root), {})).rejects.toMatchObject({ code: 'conflict' });
    await switchBranch(testContext(root), { name: 'main' });
    expect(await pull(testContext(root), { ref: 'trial' })).toMatchObject({ failed: 1 });
    await expect(push(testContext(root), {})).rejects.toMatchObject({
      message: expect.stringContaining('"dray pull trial"'),
    });
    bring();
    expect(await pull(testContext(root), { ref: 'trial' })).toMatchObject({ failed: 0 });
    expect(await status(testContext(root), {})).toMatchObject({
      branch: 'main',
      changes: { modified: 1, added: 0 },
    });
  });
});

describe('a push to a branch that another user removed', () => {
  it('creates it again, with everything that the workspace has', async () => {
    await clone('copy');
    await switchBranch(testContext(root), { name: 'trial', create: true });
    await branch(testContext(root), { name: 'main', remove: true });
    sandbox.write('copy/b', 'two');
    const copy = sandbox.path('copy');
    expect(await push(testContext(copy), {})).toMatchObject({ result: 'pushed', failed: 0, branch: 'main' });
    rmSync(root, { recursive: true });
    await clone('again');
    expect(describeTree(sandbox.path('again'))).toEqual(describeTree(copy));
  });
});

describe('a branch or a tag', () => {
  const branches = async () => {
    const context = testContext(root);
    await branch(context, {});
    return eventsOf(context, 'ref').map(({ commit, current, name }) => ({ name, commit, current }));
  };
  const commitOf = async (name: string) => (await branches()).find((one) => one.name === name)?.commit ?? '';

  it('is created at any commit, and moves only with force', async () => {
    const first = await commitOf('main');
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    expect(await branch(testContext(root), { name: 'old', ref: first })).toMatchObject({ result: 'created' });
    expect(await commitOf('old')).toBe(first);
    const move = { name: 'old', ref: 'main' };
    await expect(branch(testContext(root), move)).rejects.toMatchObject({ code: 'conflict' });
    expect(await branch(testContext(root), { ...move, force: true })).toMatchObject({ result: 'moved' });
    expect(await commitOf('old')).toBe(await commitOf('main'));
  });

  it('is not moved, renamed or removed if it has moved since the caller read it', async () => {
    const first = await commitOf('main');
    await branch(testContext(root), { name: 'side' });
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    await branch(testContext(root), { name: 'side', ref: 'main', force: true });
    const asked = [
      { name: 'side', ref: first, force: true, at: first },
      { name: 'side', rename: 'other', at: first },
      { name: 'side', remove: true, at: first },
    ];
    for (const request of asked)
      await expect(branch(testContext(root), request)).rejects.toMatchObject({ code: 'conflict' });
    expect((await branches()).map(({ name }) => name)).toEqual(['main', 'side']);
  });

  it('is renamed, also the branch of the workspace', async () => {
    const commit = await commitOf('main');
    expect(await branch(testContext(root), { name: 'main', rename: 'trunk' })).toMatchObject({
      result: 'renamed',
    });
    expect(await branches()).toEqual([{ name: 'trunk', commit, current: true }]);
    expect(await status(testContext(root), {})).toMatchObject({ branch: 'trunk' });
    sandbox.write('work/a', 'two');
    expect(await push(testContext(root), {})).toMatchObject({ branch: 'trunk' });
    await tag(testContext(root), { name: 'v1' });
    await tag(testContext(root), { name: 'v1', rename: 'v2' });
    const context = testContext(root);
    await tag(context, {});
    expect(eventsOf(context, 'ref').map(({ name }) => name)).toEqual(['v2']);
  });

  it('is not renamed to a name that another commit has', async () => {
    await branch(testContext(root), { name: 'side' });
    sandbox.write('work/a', 'two');
    await push(testContext(root), {});
    await expect(branch(testContext(root), { name: 'main', rename: 'side' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await branches()).map(({ name }) => name)).toEqual(['main', 'side']);
  });

  it('completes an interrupted renaming in another run', async () => {
    await branch(testContext(root), { name: 'side' });
    await branch(testContext(root), { name: 'new', ref: 'side' });
    await branch(testContext(root), { name: 'side', rename: 'new' });
    expect((await branches()).map(({ name }) => name)).toEqual(['main', 'new']);
  });

  it('counts the commits that no other ref reaches', async () => {
    const sole = (name: string, to?: string) =>
      findSoleCommits(testContext(root), { kind: 'heads', name, ...(to === undefined ? {} : { to }) });
    const first = await commitOf('main');
    await branch(testContext(root), { name: 'side' });
    expect(await sole('side')).toEqual({ commit: first, commits: 0, isMore: false });
    for (const text of ['two', 'three']) {
      sandbox.write('work/a', text);
      await push(testContext(root), {});
    }
    const newest = await commitOf('main');
    expect(await sole('main')).toEqual({ commit: newest, commits: 2, isMore: false });
    expect(await sole('side')).toMatchObject({ commits: 0 });
    await tag(testContext(root), { name: 'v1' });
    expect(await sole('main', first)).toMatchObject({ commits: 0 });
    expect(await sole('nothing')).toEqual({ commits: 0, isMore: false });
  });
});

describe('the dry run of a switch', () => {
  it('reports the changes, or fails as the switch would, and stays on the branch', async () => {
    await switchBranch(testContext(root), { name: 'trial', create: true });
    sandbox.write('work/a', 'trial');
    await push(testContext(root), {});
    const there = testContext(root);
    expect(await switchBranch(there, { name: 'main', dryRun: true })).toMatchObject({
      result: 'wouldPull',
      changes: { modified: 1 },
    });
    expect(eventsOf(there, 'change').map(({ path }) => path)).toEqual(['a']);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('trial');
    expect(await status(testContext(root), {})).toMatchObject({ branch: 'trial' });
    sandbox.write('work/a', 'not pushed');
    await expect(switchBranch(testContext(root), { name: 'main', dryRun: true })).rejects.toMatchObject({
      code: 'conflict',
    });
    await branch(testContext(root), { name: 'same' });
    await switchBranch(testContext(root), { name: 'same', dryRun: true });
    expect(await status(testContext(root), {})).toMatchObject({ branch: 'trial' });
  });
});
