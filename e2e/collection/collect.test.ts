/** `dray gc` by the real command, on a plain folder and on a bucket. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestTotals } from '../../engine/api/jobs/jobs.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise } from '../../engine/peer/peer.fixture.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

/** Runs the command with `--json` and expects success. @returns Its summary. */
async function run(dataset: S3Dataset, workspace: string, ...parameters: readonly string[]) {
  const { exitCode, stderr, stdout } = await dataset.cli(workspace, ['--json', ...parameters]);
  expect([exitCode, exitCode === 0 ? '' : stdout + stderr], parameters.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Readonly<Record<string, unknown>>;
}

/** An object of its own, and a small file for a pack. */
function writeContent({ sandbox }: S3Dataset, workspace: string, version: string): void {
  sandbox.write(`${workspace}/large.bin`, noise(1_200_000, version.charCodeAt(0)));
  sandbox.write(`${workspace}/small.txt`, `the small one of ${version}`);
}

/** A branch that was pushed and removed. */
async function startDataset(name: string, url?: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  await dataset.init('work', url === undefined ? {} : { remoteUrl: url });
  writeContent(dataset, 'work', 'v1');
  await run(dataset, 'work', 'push');
  await run(dataset, 'work', 'switch', '-c', 'side');
  writeContent(dataset, 'work', 'side');
  await run(dataset, 'work', 'push');
  await run(dataset, 'work', 'switch', 'main');
  await run(dataset, 'work', 'branch', '-d', 'side');
  return dataset;
}

describe.each<[string, (name: string) => Promise<S3Dataset>]>([
  ['a bucket', (name) => startDataset(name)],
  ['a folder', (name) => startDataset(name, '../store')],
])('a collection at %s', (kind, start) => {
  const name = kind.replace(' ', '-');

  it('removes what a removed branch had, and its content can be pushed again', async () => {
    using dataset = await start(name);
    const url = kind === 'a folder' ? dataset.sandbox.path('store') : dataset.url;
    expect(await run(dataset, 'work', 'gc')).toMatchObject({ result: 'nothingToCollect', youngObjects: 3 });
    const foreseen = await run(dataset, 'work', 'gc', '--dry-run', '--grace', '0s');
    expect(foreseen).toMatchObject({ result: 'wouldCollect', removedObjects: 3, round: 0 });
    expect(foreseen.removedBytes).toBeGreaterThan(1_200_000);
    const collected = await run(dataset, 'work', 'gc', '--grace', '0s');
    expect(collected).toMatchObject({
      result: 'collected',
      removedObjects: 3,
      objects: 6,
      round: 1,
      commits: 1,
    });
    expect(collected.removedBytes).toBe(foreseen.removedBytes);
    const totals = [foreseen.forecast, collected.requests].map(
      (requests) => (requests as RequestTotals).total,
    );
    // Removed branches are read as well.
    expect(Math.abs(totals[0]! - totals[1]!)).toBeLessThanOrEqual(4);
    expect(await run(dataset, 'work', 'gc', '--grace', '0s')).toMatchObject({ result: 'nothingToCollect' });
    await run(dataset, 'work', 'verify', '--read-data');
    writeContent(dataset, 'work', 'side');
    await run(dataset, 'work', 'push');
    await run(dataset, 'work', 'verify', '--read-data');
    await run(dataset, '.', 'clone', url, 'copy');
    const trees = ['work', 'copy'].map((workspace) => describeTree(dataset.sandbox.path(workspace)));
    expect(trees[1]).toEqual(trees[0]);
  });

  it('says in a few lines what it did', async () => {
    using dataset = await start(`${name}-lines`);
    const gc = async (...options: readonly string[]) =>
      (await dataset.cli('work', ['gc', '--grace', '0s', ...options])).stdout;
    expect(await gc('-n')).toMatch(/^Would remove 3 objects, 1\.1 MiB.*, of 6 objects, 2\.3 MiB\.\n/);
    expect(await gc()).toMatch(/^Removed 3 objects, 1\.1 MiB.*, of 6 objects, 2\.3 MiB\.\n/);
    expect(await gc()).toMatch(/^(?:Nothing to remove of 3 objects, 1\.1 MiB\. \d+ requests\.\n)?$/);
  });
});

it('a repository that was not upgraded is refused, with the command that does it', async () => {
  using dataset = await startDataset('older', '../store');
  const path = dataset.sandbox.path('store/dray.json');
  const { required: _, ...descriptor } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(descriptor));
  const { exitCode, stdout } = await dataset.cli('work', ['--json', 'gc']);
  expect(exitCode).toBe(1);
  const error = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
  expect(error).toMatchObject({ type: 'error', code: 'unsupported', data: { command: 'dray upgrade' } });
});
