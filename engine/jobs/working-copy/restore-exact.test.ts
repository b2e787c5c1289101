import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import { tag } from '../history/refs.ts';
import { putBackKept } from '../kept/kept-files.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { diff } from './diff.ts';
import { planRestore, restore } from './restore.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  sandbox.write('work/.drayignore', '*.log\n');
  sandbox.write('work/a', 'one');
  sandbox.write('work/sub/b', 'bee');
  sandbox.write('work/was-folder/x', 'x');
  mkdirSync(join(root, 'empty'));
  await push(testContext(root), {});
  await tag(testContext(root), { name: 'v1' });
  rmSync(join(root, 'was-folder'), { recursive: true });
  sandbox.write('work/was-folder', 'a file now');
  sandbox.write('work/a', 'two');
  sandbox.write('work/new/deep/c', 'committed');
  sandbox.write('work/empty/d', 'committed too');
  await push(testContext(root), {});
  sandbox.write('work/new/mine', 'never pushed');
  sandbox.write('work/sub/edit', 'never pushed either');
  sandbox.write('work/sub/kept.log', 'ignored');
});
afterEach(() => sandbox[Symbol.dispose]());

const differing = async (from: string) => {
  const context = testContext(root);
  await diff(context, { from });
  return eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`);
};

describe('restore --exact', () => {
  it('leaves exactly what the commit has, but for ignored files, and keeps what no commit has', async () => {
    const request = { paths: ['.'], from: 'v1', exact: true };
    expect(await planRestore(testContext(root), request)).toMatchObject({
      removed: 5,
      removedPaths: ['empty/d', 'new/deep/c', 'new/mine', 'sub/edit', 'was-folder'],
      changed: 2,
      changedPaths: ['new/mine', 'sub/edit'],
    });
    expect(existsSync(join(root, 'new/mine'))).toBe(true);
    const summary = await restore(testContext(root), request);
    expect(summary).toMatchObject({ restored: 3, removed: 5, failed: 0, kept: { files: 2 } });
    expect(await differing('v1')).toEqual([]);
    expect(describeTree(root, { times: false }).map((line) => line.split(' ')[0])).toEqual([
      '.drayignore',
      'a',
      'empty/',
      'sub/',
      'sub/b',
      'sub/kept.log',
      'was-folder/',
      'was-folder/x',
    ]);
    await putBackKept(testContext(root), { id: summary.kept!.id });
    expect(readFileSync(join(root, 'new/mine'), 'utf8')).toBe('never pushed');
    // The base is as it was, and a push records the restored state.
    expect(await differing('main')).toContain('modified a');
    rmSync(join(root, 'new'), { recursive: true });
    rmSync(join(root, 'sub/edit'));
    await push(testContext(root), {});
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
    writeFileSync(sandbox.path('copy/sub/kept.log'), 'ignored');
    expect(describeTree(sandbox.path('copy'), { times: false })).toEqual(
      describeTree(root, { times: false }),
    );
  });

  it('removes a path that the commit lacks, and no other', async () => {
    expect(await restore(testContext(root), { paths: ['new'], from: 'v1', exact: true })).toMatchObject({
      restored: 0,
      removed: 2,
    });
    expect([existsSync(join(root, 'new')), existsSync(join(root, 'sub/edit'))]).toEqual([false, true]);
    await expect(
      restore(testContext(root), { paths: ['nowhere'], from: 'v1', exact: true }),
    ).rejects.toMatchObject({ code: 'notFound' });
    expect(await restore(testContext(root), { paths: ['sub'], from: 'v1' })).not.toHaveProperty('removed');
  });

  it('refuses to lose changes that are to be kept, and stays within the part', async () => {
    await expect(
      restore(testContext(root), { paths: ['new'], from: 'v1', exact: true, keepsChanges: true }),
    ).rejects.toMatchObject({ code: 'conflict', data: { changedPaths: ['new/mine'] } });
    await cloneWorkspace(testContext(sandbox.folder), {
      url: sandbox.path('store'),
      directory: 'part',
      only: ['new'],
    });
    writeFileSync(sandbox.path('part/outside'), 'outside');
    const part = testContext(sandbox.path('part'));
    expect(await restore(part, { paths: ['.'], from: 'v1', exact: true })).toMatchObject({ removed: 1 });
    expect(readFileSync(sandbox.path('part/outside'), 'utf8')).toBe('outside');
  });
});

describe('the advice of a restore that cannot', () => {
  it('is a command that works, in any folder and for files and folders', async () => {
    await cloneWorkspace(testContext(sandbox.folder), {
      url: sandbox.path('store'),
      directory: 'part',
      only: ['a'],
    });
    const part = sandbox.path('part');
    mkdirSync(join(part, 'sub'));
    for (const [cwd, path, from] of [
      [part, 'sub/b', undefined],
      [join(part, 'sub'), 'b', 'v1'],
      [part, 'new', undefined],
      [join(part, 'sub'), '../was-folder', 'v1~0'],
    ] as const) {
      const error = await restore(testContext(cwd), { paths: [path], ...(from && { from }) }).catch(
        (caught: Error) => caught,
      );
      const [, read] = /or (?:read|list) it with "dray (.*?)"/.exec(String(error)) ?? [];
      expect(await runCli(read!.split(' '), { cwd })).toMatchObject({
        exitCode: 0,
        stderr: expect.any(String),
      });
    }
    for (const from of [undefined, 'v1~0']) {
      const error = await restore(testContext(part), { paths: ['nothing'], ...(from && { from }) }).catch(
        (caught: Error) => caught,
      );
      const [, list] = /"dray (ls.*?)" shows/.exec(String(error)) ?? [];
      expect(await runCli(list!.split(' '), { cwd: part })).toMatchObject({ exitCode: 0 });
    }
  });
});
