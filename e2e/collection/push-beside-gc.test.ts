/** Pushes that a collection overtakes at a chosen request. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createS3Dataset } from '../s3-dataset.ts';
import { isObject, isUpload, startRequestGate } from '../servers/request-gate.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

it('a push sends again what a collection took before the push had confirmed it', async () => {
  using dataset = createS3Dataset(server, 'overtaken');
  await using gate = await startRequestGate(server.endpoint);
  for (const name of ['work', 'other']) await dataset.init(name, { layout: { kind: 'objects' } });
  dataset.sandbox.write('work/first', 'first');
  expect((await dataset.cli('work', ['push'])).exitCode).toBe(0);

  dataset.sandbox.write('work/second', 'second');
  // The first asks whether the object exists, the second whether it was kept.
  gate.hold((request) => request.method === 'HEAD' && isObject(request), 1);
  const environment = { AWS_ENDPOINT_URL: gate.endpoint };
  const pushing = dataset.cli('work', ['--json', 'push'], { environment });
  await expect.poll(() => gate.held()).toBe(1);
  const collected = await dataset.cli('other', ['--json', 'gc', '--grace', '0s']);
  expect(JSON.parse(collected.stdout.trimEnd().split('\n').at(-1)!)).toMatchObject({ round: 1 });
  gate.release();
  const { exitCode, stdout } = await pushing;
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('"result":"pushed"')]);

  const verified = await dataset.cli('other', ['--json', 'verify', '--read-data']);
  expect(verified.exitCode, verified.stdout).toBe(0);
  const left = await dataset.cli('other', ['--json', 'gc', '--grace', '0s']);
  expect(left.exitCode, left.stdout).toBe(0);
});

it('a branch can be removed while a collection raises its epoch', async () => {
  using dataset = createS3Dataset(server, 'raised');
  await using gate = await startRequestGate(server.endpoint);
  for (const name of ['work', 'other']) await dataset.init(name);
  const run = async (...parameters: readonly string[]) =>
    expect(await dataset.cli('work', parameters)).toMatchObject({ exitCode: 0 });
  dataset.sandbox.write('work/first', 'first');
  await run('push');
  await run('branch', 'side');
  await run('switch', '-c', 'gone');
  dataset.sandbox.write('work/garbage', 'garbage');
  await run('push');
  await run('switch', 'main');
  await run('branch', '-d', 'gone');

  gate.hold(isUpload);
  const environment = { AWS_ENDPOINT_URL: gate.endpoint };
  const removing = dataset.cli('work', ['branch', '-d', 'side'], { environment });
  await expect.poll(() => gate.held()).toBe(1);
  const collected = await dataset.cli('other', ['--json', 'gc', '--grace', '0s']);
  expect(JSON.parse(collected.stdout.trimEnd().split('\n').at(-1)!)).toMatchObject({ round: 1 });
  gate.release();
  expect(await removing).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await dataset.cli('work', ['branch'])).stdout).not.toContain('side');
});
