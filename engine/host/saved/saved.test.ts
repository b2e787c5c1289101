/** Jobs that the window saves, checked by the command itself. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMMAND } from '../../../app/cli/command.fixture.ts';
import { drayProcess } from '../../jobs/saved/dray-process.ts';
import { type SavedJob, versionOf } from '../../jobs/saved/saved-job.ts';
import { createSandbox } from '../../jobs/session/job.fixture.ts';
import { createHostFixture } from '../host.fixture.ts';

it('a new job gets the flags of "dray ui", and an edited one keeps its own', async () => {
  await using fixture = createHostFixture(createSandbox(), {
    connection: { endpoint: 'http://127.0.0.1:9', pathStyle: true, transfers: 2 },
    runDray: drayProcess([process.execPath, COMMAND]),
  });
  const { client, sandbox } = fixture;
  const saved = (): SavedJob => JSON.parse(readFileSync(sandbox.path('config/jobs/night/job.json'), 'utf8'));
  const places = ['--', 'photos', 's3://bucket/photos'];
  await client.ask('saved.save', { name: 'night', words: ['sync', ...places] });
  const given = ['--endpoint=http://127.0.0.1:9', '--path-style'];
  expect(saved().arguments).toEqual(['sync', ...given, ...places]);
  await client.ask('saved.save', { name: 'night', version: versionOf(saved()), words: ['copy', ...places] });
  expect(saved().arguments).toEqual(['copy', ...places]);
});
