/** Imports of a growing history, round after round: what is there stays, what is new comes on top of it. */
import { hash as hashOf } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../../base/run-budget.fixture.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { openFileStore } from '../../../remotes/file/file-store.ts';
import { readCommit } from '../../../repository/commit.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { listRefs } from '../../../repository/refs.ts';
import { createSandbox, testContext } from '../../session/job.fixture.ts';
import { createDvcProject, dvcFile, type HandMadeProject, md5Of } from './dvc-project.fixture.ts';
import { importDvc } from './import-dvc.ts';

const BRANCHES = ['main', 'side'];

const step = fc.oneof(
  fc.record({ kind: fc.constant('data' as const), file: fc.nat(2), content: fc.nat(2) }),
  fc.record({ kind: fc.constant('missing' as const), file: fc.nat(2) }),
  fc.record({ kind: fc.constant('remove' as const), file: fc.nat(2) }),
  fc.record({ kind: fc.constant('code' as const) }),
  fc.record({ kind: fc.constant('switch' as const), branch: fc.nat(1) }),
  fc.record({ kind: fc.constant('merge' as const), branch: fc.nat(1) }),
  fc.record({ kind: fc.constant('import' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function take(project: HandMadeProject, next: Step, number: number): void {
  const remove = (file: number) =>
    existsSync(join(project.root, `${file}.dvc`)) && project.remove(`${file}.dvc`);
  if (next.kind === 'switch') project.git('checkout', '-q', BRANCHES[next.branch]!);
  else if (next.kind === 'merge')
    project.git('merge', '-q', '--no-ff', '-s', 'ours', '-m', `Merge ${number}`, BRANCHES[next.branch]!);
  else {
    if (next.kind === 'data')
      project.write(`${next.file}.dvc`, dvcFile(`${next.file}`, project.store(`content ${next.content}`)));
    else if (next.kind === 'missing')
      project.write(`${next.file}.dvc`, dvcFile(`${next.file}`, md5Of(`missing ${next.file}`)));
    else if (next.kind === 'remove') remove(next.file);
    else project.write('code.py', `${number}`);
    project.commit(`Commit ${number}`);
  }
}

describe('imports of a growing history', () => {
  it('end as one import of all of it does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        using sandbox = createSandbox();
        const project = createDvcProject(sandbox);
        project.write('0.dvc', dvcFile('0', project.store('first')));
        project.commit('First');
        project.git('branch', 'side');
        const run = async (to: string) => {
          const environment = { DRAY_CACHE: sandbox.path('cache') };
          const request = { project: 'project', to, allCommits: true, skipMissing: true };
          return importDvc(testContext(sandbox.folder, { environment }), request);
        };
        for (const [number, next] of steps.entries()) {
          if (next.kind === 'import') await run('rounds');
          else take(project, next, number);
        }
        const last = await run('rounds');
        expect(await run('rounds')).toMatchObject({ result: 'upToDate', commits: 0, failed: last.failed });
        const { failed } = await run('once');
        expect(await run('once')).toMatchObject({ result: 'upToDate', failed });
        expect(failed).toBe(last.failed);
        expect(await historyOf(sandbox.path('rounds'))).toEqual(await historyOf(sandbox.path('once')));
      }),
      { numRuns: runBudget({ short: 4, long: 60, full: 500 }) },
    );
  });
});

/** What each branch names: messages, parents and contents, without what belongs to the repository itself. */
async function historyOf(root: string): Promise<readonly unknown[]> {
  const store = await openFileStore({ root });
  const seen = new Map<CommitHash, string>();
  const describeCommit = async (hash: CommitHash): Promise<string> => {
    const known = seen.get(hash);
    if (known !== undefined) return known;
    const commit = await readCommit(store, hash);
    const files: string[] = [];
    for await (const entries of readEntries(store, commit))
      for (const entry of entries) if (entry.kind === 'file') files.push(`${entry.path} ${entry.blob}`);
    const parents: string[] = [];
    for (const parent of commit.parents) parents.push(await describeCommit(parent));
    const description = hashOf('sha256', JSON.stringify([commit.message, commit.time, files, parents]));
    seen.set(hash, description);
    return description;
  };
  const found: unknown[] = [];
  for (const { commit, name } of await listRefs(store, 'heads'))
    found.push([name, await describeCommit(commit), seen.size]);
  await store.close();
  return found;
}
