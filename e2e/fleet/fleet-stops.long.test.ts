/** A fleet survives dead workers, a dead Temporal and pauses. A gate stops each job at the same point. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { type Counted, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, numberedFiles, openFleet } from './open-fleet.ts';

const FILES = 150;
const SMALL = ['--part-files', '15', '--ranges', '2', '--json'];

let fleet: Fleet;
let gate: RequestGate;
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}/`;
const isWrite: Counted = ({ method, url }) => method === 'PUT' && !url.pathname.includes('.dray-fleet');

beforeAll(async () => {
  fleet = await openFleet();
  gate = await startRequestGate(fleet.s3.endpoint);
  await fleet.put('source', numberedFiles(FILES));
});
afterAll(async () => {
  await gate[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

const writesOf = async (prefix: string) => {
  const requests = await fleet.s3.requests();
  return requests.filter(
    ({ method, path }) => method === 'PUT' && path.includes(`/${prefix}/`) && !path.includes('.dray-fleet'),
  );
};

describe('a fleet', () => {
  it('continues when a worker is killed in the middle of its parts', async () => {
    const doomed = await fleet.startWorker({ endpoint: gate.endpoint });
    gate.hold(isWrite, 30);
    const job = fleet.run('copy', place('source'), place('killed'), ...SMALL, '--dead-after', '5s');
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    await doomed.kill();
    gate.release();
    const other = await fleet.startWorker();
    const { exitCode, stdout, summary } = await job;
    expect(exitCode, stdout).toBe(0);
    expect(summary).toMatchObject({ failed: 0, failedParts: 0 });
    expect(differences(fleet, 'source', 'killed')).toEqual([]);
    // Only objects that the dead worker had sent without an answer can be sent twice.
    expect((await writesOf('killed')).length).toBeLessThanOrEqual(FILES * 1.1);
    expect(await other.stop()).toBe(0);
  });

  it('continues when Temporal is killed and started again', async () => {
    const worker = await fleet.startWorker({ endpoint: gate.endpoint });
    gate.hold(isWrite, 50);
    await fleet.run('copy', place('source'), place('restarted'), ...SMALL, '--id', 'restarted', '--detach');
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    await fleet.temporal.kill();
    gate.release();
    await fleet.temporal.start();
    await expect
      .poll(async () => (await fleet.run('status', 'restarted', '--json')).summary.state)
      .toBe('done');
    expect(differences(fleet, 'source', 'restarted')).toEqual([]);
    await worker.stop();
  });

  it('gets workers that were started while Temporal was away', async () => {
    await fleet.temporal.kill();
    const warned = Promise.withResolvers<Record<string, unknown>>();
    const worker = fleet.startWorker({
      onLine: (line) => {
        if (line.type === 'warning') warned.resolve(line);
      },
    });
    const { message, warning } = await warned.promise;
    expect(warning).toBe('temporal');
    expect(message).toContain(`Temporal at ${fleet.temporal.address} does not answer`);
    expect(message).toContain('The worker waits, and tries again until it answers.');
    await fleet.temporal.start();
    const late = await worker;
    const job = await fleet.run('copy', place('source'), place('late'), ...SMALL);
    expect(job.exitCode, job.stdout).toBe(0);
    expect(differences(fleet, 'source', 'late')).toEqual([]);
    expect(await late.stop()).toBe(0);
  });

  it('has workers that wait for Temporal with a bounded number of open files (needs Linux)', async () => {
    if (process.platform !== 'linux') return void console.log('Not counted: open files, without /proc.');
    const worker = spawn(
      process.execPath,
      [COMMAND, 'fleet', 'worker', '--json', '--temporal', '127.0.0.1:1'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const counts: number[] = [];
    // It warns after the first failure, the second, the fourth, and so on.
    for await (const line of createInterface(worker.stdout)) {
      if (JSON.parse(line).warning !== 'temporal') continue;
      counts.push(readdirSync(`/proc/${worker.pid}/fd`).length);
      if (counts.length === 3) worker.kill('SIGTERM');
    }
    expect(counts[2]! - counts[1]!).toBeLessThan(4);
  });

  it('continues when the command that follows it is interrupted', async () => {
    const worker = await fleet.startWorker({ endpoint: gate.endpoint });
    gate.hold(isWrite, 30);
    const command = fleet.follow('copy', place('source'), place('left'), ...SMALL, '--id', 'left');
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    command.interrupt();
    const { exitCode, stderr } = await command.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('The job left continues without this command.');
    gate.release();
    await expect.poll(async () => (await fleet.run('status', 'left', '--json')).summary.state).toBe('done');
    expect(differences(fleet, 'source', 'left')).toEqual([]);
    await worker.stop();
  });

  it('pauses, and continues with another worker when it is resumed', async () => {
    const first = await fleet.startWorker({ endpoint: gate.endpoint });
    gate.hold(isWrite, 30);
    const words = ['copy', place('source'), place('paused'), ...SMALL, '--id', 'paused'];
    const job = fleet.run(...words);
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    const status = async () => (await fleet.run('status', 'paused', '--json')).summary;
    const listed = async () => {
      const jobs = (await fleet.run('list', '--json')).summary.jobs as readonly Record<string, unknown>[];
      return jobs.find(({ id }) => id === 'paused')!.state;
    };
    expect(await status()).toMatchObject({ state: 'running', phase: 'move' });
    expect(await listed()).toBe('running');
    expect(await fleet.run('pause', 'paused')).toMatchObject({ exitCode: 0 });
    await expect.poll(async () => (await status()).partsRunning).toBe(0);
    expect(await status()).toMatchObject({ state: 'paused' });
    await expect.poll(listed).toBe('paused');
    gate.release();
    expect(await first.stop()).toBe(0);
    const second = await fleet.startWorker();
    expect(await fleet.run('resume', 'paused')).toMatchObject({ exitCode: 0 });
    expect((await job).summary).toMatchObject({ result: 'done', counts: { files: FILES, failed: 0 } });
    expect(differences(fleet, 'source', 'paused')).toEqual([]);
    await second.stop();
  });

  it('gives the parts of a worker that is stopped to another', async () => {
    const first = await fleet.startWorker({ endpoint: gate.endpoint, words: ['--drain', '0s'] });
    gate.hold(isWrite, 30);
    const job = fleet.run('copy', place('source'), place('drained'), ...SMALL);
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    expect(await first.stop()).toBe(0);
    gate.release();
    const second = await fleet.startWorker();
    expect((await job).summary).toMatchObject({ result: 'done', counts: { files: FILES, failed: 0 } });
    expect(differences(fleet, 'source', 'drained')).toEqual([]);
    await second.stop();
  });

  it('stops when its job is cancelled, and the same command copies the rest', async () => {
    const worker = await fleet.startWorker({ endpoint: gate.endpoint });
    gate.hold(isWrite, 30);
    const words = ['copy', place('source'), place('cancelled'), ...SMALL];
    const job = fleet.run(...words, '--id', 'cancelled');
    await expect.poll(() => gate.held()).toBeGreaterThan(0);
    expect(await fleet.run('cancel', 'cancelled')).toMatchObject({ exitCode: 0 });
    const ended = await job;
    expect(ended, ended.stdout).toMatchObject({ exitCode: 1 });
    expect(ended.summary).toMatchObject({ result: 'stopped' });
    expect(await fleet.run('retry-failed', 'cancelled')).toMatchObject({ exitCode: 2 });
    gate.release();
    const rest = await fleet.run(...words);
    expect(rest.summary).toMatchObject({ result: 'done', counts: { files: FILES } });
    expect((rest.summary.counts as { readonly copiedFiles: number }).copiedFiles).toBeLessThan(FILES);
    expect(differences(fleet, 'source', 'cancelled')).toEqual([]);
    await worker.stop();
  });
});
