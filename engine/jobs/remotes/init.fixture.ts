/** Creates workspaces for tests of jobs. */
import { mkdirSync } from 'node:fs';
import { type Sandbox, testContext } from '../session/job.fixture.ts';
import { initWorkspace } from './init.ts';

/** Creates the workspace `work` with the remote `store`. @returns Its folder. */
export async function initIn(sandbox: Sandbox): Promise<string> {
  const root = sandbox.path('work');
  mkdirSync(root, { recursive: true });
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store') });
  return root;
}
