/**
 * `dray import dvc` against the real DVC 2.x and 3.x: random projects with histories. What DVC pulls at each
 * revision must equal what Dray clones. `DVC_PROJECTS` sets how many there are, `DVC_FIRST` the first one.
 * `npm test` takes one if both versions of DVC are installed, and installs neither.
 */
import { PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { importDvc } from '../../engine/jobs/import/dvc/import-dvc.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { drawFrom } from '../seeded-draw.ts';
import { dvcPath, isDvcInstalled } from '../servers/dvc-tool.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { type DvcProject, filesIn, makeDvcProject } from './dvc-project.ts';

/** 12 have each version with each place once. */
const PROJECTS = Number(process.env.DVC_PROJECTS ?? runBudget({ short: 1, long: 12, full: 30 }));
/** In `npm test`: DVC 3, cloud versioning. */
const FIRST = Number(process.env.DVC_FIRST ?? runBudget({ short: 11, long: 0 }));
const VERSIONS = [2, 3, 'mixed'] as const;
const PLACES = ['folder', 's3', 'folder', 's3Versions'] as const;
const TIMEOUT_MS = 10 * 60_000;

const isShort = runBudget({ short: true, long: false });
const whyNot =
  isShort && !(isDvcInstalled(2) && isDvcInstalled(3))
    ? ', not run: the two versions of DVC are not installed here, and that takes minutes. See npm run test:long'
    : undefined;
const isPart = isShort ? `, ${PROJECTS} of the 12 projects of npm run test:long` : '';

let server: S3Server;
/** It keeps versions. */
const VERSIONED = 'versioned';

describe.skipIf(whyNot !== undefined)(`an import of a real DVC project${whyNot ?? isPart}`, () => {
  beforeAll(async () => {
    server = await startVersitygw({ keepsVersions: true });
    await server.createBucket(VERSIONED);
    const { accessKeyId, endpoint, region, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: VERSIONED, VersioningConfiguration }));
    client.destroy();
    await dvcPath(2);
    await dvcPath(3);
  }, TIMEOUT_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());

  const numbers = Array.from({ length: PROJECTS }, (_, at) => FIRST + at);
  it.each(numbers)(
    'has at each revision what DVC pulls: project %i',
    { timeout: TIMEOUT_MS },
    async (number) => {
      using sandbox = createSandbox();
      const project = await makeProject(sandbox, number);
      const environment = { ...server.environment, DRAY_CACHE: sandbox.path('cache') };
      const context = testContext(sandbox.folder, { environment });
      const request = { project: project.root, to: sandbox.path('imported'), allCommits: true };
      const imported = await importDvc(context, request);
      expect(imported).toMatchObject({ result: 'imported', failed: 0 });
      expect(await importDvc(context, request)).toMatchObject({ result: 'upToDate', readFiles: 0 });
      for (const tag of project.tags) {
        const directory = sandbox.path('clones', tag);
        await cloneWorkspace(context, { url: sandbox.path('imported'), directory, ref: tag });
        expect([...filesIn(directory)].sort(), tag).toEqual([...(await project.pull(tag))].sort());
      }
      const pull = await project.leaveGit();
      const to = sandbox.path('folder');
      await importDvc(context, { project: project.root, to });
      const directory = sandbox.path('clones', 'folder');
      await cloneWorkspace(context, { url: to, directory, ref: 'main' });
      expect([...filesIn(directory)].sort(), 'without git').toEqual([...(await pull())].sort());
    },
  );
});

async function makeProject(sandbox: Sandbox, number: number): Promise<DvcProject> {
  const draw = drawFrom(number);
  const kind = PLACES[number % PLACES.length]!;
  const mix = VERSIONS[number % VERSIONS.length]!;
  const bucket = kind === 's3' ? server.bucket : VERSIONED;
  const place = (name: string) =>
    kind === 'folder' ? sandbox.path('remotes', name) : `s3://${bucket}/${number}/${name}`;
  return await makeDvcProject({
    root: sandbox.path('project'),
    draw,
    // DVC 3 does not find the versions of all files that DVC 2 has pushed.
    version: kind === 's3Versions' && mix === 'mixed' ? 3 : mix,
    remotes: [place('store'), place('other')],
    isVersioned: kind === 's3Versions',
    isNested: draw.chance(25),
    keepsCache: draw.chance(30),
    ...(kind === 'folder' ? {} : { settings: { endpointurl: server.endpoint } }),
    environment: server.environment,
    commits: 3 + draw.below(4),
  });
}
