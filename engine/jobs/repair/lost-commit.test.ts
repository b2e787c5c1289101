import { mkdirSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd } from '../remotes/remotes.ts';
import { commitKeyOf } from '../session/damage.fixture.ts';
import { createSandbox, testContext } from '../session/job.fixture.ts';
import { repair } from './repair.ts';

it('a lost record of an old commit is no lost branch, and a clone goes to a new repository', async () => {
  using sandbox = createSandbox();
  const [root, remote] = [sandbox.path('work'), sandbox.path('store')];
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: remote });
  const commits: string[] = [];
  for (const text of ['1', '2', '3']) {
    sandbox.write('work/a', text);
    commits.push((await push(testContext(root), {})).commit!);
  }
  rmSync(`${remote}/${commitKeyOf(commits[1]!)}`);
  expect(await repair(testContext(root), {})).toMatchObject({
    result: 'notRepaired',
    lostRefs: 0,
    unnamed: 1,
  });
  await expect(collectGarbage(testContext(root), { graceSeconds: 0 })).rejects.toMatchObject({
    data: { advice: expect.stringContaining('dray repair --end-history') },
  });
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'copy' });
  const copy = sandbox.path('copy');
  await remoteAdd(testContext(copy), { name: 'new', url: sandbox.path('other') });
  const atNew = () => testContext(copy, { remoteName: 'new' });
  await push(atNew(), {});
  expect(await verify(atNew(), {})).toMatchObject({ missing: 0, damaged: 0 });
  await collectGarbage(atNew(), { graceSeconds: 0 });
});
