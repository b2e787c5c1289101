/**
 * Machines that push to one branch at the same moment, each a process of its own that runs the real command.
 * In any order of arrival, nothing that a push reported as stored is lost, and nothing is half done.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { log } from '../../engine/jobs/history/log.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { eventsOf, type TestContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const WRITERS = 8;
const EXIT_CONFLICT = 5;

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

const writers = Array.from({ length: WRITERS }, (_, at) => `writer-${at}`);

/** Makes a repository with one commit, and a workspace at that commit for each writer. */
async function startDataset(name: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  const root = await dataset.init('origin');
  dataset.sandbox.write('origin/shared.txt', 'as it was');
  dataset.sandbox.write('origin/kept/other.txt', 'untouched');
  await push(dataset.context('origin'), { message: 'first' });
  for (const writer of writers) await dataset.clone(writer);
  expect(describeTree(dataset.sandbox.path(writers[0]!))).toEqual(describeTree(root));
  return dataset;
}

/** Runs the command in every workspace at once. */
function together(dataset: S3Dataset, parametersOf: (writer: string) => readonly string[]) {
  return Promise.all(
    writers.map(async (writer) => ({
      writer,
      ...(await dataset.cli(writer, ['--json', ...parametersOf(writer)])),
    })),
  );
}

/** The last record of `--json`. */
function summaryOf({ stdout }: { readonly stdout: string }): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}');
}

async function logOf(dataset: S3Dataset, workspace: string): Promise<TestContext> {
  const context = dataset.context(workspace);
  await log(context, {});
  return context;
}

describe('Eight writers at once', () => {
  it('that change different paths all succeed, and a fresh clone holds every change', async () => {
    using dataset = await startDataset('disjoint');
    for (const writer of writers) {
      dataset.sandbox.write(`${writer}/by/${writer}.txt`, `from ${writer}`);
      dataset.sandbox.write(`${writer}/${writer}`, writer);
    }
    const results = await together(dataset, (writer) => ['push', '-m', writer]);
    for (const result of results) {
      expect(result, result.stderr).toMatchObject({ exitCode: 0 });
      expect(summaryOf(result)).toMatchObject({ command: 'push', result: 'pushed', failed: 0 });
    }
    const merged = results.filter((result) => summaryOf(result).mergedWith !== undefined);
    expect(merged, 'all began at one commit, so all but the first had to merge').toHaveLength(WRITERS - 1);

    await dataset.clone('fresh');
    const expected = [
      'by/',
      ...writers.map((writer) => `by/${writer}.txt - ${btoa(`from ${writer}`)}`),
      'kept/',
      `kept/other.txt - ${btoa('untouched')}`,
      `shared.txt - ${btoa('as it was')}`,
      ...writers.map((writer) => `${writer} - ${btoa(writer)}`),
    ];
    expect(describeTree(dataset.sandbox.path('fresh'), { times: false })).toEqual(expected);

    const commits = eventsOf(await logOf(dataset, 'fresh'), 'commit');
    const own = commits.filter(({ message }) => writers.includes(message)).map(({ message }) => message);
    expect(own.sort(), 'the commit of each push can be reached from the tip').toEqual(writers);

    // Every writer ends with the same tree.
    for (const writer of writers) await pull(dataset.context(writer), {});
    const fresh = describeTree(dataset.sandbox.path('fresh'));
    for (const writer of writers) expect(describeTree(dataset.sandbox.path(writer))).toEqual(fresh);
  });

  it('that change the same path end with one push and seven conflicts', async () => {
    using dataset = await startDataset('same-path');
    for (const writer of writers) {
      dataset.sandbox.write(`${writer}/shared.txt`, `changed by ${writer}`);
      dataset.sandbox.write(`${writer}/by/${writer}.txt`, 'goes with it');
    }
    const before = writers.map((writer) => describeTree(dataset.sandbox.path(writer)));
    const results = await together(dataset, (writer) => ['push', '-m', writer]);
    const landed = results.filter(({ exitCode }) => exitCode === 0);
    expect(landed.map(({ writer }) => writer)).toHaveLength(1);
    const winner = landed[0]!.writer;
    for (const result of results) {
      if (result.writer === winner) continue;
      expect(result, result.stderr).toMatchObject({ exitCode: EXIT_CONFLICT });
      expect(summaryOf(result)).toMatchObject({ code: 'conflict', data: { paths: ['shared.txt'] } });
    }
    expect(writers.map((writer) => describeTree(dataset.sandbox.path(writer)))).toEqual(before);

    await dataset.clone('fresh');
    expect(describeTree(dataset.sandbox.path('fresh'), { times: false })).toEqual([
      'by/',
      `by/${winner}.txt - ${btoa('goes with it')}`,
      'kept/',
      `kept/other.txt - ${btoa('untouched')}`,
      `shared.txt - ${btoa(`changed by ${winner}`)}`,
    ]);
    const commits = eventsOf(await logOf(dataset, 'fresh'), 'commit');
    expect(commits.map(({ message }) => message)).toEqual([winner, 'first']);

    // A writer that lost decides the conflict, and its push then stores all its changes.
    const loser = writers.find((writer) => writer !== winner)!;
    expect(await status(dataset.context(loser), {})).toMatchObject({ changes: { added: 1, modified: 1 } });
    await pull(dataset.context(loser), { conflicts: 'ours' });
    expect(await push(dataset.context(loser), { message: loser })).toMatchObject({ result: 'pushed' });
    await pull(dataset.context('fresh'), {});
    expect(describeTree(dataset.sandbox.path('fresh'))).toEqual(describeTree(dataset.sandbox.path(loser)));
  });

  longIt('that give one tag to different commits end with one winner and its commit', async () => {
    using dataset = await startDataset('tags');
    const commits = new Map<string, string | null>();
    for (const writer of writers) {
      dataset.sandbox.write(`${writer}/${writer}`, writer);
      await push(dataset.context(writer), { message: writer });
      commits.set(writer, (await status(dataset.context(writer), {})).commit);
    }
    expect(new Set(commits.values()).size).toBe(WRITERS);
    const results = await together(dataset, () => ['tag', 'v1']);
    const winners = results.filter(({ exitCode }) => exitCode === 0);
    expect(winners.map(({ writer }) => writer)).toHaveLength(1);
    for (const result of results) {
      if (result === winners[0]) expect(summaryOf(result)).toMatchObject({ result: 'created' });
      else {
        expect(result, result.stderr).toMatchObject({ exitCode: EXIT_CONFLICT });
        expect(summaryOf(result)).toMatchObject({ code: 'conflict' });
      }
    }
    const listed = dataset.context('origin');
    await tag(listed, {});
    const winner = winners[0]!.writer;
    expect(eventsOf(listed, 'ref')).toMatchObject([{ name: 'v1', commit: commits.get(winner) }]);
  });
});
