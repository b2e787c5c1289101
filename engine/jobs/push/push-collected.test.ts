/** A workspace whose base a collection has removed, since its branch was removed. */
import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { collectGarbage } from '../collect/collect.ts';
import { branch, tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { switchBranch } from '../pull/switch.ts';
import { initWorkspace } from '../remotes/init.ts';
import { commitKeyOf } from '../session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { push } from './push.ts';

interface Machines extends Disposable {
  readonly sandbox: Sandbox;
  /** On the branch `side`, which has two commits that need no content of their own. */
  readonly work: JobContext;
  readonly other: JobContext;
  readonly commits: readonly [string, string];
}

async function startMachines(): Promise<Machines> {
  const sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  const [work, other] = [testContext(sandbox.path('work')), testContext(sandbox.path('other'))];
  await initWorkspace(work, { remoteUrl: '../store' });
  for (const name of ['a', 'b', 'c']) sandbox.write(`work/${name}`, name);
  await push(work, {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'other' });
  await switchBranch(work, { name: 'side', create: true });
  const commits: string[] = [];
  for (const [name, text] of [
    ['b', 'a'],
    ['c', 'a'],
  ] as const) {
    sandbox.write(`work/${name}`, text);
    commits.push((await push(work, {})).commit!);
  }
  await branch(other, { name: 'side', remove: true });
  return {
    sandbox,
    work,
    other,
    commits: [commits[0]!, commits[1]!],
    [Symbol.dispose]: () => sandbox[Symbol.dispose](),
  };
}

const pathOf = ({ sandbox }: Machines, commit: string) => sandbox.path('store', commitKeyOf(commit));

/** Its base stays, since it is young. The commit before it goes. */
async function collectOld(machines: Machines): Promise<void> {
  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1_000);
  utimesSync(pathOf(machines, machines.commits[0]), yesterday, yesterday);
  await collectGarbage(machines.other, {});
  expect(machines.commits.map((commit) => existsSync(pathOf(machines, commit)))).toEqual([false, true]);
}

async function collectAll(machines: Machines): Promise<void> {
  await collectGarbage(machines.other, { graceSeconds: 0 });
  expect(machines.commits.map((commit) => existsSync(pathOf(machines, commit)))).toEqual([false, false]);
}

describe.each([
  ['its base', collectAll],
  ['a commit before its base', collectOld],
])('a push from a removed branch, after a collection removed %s,', (_, collect) => {
  it('is refused, and succeeds on another branch', async () => {
    using machines = await startMachines();
    const { other, sandbox, work } = machines;
    await collect(machines);
    sandbox.write('work/new', 'new');
    await expect(push(work, {})).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'baseCollected', command: 'dray switch' },
    });
    await switchBranch(work, { name: 'main' });
    expect(await push(work, {})).toMatchObject({ result: 'pushed' });
    expect(await verify(other, { readDataPercent: 100 })).toMatchObject({
      missing: 0,
      damaged: 0,
      commits: 2,
    });
    expect(await collectGarbage(other, { graceSeconds: 0 })).toMatchObject({ commits: 2 });
  });

  it('leaves the branch without a name for the base', async () => {
    using machines = await startMachines();
    await collect(machines);
    for (const name of [branch, tag])
      await expect(name(machines.work, { name: 'again', ref: machines.commits[1] })).rejects.toMatchObject({
        code: 'conflict',
        data: { reason: 'collected' },
      });
    expect(await verify(machines.other, {})).toMatchObject({ missing: 0, damaged: 0, commits: 1 });
  });
});
