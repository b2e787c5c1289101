/** A push that was killed between the move of its ref and its own bookkeeping. */
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openIndex } from '../../index/open-index.ts';
import { readConfig, readState, requireWorkspace } from '../../workspace/workspace-folder.ts';
import { branch, tag } from '../history/refs.ts';
import { merge } from '../merge/merge.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { switchBranch } from '../pull/switch.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { scope } from '../scope/scope.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
let root: string;
const work = () => testContext(root);
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  for (const path of ['a', 'b', 'part/c']) sandbox.write(`work/${path}`, `first ${path}`);
  await push(work(), {});
  await branch(work(), { name: 'dev' });
});
afterEach(() => sandbox[Symbol.dispose]());

/** The branch has the commit, and the workspace is as before the push apart from what it recorded first. */
async function pushWithoutKnowing(): Promise<string> {
  const folder = join(root, '.dray');
  const before = sandbox.path('before');
  cpSync(folder, before, { recursive: true, preserveTimestamps: true });
  const { branch: name, commit } = await push(work(), {});
  rmSync(folder, { recursive: true });
  cpSync(before, folder, { recursive: true, preserveTimestamps: true });
  rmSync(before, { recursive: true });
  const workspace = requireWorkspace(root, () => false);
  const { repository } = readConfig(workspace).remotes.origin!;
  const base = readState(workspace).bases.origin ?? null;
  const { index } = openIndex(workspace.indexPath);
  const origin = { repository, branch: name, base, own: commit };
  index.settings.unconfirmedPush = JSON.stringify({ remotes: { origin } });
  index.close();
  return commit!;
}

async function edits(): Promise<readonly string[]> {
  const context = work();
  await status(context, {});
  return eventsOf(context, 'change').map(({ path }) => path);
}

const content = (path: string) =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;

async function commitOf(job: typeof branch, name: string): Promise<string | undefined> {
  const context = work();
  await job(context, {});
  return eventsOf(context, 'ref').find((ref) => ref.name === name)?.commit;
}

describe('After a push that was killed behind its ref', () => {
  let own: string;
  beforeEach(async () => {
    sandbox.write('work/a', 'pushed');
    sandbox.write('work/new', 'pushed');
    own = await pushWithoutKnowing();
    expect(await edits()).toEqual(['a', 'new']);
  });

  it('a switch leaves what was pushed on its branch', async () => {
    sandbox.write('work/b', 'an edit');
    await switchBranch(work(), { name: 'dev' });
    expect(content('a')).toBe('first a');
    expect(content('new')).toBeUndefined();
    expect(await edits()).toEqual(['b']);
    await push(work(), {});
    await switchBranch(work(), { name: 'main' });
    expect([content('a'), content('new'), content('b')]).toEqual(['pushed', 'pushed', 'first b']);
  });

  it('a switch to a new branch starts it at what was pushed', async () => {
    await switchBranch(work(), { name: 'next', create: true });
    expect(await commitOf(branch, 'next')).toBe(own);
    expect(await edits()).toEqual([]);
  });

  it('a push to another remote leaves the record of this one', async () => {
    await remoteAdd(work(), { name: 'second', url: sandbox.path('second') });
    await push(testContext(root, { remoteName: 'second' }), {});
    await switchBranch(work(), { name: 'dev' });
    expect([content('a'), content('new')]).toEqual(['first a', undefined]);
    expect(await edits()).toEqual([]);
  });

  it('a record as an earlier version wrote it counts', async () => {
    const { index } = openIndex(requireWorkspace(root, () => false).indexPath);
    const { remotes } = JSON.parse(index.settings.unconfirmedPush!) as { remotes: { origin: object } };
    index.settings.unconfirmedPush = JSON.stringify(remotes.origin);
    index.close();
    await switchBranch(work(), { name: 'dev' });
    expect(await edits()).toEqual([]);
  });

  it('a dry run of a switch shows what the switch would do', async () => {
    expect(await switchBranch(work(), { name: 'dev', dryRun: true })).toMatchObject({
      changes: { modified: 1, deleted: 1 },
    });
  });

  it('a new branch and a new tag name what was pushed, also as @', async () => {
    await branch(work(), { name: 'next' });
    await tag(work(), { name: 'v1', ref: '@' });
    await tag(work(), { name: 'v1', ref: '@~1', force: true });
    expect(await commitOf(branch, 'next')).toBe(own);
    expect(await commitOf(tag, 'v1')).toBe(await commitOf(branch, 'dev'));
    await tag(work(), { name: 'v1', force: true });
    expect(await commitOf(tag, 'v1')).toBe(own);
  });

  it('the branch may get another name', async () => {
    await branch(work(), { name: 'main', rename: 'trunk' });
    expect(await edits()).toEqual([]);
    sandbox.write('work/a', 'an edit');
    expect(await push(work(), {})).toMatchObject({ result: 'pushed', changes: { modified: 1, added: 0 } });
  });

  it('a restore brings back what was pushed', async () => {
    sandbox.write('work/a', 'an edit');
    expect(await restore(work(), { paths: [join(root, 'a')] })).toMatchObject({ restored: 1 });
    expect(content('a')).toBe('pushed');
    expect(await edits()).toEqual([]);
  });

  it('a narrower scope removes what was pushed outside of it', async () => {
    await scope(work(), { action: 'only', patterns: ['part'] });
    expect([content('a'), content('new'), content('part/c')]).toEqual([undefined, undefined, 'first part/c']);
    expect(await push(work(), {})).toMatchObject({ result: 'nothingToPush' });
  });
});

it('A switch after a push that recorded a merge, and was killed behind its ref, needs no second push', async () => {
  await switchBranch(work(), { name: 'dev' });
  sandbox.write('work/dev', 'dev');
  await push(work(), {});
  await switchBranch(work(), { name: 'main' });
  sandbox.write('work/b', 'of main');
  await push(work(), {});
  await merge(work(), { ref: 'dev' });
  const merged = await pushWithoutKnowing();
  await switchBranch(work(), { name: 'dev' });
  expect([content('b'), content('dev')]).toEqual(['first b', 'dev']);
  await switchBranch(work(), { name: 'main' });
  expect(await status(work(), {})).toMatchObject({ commit: merged });
  expect(await edits()).toEqual([]);
});

it('A clone that goes on after a push that was killed behind its ref has no conflict with that push', async () => {
  sandbox.write('work/large', Buffer.alloc(1_500_000, 'large'));
  await push(work(), {});
  const objects = readdirSync(sandbox.path('store/objects'), { recursive: true, withFileTypes: true });
  const { name, parentPath } = objects.find((item) => item.isFile())!;
  renameSync(join(parentPath, name), sandbox.path('large'));
  const clone = () =>
    cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
  expect(await clone()).toMatchObject({ failed: 1 });
  root = sandbox.path('copy');
  sandbox.write('copy/b', 'pushed');
  await pushWithoutKnowing();
  sandbox.write('copy/b', 'an edit');
  renameSync(sandbox.path('large'), join(parentPath, name));
  expect(await clone()).toMatchObject({ failed: 0, decided: 0 });
  expect(content('b')).toBe('an edit');
  expect(await edits()).toEqual(['b']);
});
