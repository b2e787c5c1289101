/**
 * Kills an import of a bucket's versions before its changes to the file system in turn. The branch is whole
 * then or not there, and the same command, run again, ends with the commits of one that was never killed.
 */
import { rmSync } from 'node:fs';
import { PutBucketVersioningCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { importFolderVersions } from '../../engine/jobs/import/folder-versions/import-folder-versions.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import { openFileStore } from '../../engine/remotes/file/file-store.ts';
import { type Commit, readCommit } from '../../engine/repository/commit.ts';
import { readEntries } from '../../engine/repository/manifest/read-entries.ts';
import { readRef } from '../../engine/repository/refs.ts';
import { runWhole, STEPS, sweepKills } from '../interrupted/killed-command.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

/** The import is killed before every so many steps, and right before the branch moves. */
const STRIDE = runBudget({ short: 20, long: 1 });

let server: S3Server;
let sandbox: Sandbox;
/** What an import that was not killed has left. */
let expected: readonly unknown[];
beforeAll(async () => {
  sandbox = createSandbox();
  server = await startVersitygw({ keepsVersions: true });
  const { accessKeyId, bucket, endpoint, region, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const VersioningConfiguration = { Status: 'Enabled' } as const;
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
  const put = (path: string, content: string) =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key: `data/${path}`, Body: content }));
  await put('a', 'one');
  await put('large', 'large enough for an object of its own. '.repeat(80_000));
  // The next second begins, and so another commit.
  const second = () => Math.floor(Date.now() / 1_000);
  const first = second();
  await vi.waitFor(() => expect(second()).toBeGreaterThan(first), 10_000);
  await put('a', 'two');
  await put('b', 'new');
  client.destroy();
  await importFolderVersions(context(), { ...request(), to: 'whole' });
  expected = await commitsOf('whole');
});
afterAll(async () => {
  await server?.stop();
  sandbox?.[Symbol.dispose]();
});

const environment = () => ({
  ...server.environment,
  DRAY_CACHE: sandbox.path('cache'),
  DRAY_AUTHOR: 'Ada',
});
const context = () => testContext(sandbox.folder, { environment: environment() });
const request = () => ({ source: `s3://${server.bucket}/data`, to: 'repository', everyMs: 1_000 });

/** The commits of the branch, the newest first: message and files. */
async function commitsOf(folder: string): Promise<readonly unknown[]> {
  const store = await openFileStore({ root: sandbox.path(folder), create: false, mayBeMissing: true });
  const found: unknown[] = [];
  let next: CommitHash | undefined = (await readRef(store, 'heads/main'))?.commit;
  while (next) {
    const commit: Commit = await readCommit(store, next);
    const files: Record<string, string> = {};
    for await (const entries of readEntries(store, commit))
      for (const entry of entries) if (entry.kind === 'file') files[entry.path] = entry.blob;
    found.push({ message: commit.message, files });
    next = commit.parents[0];
  }
  await store.close();
  return found;
}

describe('an import of the versions of a bucket', () => {
  it('that is killed before a step leaves a whole branch or none, and completes when it runs again', async () => {
    const { source, to } = request();
    const parameters = ['import', 'folder-versions', source, '--every', '1s', '--to', to];
    const options = { cwd: sandbox.folder, environment: environment() };
    const reset = () => {
      rmSync(sandbox.path(to), { recursive: true, force: true });
      rmSync(sandbox.path('cache'), { recursive: true, force: true });
    };
    reset();
    await runWhole(parameters, options);
    let restarts = 0;
    const check = async (where: string) => {
      const left = await commitsOf(to);
      if (left.length > 0) expect(left, where).toEqual(expected);
      const again = await importFolderVersions(context(), request());
      expect(again, where).toMatchObject({ failed: 0 });
      expect(await commitsOf(to)).toEqual(expected);
      if (again.readFiles < 4) restarts += 1;
    };
    const important = [STEPS.branchMoved];
    await sweepKills({ parameters, options, stride: STRIDE, least: 2, important, begin: reset, check });
    // Later kills find content that the killed run has sent already.
    expect(restarts).toBeGreaterThan(0);
  });
});
