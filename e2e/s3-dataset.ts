/** Workspaces of one repository on a real S3 server, used in this process or through the real command. */
import { mkdirSync } from 'node:fs';
import { type CliOptions, type CliResult, runCli } from '../app/cli/run-cli.fixture.ts';
import type { CloneRequest, InitRequest, PullSummary } from '../engine/api/jobs/jobs.ts';
import { cloneWorkspace } from '../engine/jobs/pull/clone.ts';
import { initWorkspace } from '../engine/jobs/remotes/init.ts';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../engine/jobs/session/job.fixture.ts';
import type { LoggedRequest, S3Endpoint } from './servers/versitygw.ts';

export interface S3Dataset extends Disposable {
  readonly url: string;
  readonly sandbox: Sandbox;
  /** A context for one job in a workspace of the sandbox. */
  context(workspace: string): TestContext;
  /** Makes the folder a workspace. The first call creates the repository. */
  init(workspace: string, request?: Partial<InitRequest>): Promise<string>;
  clone(workspace: string, request?: Partial<CloneRequest>): Promise<PullSummary>;
  /** Runs the real command in its own process. */
  cli(workspace: string, parameters: readonly string[], options?: CliOptions): Promise<CliResult>;
}

/** @param name The repository's name and its prefix in the server's bucket. */
export function createS3Dataset(server: S3Endpoint, name: string): S3Dataset {
  const sandbox = createSandbox();
  const url = `s3://${server.bucket}/${name}`;
  const environment = { ...server.environment, DRAY_AUTHOR: 'tester' };
  const context = (workspace: string) => testContext(sandbox.path(workspace), { environment });
  return {
    url,
    sandbox,
    context,
    init: async (workspace, request = {}) => {
      const root = sandbox.path(workspace);
      mkdirSync(root, { recursive: true });
      await initWorkspace(testContext(root, { environment }), { remoteUrl: url, ...request });
      return root;
    },
    clone: (workspace, request = {}) =>
      cloneWorkspace(testContext(sandbox.folder, { environment }), { url, directory: workspace, ...request }),
    cli: (workspace, parameters, options = {}) =>
      runCli(parameters, {
        cwd: sandbox.path(workspace),
        ...options,
        environment: { ...environment, ...options.environment },
      }),
    [Symbol.dispose]: () => sandbox[Symbol.dispose](),
  };
}

/** Lists requests, one a line, for the failure message of a test that counts them. */
export function listRequests(requests: readonly LoggedRequest[]): string {
  return requests
    .map(({ operation, path, query, status }) => `${operation} ${path}${query ? `?${query}` : ''} ${status}`)
    .join('\n');
}
