import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listTree } from '../history/list-tree.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { push } from './push.ts';

async function workspaceIn(sandbox: Sandbox): Promise<string> {
  const root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('remote') });
  sandbox.write('work/kept.txt', 'kept');
  sandbox.write('work/changed.txt', 'before');
  sandbox.write('work/folder/inside.txt', 'inside');
  sandbox.write('work/gone.txt', 'gone');
  await push(testContext(root), {});
  return root;
}

async function pushedPaths(root: string): Promise<Record<string, number>> {
  const context = testContext(root);
  await listTree(context, { recursive: true });
  return Object.fromEntries(eventsOf(context, 'entry').map(({ path, sizeBytes }) => [path, sizeBytes]));
}

async function changesIn(root: string): Promise<string[]> {
  const context = testContext(root);
  await status(context, {});
  return eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`);
}

describe('a push that skips paths', () => {
  it('leaves them as the base has them, and shows their changes again afterwards', async () => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    sandbox.write('work/changed.txt', 'after it was changed');
    sandbox.write('work/new.txt', 'new');
    sandbox.write('work/folder/other.txt', 'other');
    sandbox.write('work/pushed.txt', 'pushed');
    symlinkSync('kept.txt', sandbox.path('work/link'));
    unlinkSync(sandbox.path('work/gone.txt'));
    chmodSync(sandbox.path('work/folder/inside.txt'), 0o755);
    const skip = ['changed.txt', 'new.txt', 'folder/', 'gone.txt', 'link', 'not-there.txt'];

    const summary = await push(testContext(root), { skip });

    expect(summary).toMatchObject({ result: 'pushed', changes: { added: 1, modified: 0, deleted: 0 } });
    expect(await pushedPaths(root)).toEqual({
      'changed.txt': 6,
      'folder/inside.txt': 6,
      'gone.txt': 4,
      'kept.txt': 4,
      'pushed.txt': 6,
    });
    const left = [
      'modified changed.txt',
      'mode folder/inside.txt',
      'added folder/other.txt',
      'deleted gone.txt',
      'added link',
      'added new.txt',
    ];
    expect(await changesIn(root)).toEqual(left);

    await push(testContext(root), {});
    expect(await changesIn(root)).toEqual([]);
    expect(Object.keys(await pushedPaths(root))).not.toContain('gone.txt');
  });

  it('has nothing to push when only skipped paths changed', async () => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    rmSync(sandbox.path('work/folder'), { recursive: true });
    const summary = await push(testContext(root), { skip: ['folder/'] });
    expect(summary.result).toBe('nothingToPush');
    expect(await changesIn(root)).toEqual(['deleted folder/inside.txt']);
  });

  it('does not record a skipped file whose content was read before', async () => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    sandbox.write('work/changed.txt', 'AFTER!');
    // A dry run reads it and keeps its hash.
    await push(testContext(root), { dryRun: true });
    expect(await push(testContext(root), { skip: ['changed.txt'] })).toMatchObject({
      result: 'nothingToPush',
    });
    expect(await changesIn(root)).toEqual(['modified changed.txt']);
  });

  it.each([
    ['a file that became a folder', 'gone.txt', 'gone.txt/', ['gone.txt', 'gone.txt/']],
    ['a folder that became a file', 'folder/', 'folder', ['folder/', 'folder']],
    [
      'what was in a folder that became a file',
      'folder/inside.txt',
      'folder',
      ['folder/inside.txt', 'folder'],
    ],
  ])('refuses to skip %s without skipping what replaced it', async (_, half, place, whole) => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    const before = await pushedPaths(root);
    rmSync(sandbox.path('work', half), { recursive: true });
    if (place.endsWith('/')) sandbox.write(`work/${place}deep/new`, 'new');
    else {
      rmSync(sandbox.path('work', place), { recursive: true, force: true });
      sandbox.write(`work/${place}`, 'a file now');
    }
    const changes = await changesIn(root);
    await expect(push(testContext(root), { skip: [half] })).rejects.toMatchObject({
      code: 'usage',
      data: { path: half },
    });
    expect(await pushedPaths(root)).toEqual(before);
    expect(await changesIn(root)).toEqual(changes);
    expect(await push(testContext(root), { skip: whole })).toMatchObject({ result: 'nothingToPush' });
    expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed' });
  });

  it('skips new files in a folder that was a file, when the file goes', async () => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    unlinkSync(sandbox.path('work/gone.txt'));
    sandbox.write('work/gone.txt/new', 'new');
    expect(await push(testContext(root), { skip: ['gone.txt/new'] })).toMatchObject({
      changes: { deleted: 1 },
    });
    expect(await pushedPaths(root)).not.toHaveProperty(['gone.txt']);
  });

  it('is refused together with --no-index', async () => {
    using sandbox = createSandbox();
    const root = await workspaceIn(sandbox);
    await expect(push(testContext(root), { skip: ['a'], noIndex: true })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
