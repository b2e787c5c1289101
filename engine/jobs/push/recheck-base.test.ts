import { mkdirSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), {
    remoteUrl: sandbox.path('store'),
    layout: { chunkAbove: 4_000_000 },
  });
  sandbox.write('work/small/a', 'one');
  sandbox.write('work/small/b', 'two');
  sandbox.write('work/middle', new Uint8Array(2_000_000).fill(1));
  sandbox.write(
    'work/large',
    new Uint8Array(9_000_000).map((_, at) => (at * 2_654_435_761) >>> 24),
  );
  await push(testContext(root), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const whole = { missing: 0, damaged: 0 };

describe('a push with --no-index', () => {
  it('finds an intact repository intact, and sends nothing', async () => {
    const again = await push(testContext(root), { noIndex: true });
    expect(again).toMatchObject({ result: 'nothingToPush', uploadedObjects: 0, requests: { writes: 0 } });
    expect(await push(testContext(root), {})).toMatchObject({
      result: 'nothingToPush',
      requests: { total: 1 },
    });
  });

  it('stores lost objects and chunks again under their names, without a new commit', async () => {
    rmSync(sandbox.path('store/objects'), { recursive: true });
    expect((await verify(testContext(root), {})).missing).toBeGreaterThan(1);
    const repaired = await push(testContext(root), { noIndex: true });
    expect(repaired).toMatchObject({ result: 'nothingToPush', failed: 0 });
    expect(repaired.uploadedObjects).toBeGreaterThan(1);
    expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject(whole);
  });

  it('stores the content of lost packs in new ones, and commits the new places', async () => {
    rmSync(sandbox.path('store/packs'), { recursive: true });
    sandbox.write('work/small/c', 'three');
    const repaired = await push(testContext(root), { noIndex: true });
    expect(repaired).toMatchObject({ result: 'pushed', changes: { added: 1, modified: 0 } });
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
    expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(root));
    expect(await verify(testContext(root), { ref: 'main', readDataPercent: 100 })).toMatchObject(whole);
  });

  it('names content that is neither on the remote nor in the workspace', async () => {
    rmSync(sandbox.path('store/packs'), { recursive: true });
    sandbox.write('work/small/a', 'another');
    const context = testContext(root);
    await push(context, { noIndex: true });
    const lost = eventsOf(context, 'warning').filter((event) => event.warning === 'contentLost');
    expect(lost.map((event) => event.path)).toEqual(['small/a']);
  });
});
