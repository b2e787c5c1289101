/** Whole jobs of a fleet: a real Temporal server, a real S3 server, and two workers as processes. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { freePort } from '../servers/tools.ts';
import { startTraceCollector } from '../servers/trace-collector.ts';
import { startVersitygw } from '../servers/versitygw.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, type FleetWorker, numberedFiles, openFleet } from './open-fleet.ts';

const FILES = 240;
/** Enough parts that both workers get some. */
const PART_FILES = 20;
const SMALL = ['--part-files', `${PART_FILES}`, '--ranges', '4', '--json'];

let fleet: Fleet;
let workers: readonly FleetWorker[];
let metricsAddress: string;
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}/`;
const path = (name: string) => join(fleet.s3.dataFolder, fleet.s3.bucket, name);

beforeAll(async () => {
  fleet = await openFleet();
  metricsAddress = `127.0.0.1:${await freePort()}`;
  const measured = await fleet.startWorker({ words: ['--metrics', metricsAddress] });
  workers = [await fleet.startWorker(), measured];
  await fleet.put('source', numberedFiles(FILES));
});
afterAll(() => fleet[Symbol.asyncDispose]());

/** The kinds of the jobs that the tests before the list start. */
const KINDS = runBudget({ short: ['copy'], long: ['copy', 'sync', 'check'] });

describe('a fleet of two workers', () => {
  it('copies everything with both, and a second job moves nothing', async () => {
    const first = await fleet.run('copy', place('source'), place('copy'), ...SMALL);
    expect(first, first.stdout).toMatchObject({ exitCode: 0 });
    const counts = { files: FILES, copiedFiles: FILES, unchangedFiles: 0 };
    expect(first.summary).toMatchObject({ result: 'done', failed: 0, counts });
    expect(first.summary.parts).toBeGreaterThanOrEqual(FILES / PART_FILES);
    for (const { lines } of workers)
      expect(lines.filter(({ state, step }) => step === 'runPart' && state === 'ended')).not.toEqual([]);
    expect(differences(fleet, 'source', 'copy')).toEqual([]);

    const second = await fleet.run('copy', place('source'), place('copy'), ...SMALL);
    expect(second.summary).toMatchObject({ counts: { copiedFiles: 0, unchangedFiles: FILES } });
  });

  longIt('syncs: what the source has lost is deleted, within the bound', async () => {
    await fleet.put('copy', { '0-extra': 'a', '5/zzz-extra': 'b', '~last-extra': 'c' });
    await fleet.put('source', { '9/object-000009': 'changed' });
    const refused = await fleet.run('sync', place('source'), place('copy'), '--max-delete', '2', ...SMALL);
    expect(refused.exitCode).toBe(1);
    expect(refused.summary).toMatchObject({
      refused: { code: 'tooManyDeletes' },
      counts: { copiedFiles: 1, deletedFiles: 0, onlyInDestination: 3 },
    });
    const done = await fleet.run('sync', place('source'), place('copy'), '--max-delete', '3', ...SMALL);
    expect(done, done.stdout).toMatchObject({ exitCode: 0 });
    expect(done.summary).toMatchObject({ counts: { copiedFiles: 0, deletedFiles: 3, onlyInDestination: 0 } });
    expect(differences(fleet, 'source', 'copy')).toEqual([]);
  });

  longIt('checks, and reports differences by the exit code', async () => {
    const same = await fleet.run('check', place('source'), place('copy'), ...SMALL);
    expect(same, same.stdout).toMatchObject({ exitCode: 0 });
    expect(same.summary).toMatchObject({ counts: { files: FILES, differing: 0 } });
    await fleet.put('copy', { '3/object-000003': 'other text' });
    rmSync(path('copy/4/object-000004'));
    const different = await fleet.run('check', place('source'), place('copy'), ...SMALL);
    expect(different.exitCode).toBe(3);
    expect(different.summary).toMatchObject({ counts: { differing: 1, onlyInSource: 1 } });
    const { id } = different.summary as { readonly id: string };
    expect((await fleet.run('status', id, '--json')).summary).toMatchObject({ state: 'found' });
  });

  longIt('sends each piece of a large object once, to another store', async () => {
    const mib = 1024 ** 2;
    await fleet.put('large', { one: '1'.repeat(32 * mib), other: '2'.repeat(32 * mib) });
    const { secretAccessKey } = fleet.s3;
    await using store = await startVersitygw({ secretAccessKey });
    const words = ['--dest-endpoint', store.endpoint, '--large-size', '8MiB', '--part-size', '5MiB'];
    const job = await fleet.run('copy', place('large'), place('large'), ...words, ...SMALL);
    expect(job, job.stdout).toMatchObject({ exitCode: 0 });
    expect(job.summary).toMatchObject({ counts: { files: 2, copiedFiles: 2, copiedBytes: 64 * mib } });
    const sent = (await store.requests()).filter(({ operation }) => operation === 'UploadPart');
    expect(sent).toHaveLength(2 * Math.ceil(32 / 5));
    const written = readFileSync(join(store.dataFolder, store.bucket, 'large/other'));
    expect(written.equals(readFileSync(path('large/other')))).toBe(true);
  });

  longIt('holds limits that are set while a job runs', async () => {
    const words = ['--bwlimit', '100M', '--max-requests', '20', '--id', 'limited', '--detach'];
    await fleet.run('copy', place('source'), place('limited'), ...SMALL, ...words);
    expect(await fleet.run('limit', 'limited', '--max-requests', '2000')).toMatchObject({ exitCode: 0 });
    const status = async () => (await fleet.run('status', 'limited', '--json')).summary;
    await expect.poll(status).toMatchObject({ state: 'done' });
    expect(await status()).toMatchObject({ limits: { requestsPerSecond: 2000 } });
    expect(differences(fleet, 'source', 'limited')).toEqual([]);
  });

  it('serves the numbers of a worker to Prometheus, and no name', async () => {
    const text = await (await fetch(`http://${metricsAddress}/metrics`)).text();
    const read = (name: string, ...tags: readonly string[]) => {
      const lines = text.split('\n').filter((line) => /^\w+/.exec(line)?.[0] === name);
      const found = lines.find((line) => tags.every((tag) => line.includes(tag)));
      return Number(found?.split(' ').at(-1));
    };
    const steps = workers[1]!.lines.filter(({ state }) => state === 'ended');
    expect(read('dray_fleet_steps_total', 'end="done"', 'step="runPart"')).toBe(
      steps.filter(({ step }) => step === 'runPart').length,
    );
    expect(read('dray_fleet_files_total', 'result="copied"')).toBeGreaterThan(0);
    expect(read('dray_fleet_bytes_total', 'step="runPart"')).toBeGreaterThan(0);
    expect(read('dray_fleet_requests_total')).toBeGreaterThan(
      read('dray_fleet_files_total', 'result="copied"'),
    );
    // The guide's alerts name these.
    for (const tag of ['temporal_worker_task_slots_used', 'temporal_worker_task_slots_available'])
      expect(read(tag, 'worker_type="ActivityWorker"')).not.toBeNaN();
    for (const name of ['object-0', fleet.s3.bucket, fleet.s3.secretAccessKey])
      expect(text.includes(name), name).toBe(false);

    const taken = await fleet.run('worker', '--metrics', metricsAddress);
    expect(taken).toMatchObject({ exitCode: 2, stdout: '' });
    expect(taken.stderr).toContain(`cannot be served at ${metricsAddress}: Address already in use`);
  });

  longIt(
    'sends traces of a job without names and secrets, and does the job without a collector',
    async () => {
      await using collector = await startTraceCollector();
      const queue = ['--queue', 'traced'];
      const traced = await fleet.startWorker({ words: [...queue, '--traces', collector.url] });
      const job = await fleet.run('copy', place('source'), place('traced'), ...SMALL, ...queue);
      expect(job, job.stdout).toMatchObject({ exitCode: 0 });
      expect(await traced.stop()).toBe(0);
      const named = (name: string) => collector.spans.filter((span) => span.name === name);
      const steps = traced.lines.filter(({ state }) => state === 'ended').map(({ step }) => step);
      expect(steps.length).toBeGreaterThan(FILES / 50);
      for (const step of new Set(steps))
        expect(named(`RunActivity:${step}`)).toHaveLength(steps.filter((other) => other === step).length);
      expect(named('RunWorkflow:fleetJob')).toHaveLength(1);
      const { traceId } = named('RunWorkflow:fleetJob')[0]!;
      const ids = new Set(named('StartActivity:runPart').map(({ spanId }) => spanId));
      for (const span of named('RunActivity:runPart'))
        expect([span.traceId, ids.has(span.parentSpanId!)]).toEqual([traceId, true]);
      const { accessKeyId, bucket, secretAccessKey } = fleet.s3;
      for (const text of ['object-0', bucket, accessKeyId, secretAccessKey])
        expect(collector.received().includes(text), text).toBe(false);

      const words = [...queue, '--traces', `http://127.0.0.1:${await freePort()}`];
      const alone = await fleet.startWorker({ words });
      const other = await fleet.run('copy', place('source'), place('traced'), ...SMALL, ...queue);
      expect(other, other.stdout).toMatchObject({ exitCode: 0 });
      await alone.stop();
      expect(alone.lines.filter(({ warning }) => warning === 'temporal')).toEqual([
        expect.objectContaining({
          message: expect.stringContaining('traces do not reach http://127.0.0.1:'),
        }),
      ]);
    },
  );

  it('refuses places that workers do not share, and the name of another job', async () => {
    const local = await fleet.run('copy', '/tmp', place('copy'));
    expect(local).toMatchObject({ exitCode: 2 });
    expect(local.stderr).toContain('which the workers of a fleet do not share');
    const named = ['--id', 'mine', '--detach'];
    expect(await fleet.run('copy', place('source'), place('named'), ...named)).toMatchObject({ exitCode: 0 });
    const again = await fleet.run('copy', place('source'), place('named'), ...named, '--update');
    expect(again).toMatchObject({ exitCode: 2 });
  });

  it('says that a namespace is missing, or that a job has ended', async () => {
    const missing = ['--namespace', 'missing'];
    const message = 'has no namespace "missing"';
    await expect(fleet.startWorker({ words: missing })).rejects.toThrow(message.replaceAll('"', '\\"'));
    expect((await fleet.run('list', ...missing)).stderr).toContain(message);
    await fleet.run('copy', place('source'), place('copy'), ...SMALL, '--id', 'over');
    for (const command of ['pause', 'resume', 'cancel'])
      expect(await fleet.run(command, 'over')).toMatchObject({ exitCode: 1 });
    expect(await fleet.run('list', '--queue', "a 'quoted' one")).toMatchObject({ exitCode: 0 });
  });

  it('lists its jobs, and leaves no name of an object and no secret with Temporal', async () => {
    const { summary } = await fleet.run('list', '--json');
    const jobs = summary.jobs as readonly { readonly kind: string; readonly source: string }[];
    expect(new Set(jobs.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(jobs[0]!.source).toBe(place('source'));
    const stored = await fleet.temporal.stored();
    expect(stored.includes(place('copy'))).toBe(true);
    expect(stored.includes('object-0')).toBe(false);
    expect(stored.includes(fleet.s3.secretAccessKey)).toBe(false);
    expect(stored.includes(fleet.s3.accessKeyId)).toBe(false);
  });
});
