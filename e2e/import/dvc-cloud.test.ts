/** `dray import dvc` from a remote with cloud versioning, which has each file under its own name. */
import {
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDvcProject,
  type HandMadeProject,
  md5Of,
} from '../../engine/jobs/import/dvc/dvc-project.fixture.ts';
import { importDvc } from '../../engine/jobs/import/dvc/import-dvc.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { filesIn } from './dvc-project.ts';

let server: S3Server;
let client: S3Client;
let sandbox: Sandbox;
let project: HandMadeProject;

beforeAll(async () => {
  server = await startVersitygw({ keepsVersions: true });
  const { accessKeyId, endpoint, region, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(
    new PutBucketVersioningCommand({ Bucket: server.bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
});
afterAll(async () => {
  client?.destroy();
  await server?.stop();
});
beforeEach(() => {
  sandbox = createSandbox();
  project = createDvcProject(sandbox);
  const url = `s3://${server.bucket}/project\nendpointurl = ${server.endpoint}\nversion_aware = true`;
  project.write('.dvc/config', `[core]\nremote = cloud\n['remote "cloud"']\nurl = ${url}\n`);
});
afterEach(() => sandbox[Symbol.dispose]());

interface Put {
  readonly content: string;
  readonly etag: string;
  readonly versionId: string;
}

async function put(path: string, content: string): Promise<Put> {
  const object = { Bucket: server.bucket, Key: `project/${path}`, Body: content };
  const { ETag = '', VersionId = '' } = await client.send(new PutObjectCommand(object));
  return { content, etag: ETag.replaceAll('"', ''), versionId: VersionId };
}

const cloudOf = ({ etag, versionId }: Put) => ({ cloud: { cloud: { etag, version_id: versionId } } });

async function cloned(ref: string): Promise<Record<string, string>> {
  const directory = sandbox.path('clones', ref);
  await cloneWorkspace(context(), { url: sandbox.path('repository'), directory, ref });
  const files = [...filesIn(directory)];
  return Object.fromEntries(
    files.map(([path, text]) => [path, Buffer.from(text.slice(2), 'base64').toString()]),
  );
}

const context = () =>
  testContext(sandbox.folder, {
    environment: { ...server.environment, DRAY_CACHE: sandbox.path('cache') },
  });
const request = { project: 'project', to: 'repository', allCommits: true };

describe('an import from a DVC remote with cloud versioning', () => {
  it('reads each version by its id: of folders, of files, of those without an MD5, in the form of DVC 2', async () => {
    const [one, two] = [await put('data/a', 'one'), await put('data/a', 'two')];
    const [old, now] = [await put('file', 'old'), await put('file', 'now')];
    for (const [tag, a, file] of [
      ['v1', one, old],
      ['v2', two, now],
    ] as const) {
      const files = [{ relpath: 'a', md5: md5Of(a.content), ...cloudOf(a) }];
      project.write('data.dvc', JSON.stringify({ outs: [{ path: 'data', hash: 'md5', files }] }));
      const ofTwo = { path: 'file', etag: file.etag, version_id: file.versionId, remote: 'cloud' };
      project.write('file.dvc', JSON.stringify({ outs: [ofTwo] }));
      project.commit(tag);
      project.git('tag', tag);
    }
    expect(await importDvc(context(), request)).toMatchObject({ result: 'imported', commits: 2, failed: 0 });
    expect(await cloned('v1')).toEqual({ 'data/a': 'one', file: 'old' });
    expect(await cloned('v2')).toEqual({ 'data/a': 'two', file: 'now' });
  });

  it('names versions that are gone or of another bucket, and takes the present one if it has the content', async () => {
    const gone = await put('gone', 'first');
    await put('gone', 'second');
    const removed = { Bucket: server.bucket, Key: 'project/gone', VersionId: gone.versionId };
    await client.send(new DeleteObjectCommand(removed));
    const moved = await put('moved', 'moved');
    const deletion = await put('deleted', 'deleted');
    const object = { Bucket: server.bucket, Key: 'project/deleted' };
    const { VersionId: marker = '' } = await client.send(new DeleteObjectCommand(object));
    const versions = {
      gone,
      moved: { ...moved, versionId: 'of another bucket' },
      deleted: { ...deletion, versionId: marker },
    };
    for (const [path, version] of Object.entries(versions)) {
      const out = { path, md5: md5Of(version.content), hash: 'md5', ...cloudOf(version) };
      project.write(`${path}.dvc`, JSON.stringify({ outs: [out] }));
    }
    project.commit('One');
    project.git('tag', 'v1');
    const refused = context();
    expect(await importDvc(refused, request)).toMatchObject({ result: 'refused', failed: 2 });
    const failed = eventsOf(refused, 'fileFailed').map(({ error, path }) => `${path} ${error.code}`);
    expect(failed.sort()).toEqual(['deleted notFound', 'gone notFound']);
    await importDvc(context(), { ...request, skipMissing: true });
    expect(await cloned('v1')).toEqual({ moved: 'moved' });
  });
});
