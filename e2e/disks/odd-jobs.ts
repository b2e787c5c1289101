/** What the tests of odd disks share: their jobs, and the branch as an ordinary disk has it. */
import { rmSync } from 'node:fs';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { type Sandbox, type TestContext, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';

/** A job in the folder, with its cache in the sandbox and not on the odd disk. */
export function jobBeside(sandbox: Sandbox, folder: string): TestContext {
  return testContext(folder, { environment: { DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache') } });
}

/** What a branch has, without times. Clones the repository `store` of the sandbox into `read`. */
export async function readBranch(sandbox: Sandbox, ref?: string): Promise<readonly string[]> {
  rmSync(sandbox.path('read'), { recursive: true, force: true });
  const request = { url: sandbox.path('store'), directory: 'read' };
  await cloneWorkspace(jobBeside(sandbox, sandbox.folder), ref === undefined ? request : { ...request, ref });
  return describeTree(sandbox.path('read'), { times: false });
}
