/**
 * Kills an import of a DVC project before its changes to the file system in turn. What branches and tags name
 * then is whole, and the same command, run again, ends as if it had never been killed.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createDvcProject, dvcFile } from '../../engine/jobs/import/dvc/dvc-project.fixture.ts';
import { importDvc } from '../../engine/jobs/import/dvc/import-dvc.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { openFileStore } from '../../engine/remotes/file/file-store.ts';
import { listRefs, type StoredRef } from '../../engine/repository/refs.ts';
import { runWhole, STEPS, sweepKills } from '../interrupted/killed-command.ts';

/** The import is killed before every so many steps, and right before the branch moves. */
const STRIDE = runBudget({ short: 25, long: 1 });

let sandbox: Sandbox;
/** What each tag has: the tree that an import which was not killed has left. */
const expected = new Map<string, string[]>();
/** The refs of that import. */
let names: string[];
beforeAll(async () => {
  sandbox = createSandbox();
  const project = createDvcProject(sandbox);
  const large = Buffer.alloc(3_000_000, 'large enough for an object of its own');
  project.write('small.dvc', dvcFile('small', project.store('small')));
  project.commit('One');
  project.git('tag', 'v1');
  project.write('large.dvc', dvcFile('large', project.store(large)));
  project.write('small.dvc', dvcFile('small', project.store('small again')));
  project.commit('Two');
  project.git('tag', 'v2');
  await importDvc(context(), { project: 'project', to: 'whole', allCommits: true });
  names = (await refsOf('whole')).map(({ name }) => name);
  for (const tag of ['v1', 'v2']) expected.set(tag, await treeOf('whole', tag));
});
afterAll(() => sandbox?.[Symbol.dispose]());

const environment = () => ({ DRAY_CACHE: sandbox.path('cache') });
const context = () => testContext(sandbox.folder, { environment: environment() });
const parameters = ['import', 'dvc', 'project', '--all-commits', '--to', 'repository'];

async function refsOf(folder: string): Promise<readonly StoredRef[]> {
  const root = sandbox.path(folder);
  const store = await openFileStore({ root, create: false, mayBeMissing: true, clock: systemClock });
  try {
    return (await Promise.all([listRefs(store, 'heads'), listRefs(store, 'tags')])).flat();
  } finally {
    await store.close();
  }
}

async function treeOf(folder: string, ref: string): Promise<string[]> {
  const directory = sandbox.path('clone');
  await cloneWorkspace(context(), { url: sandbox.path(folder), directory, ref });
  const tree = describeTree(directory);
  rmSync(directory, { recursive: true });
  return tree;
}

describe('an import from DVC', () => {
  it('that is killed before a step leaves only whole versions, and completes when it runs again', async () => {
    const options = { cwd: sandbox.folder, environment: environment() };
    const reset = () => {
      rmSync(sandbox.path('repository'), { recursive: true, force: true });
      rmSync(sandbox.path('cache'), { recursive: true, force: true });
    };
    reset();
    await runWhole(parameters, options);
    let restarts = 0;
    const check = async (where: string) => {
      for (const { name } of await refsOf('repository')) {
        const tag = name === 'heads/main' ? 'v2' : name.slice('tags/'.length);
        expect(await treeOf('repository', name.slice(name.indexOf('/') + 1)), name).toEqual(
          expected.get(tag),
        );
      }
      const again = await importDvc(context(), { project: 'project', to: 'repository', allCommits: true });
      expect(again, where).toMatchObject({ failed: 0 });
      expect((await refsOf('repository')).map(({ name }) => name)).toEqual(names);
      for (const tag of ['v1', 'v2']) expect(await treeOf('repository', tag)).toEqual(expected.get(tag));
      if (again.readFiles < 3) restarts += 1;
    };
    const important = [STEPS.branchMoved, /^(link|rename) .*\/v2$/];
    await sweepKills({ parameters, options, stride: STRIDE, least: 3, important, begin: reset, check });
    // Later kills find content that the killed run has sent already.
    expect(restarts).toBeGreaterThan(0);
  });
});
