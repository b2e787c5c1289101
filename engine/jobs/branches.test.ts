/** What a workspace makes of its branch when things go wrong around it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from './clone.ts';
import { initWorkspace } from './init.ts';
import { createSandbox, type Sandbox, testContext } from './job-fixture.ts';
import { push } from './push.ts';
import { branch } from './refs.ts';
import { describeTree } from './same-trees.ts';
import { status } from './status.ts';
import { switchBranch } from './switch.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store') });
  sandbox.write('work/a', 'one');
  await push(testContext(root), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const clone = (name: string) =>
  cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: name });

describe('a switch', () => {
  it.runIf(process.platform === 'linux')(
    'follows the branch whose files it brought, also where the scan met a name that it cannot record (Linux only)',
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
    });
    expect(await status(testContext(copy), {})).toMatchObject({ branch: 'main' });
  });
});

describe('a push to a branch that somebody removed', () => {
  it('makes it anew, with all that the workspace has', async () => {
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
