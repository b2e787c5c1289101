/**
 * `dray import folder-versions` against a server that keeps versions. What each commit must hold is a test
 * beside the code: here the server sets the times.
 */
import { hash } from 'node:crypto';
import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ImportVersionsRequest } from '../../engine/api/jobs/imports.ts';
import { importFolderVersions } from '../../engine/jobs/import/folder-versions/import-folder-versions.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import { openFileStore } from '../../engine/remotes/file/file-store.ts';
import { type Commit, readCommit } from '../../engine/repository/commit.ts';
import { readEntries } from '../../engine/repository/manifest/read-entries.ts';
import { readRef } from '../../engine/repository/refs.ts';
import { drawFrom } from '../seeded-draw.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
let client: S3Client;
let bucket: string;
let sandbox: Sandbox;
let buckets = 0;

beforeAll(async () => {
  server = await startVersitygw({ keepsVersions: true });
  const { accessKeyId, endpoint, region, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
});
afterAll(async () => {
  client.destroy();
  await server.stop();
});
beforeEach(async () => {
  sandbox = createSandbox();
  bucket = `versions-${buckets++}`;
  await server.createBucket(bucket);
  await client.send(
    new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () =>
  testContext(sandbox.folder, {
    environment: { ...server.environment, DRAY_CACHE: sandbox.path('cache'), DRAY_AUTHOR: 'Ada' },
  });

const run = (request: Partial<ImportVersionsRequest> = {}, at = context()) =>
  importFolderVersions(at, {
    source: `s3://${bucket}/data`,
    to: 'repository',
    everyMs: 1_000,
    ...request,
  });

const put = (path: string, content: string) =>
  client.send(new PutObjectCommand({ Bucket: bucket, Key: `data/${path}`, Body: content }));
const remove = (path: string) =>
  client.send(new DeleteObjectCommand({ Bucket: bucket, Key: `data/${path}` }));

/** Versions that the server has of a path. */
async function versionIdsOf(path: string): Promise<readonly string[]> {
  const { Versions = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket: bucket, Prefix: `data/${path}` }),
  );
  return Versions.map(({ VersionId }) => VersionId!);
}

/** The commits of the branch, the oldest first, each with the hashes of its files. */
async function commits(name = 'main') {
  const store = await openFileStore({ root: sandbox.path('repository'), mayBeMissing: true });
  const found: { readonly commit: Commit; readonly files: Record<string, string> }[] = [];
  let next: CommitHash | undefined = (await readRef(store, `heads/${name}`))?.commit;
  while (next) {
    const commit: Commit = await readCommit(store, next);
    const files: Record<string, string> = {};
    for await (const entries of readEntries(store, commit))
      for (const entry of entries) if (entry.kind === 'file') files[entry.path] = entry.blob;
    found.unshift({ commit, files });
    next = commit.parents[0];
  }
  await store.close();
  return found;
}

describe('an import of the versions of a bucket', () => {
  it('ends with what the bucket has now, also if it goes on', async () => {
    const draw = drawFrom(1);
    const paths = ['a', 'b/c', 'b/d e', 'b/ü%', 'f'];
    const now: Record<string, string> = {};
    const edit = async () => {
      const path = paths[draw.below(paths.length)]!;
      const content = `content ${draw.below(6)}`;
      if (path in now && draw.below(4) === 0) {
        delete now[path];
        return await remove(path);
      }
      now[path] = hash('sha256', content);
      return await put(path, content);
    };
    for (let part = 0; part < 4; part += 1) {
      for (let edits = 0; edits < 6; edits += 1) await edit();
      now.g = hash('sha256', `part ${part}`);
      await put('g', `part ${part}`);
      expect(await run()).toMatchObject({ result: 'imported', failed: 0 });
      expect((await commits()).at(-1)!.files).toEqual(now);
    }
    expect(await run()).toMatchObject({ result: 'upToDate', commits: 0, readFiles: 0 });
  });

  it('reads only the versions that a commit has', async () => {
    await put('a', 'one');
    await put('a', 'two');
    await put('b', 'two');
    const { readFiles, result, states } = await run({ everyMs: 86_400_000 });
    expect({ readFiles, result, states }).toEqual({ readFiles: 2, result: 'imported', states: 1 });
    const [only, ...more] = await commits();
    expect([Object.keys(only!.files), more]).toEqual([['a', 'b'], []]);
    expect(only!.commit).toMatchObject({ author: 'Ada' });
    expect(only!.commit.message).toMatch(/^State of s3:\S+ at 20\S+Z\n\nS3-Versions: s3:\S+ 20\S+Z$/);
  });

  it('brings what times do not tell: a key that was removed for good', async () => {
    await put('a', 'one');
    await put('b', 'two');
    await run();
    for (const versionId of await versionIdsOf('b'))
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'data/b', VersionId: versionId }));
    expect(await run()).toMatchObject({ result: 'imported', commits: 1, readFiles: 0 });
    expect(Object.keys((await commits()).at(-1)!.files)).toEqual(['a']);
  });

  it('publishes nothing if a key cannot be a path, and leaves it out if asked to', async () => {
    await put('good', 'one');
    await put('.dray/config', 'two');
    await put('folder/', '');
    const refused = context();
    expect(await run({}, refused)).toMatchObject({ result: 'refused', failed: 1, commits: 0 });
    expect(eventsOf(refused, 'fileFailed').map(({ error }) => error.code)).toEqual(['unsafePath']);
    expect(await commits()).toEqual([]);
    expect(await run({ skipMissing: true })).toMatchObject({ result: 'imported', failed: 1 });
    const [only] = await commits();
    expect(Object.keys(only!.files)).toEqual(['good']);
    expect(only!.commit.message).toContain('Left out, because it could not be read: "');
  });

  it('refuses a bucket without versions, an empty place, and a branch of another origin', async () => {
    const code = (code: string) => ({ code });
    await expect(run({ source: `s3://${bucket}/nothing` })).rejects.toMatchObject(code('notFound'));
    await server.createBucket(`${bucket}-plain`);
    await client.send(new PutObjectCommand({ Bucket: `${bucket}-plain`, Key: 'a', Body: 'a' }));
    await expect(run({ source: `s3://${bucket}-plain` })).rejects.toMatchObject(code('unsupported'));
    await expect(run({ source: sandbox.path('folder') })).rejects.toThrow(/folder/);
    await put('a', 'one');
    await run();
    await put('other', 'one');
    const other = run({ source: `s3://${bucket}`, branch: 'main' });
    await expect(other).rejects.toMatchObject(code('conflict'));
    expect(await run({ source: `s3://${bucket}`, branch: 'second' })).toMatchObject({ result: 'imported' });
  });

  it('refuses a repository inside of the place, around it, or there, and makes none', async () => {
    await put('a', 'one');
    for (const to of ['data/repository', 'data', ''])
      await expect(run({ to: `s3://${bucket}/${to}` })).rejects.toMatchObject({ code: 'usage' });
    const { KeyCount } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    expect(KeyCount).toBe(1);
    expect(await run({ to: `s3://${bucket}/data-repository` })).toMatchObject({ result: 'imported' });
  });

  it('lists more than a thousand versions, of which one key has many on two pages', async () => {
    for (let at = 0; at < 1_100; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, number) => put(`many/${at + number}`, 'same')));
    for (let at = 0; at < 30; at += 1) await put('many/99', `version ${at}`);
    expect(await run({ everyMs: 86_400_000 })).toMatchObject({ result: 'imported', failed: 0 });
    const last = (await commits()).at(-1)!;
    expect(Object.keys(last.files)).toHaveLength(1_100);
    expect(last.files['many/99']).toBe(hash('sha256', 'version 29'));
  });
});
