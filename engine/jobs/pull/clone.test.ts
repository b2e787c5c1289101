import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { switchBranch } from './switch.ts';

let sandbox: Sandbox;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  for (let at = 0; at < 30; at += 1) sandbox.write(`work/${at % 3}/${at}`, `content of ${at}`);
  await push(testContext(work), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const clone = (more: { readonly ref?: string; readonly signal?: AbortSignal } = {}) => {
  const { ref, signal } = more;
  return cloneWorkspace(testContext(sandbox.folder, signal ? { signal } : {}), {
    url: sandbox.path('store'),
    directory: 'copy',
    ...(ref === undefined ? {} : { ref }),
  });
};

describe('two clones into one folder at once', () => {
  it('give one clone: the other is refused and removes nothing', async () => {
    const outcomes = await Promise.allSettled([clone(), clone()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const copy = sandbox.path('copy');
    expect(describeTree(copy)).toEqual(describeTree(work));
    expect(await status(testContext(copy), {})).toMatchObject({
      branch: 'main',
      files: 30,
      changes: { added: 0 },
    });
  });
});

describe('a clone that resumes a stopped one', () => {
  it('follows the requested branch, not the earlier one', async () => {
    await switchBranch(testContext(work), { name: 'trial', create: true });
    sandbox.write('work/new', 'of the trial');
    await push(testContext(work), {});
    await clone({ ref: 'main' });
    const copy = sandbox.path('copy');
    // As a kill leaves it: files, and no base yet.
    const statePath = `${copy}/.dray/state.json`;
    const state = JSON.parse(readFileSync(statePath, 'utf8'));
    sandbox.write('copy/.dray/state.json', JSON.stringify({ ...state, bases: {} }));
    rmSync(`${copy}/0`, { recursive: true });
    expect(await clone({ ref: 'trial' })).toMatchObject({ branch: 'trial', failed: 0 });
    expect(describeTree(copy)).toEqual(describeTree(work));
    expect(await status(testContext(copy), {})).toMatchObject({ branch: 'trial', changes: { added: 0 } });
    expect(readdirSync(`${copy}/.dray/tmp`)).toEqual([]);
  });
});
