/**
 * `dray import dvc` against the real DVC 2.x and 3.x: random projects with histories. What DVC pulls at each
 * revision must equal what Dray clones. `DVC_PROJECTS` sets how many there are.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDvc } from '../engine/jobs/import/dvc/import-dvc.ts';
import { cloneWorkspace } from '../engine/jobs/pull/clone.ts';
import { createSandbox, testContext } from '../engine/jobs/session/job.fixture.ts';
import { filesIn, makeDvcProject } from './dvc-project.ts';
import { drawFrom } from './seeded-draw.ts';
import { dvcPath } from './servers/dvc-tool.ts';
import { type S3Server, startVersitygw } from './servers/versitygw.ts';

const PROJECTS = Number(process.env.DVC_PROJECTS ?? 30);
const FIRST = Number(process.env.DVC_FIRST ?? 0);
const VERSIONS = [2, 3, 'mixed'] as const;
const TIMEOUT_MS = 10 * 60_000;

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
  await dvcPath(2);
  await dvcPath(3);
}, TIMEOUT_MS);
afterAll(() => server?.[Symbol.asyncDispose]());

describe('an import of a DVC project', () => {
  const numbers = Array.from({ length: PROJECTS }, (_, at) => FIRST + at);
  it.each(numbers)(
    'has at each revision what DVC pulls: project %i',
    { timeout: TIMEOUT_MS },
    async (number) => {
      using sandbox = createSandbox();
      const draw = drawFrom(number);
      const isS3 = number % 2 === 1;
      const place = (name: string) =>
        isS3 ? `s3://${server.bucket}/${number}/${name}` : sandbox.path('remotes', name);
      const project = await makeDvcProject({
        root: sandbox.path('project'),
        draw,
        version: VERSIONS[number % VERSIONS.length]!,
        remotes: [place('store'), place('other')],
        ...(isS3 ? { settings: { endpointurl: server.endpoint } } : {}),
        environment: server.environment,
        commits: 3 + draw.below(4),
      });
      if (draw.chance(70)) project.dropCache();
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
    },
  );
});
