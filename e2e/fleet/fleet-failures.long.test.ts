/** How a fleet handles failures of files, of whole parts, and of whole jobs. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { differences } from './bucket-trees.ts';
import { type Fleet, numberedFiles, openFleet } from './open-fleet.ts';

const FILES = 200;
const SMALL = ['--part-files', '50', '--ranges', '1', '--attempts', '2', '--json'];

let fleet: Fleet;
let gate: RequestGate;
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}/`;
const retry = async (id: string) => {
  expect(await fleet.run('retry-failed', id)).toMatchObject({ exitCode: 0 });
  await expect.poll(async () => (await fleet.run('status', id, '--json')).summary.state).not.toBe('running');
};

beforeAll(async () => {
  fleet = await openFleet();
  gate = await startRequestGate(fleet.s3.endpoint);
  await fleet.put('source', numberedFiles(FILES));
  await fleet.startWorker({ endpoint: gate.endpoint });
});
afterAll(async () => {
  await gate[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

describe('a fleet', () => {
  it('copies all but the files that fail, and tries those again on request', async () => {
    gate.refuse(({ method, url }) => method === 'PUT' && /files\/3\/object-/.test(url.pathname));
    const { exitCode, stdout, summary } = await fleet.run(
      'copy',
      place('source'),
      place('files'),
      ...SMALL,
      '--id',
      'files',
    );
    expect(exitCode, stdout).toBe(4);
    expect(summary).toMatchObject({
      failed: 20,
      counts: { copiedFiles: FILES - 20, failedBy: { accessDenied: 20 } },
    });
    expect(differences(fleet, 'source', 'files')).toHaveLength(20);
    gate.release();
    await retry('files');
    const status = await fleet.run('status', 'files', '--json');
    expect(status.summary).toMatchObject({
      state: 'done',
      counts: { files: FILES, copiedFiles: FILES, failed: 0 },
    });
    expect(differences(fleet, 'source', 'files')).toEqual([]);
  });

  it('sets aside a part that fails as a whole, continues, and tries the part again on request', async () => {
    gate.refuse(
      ({ method, url }) => method === 'GET' && /fleet\/poison\/parts\/.*0001\.json/.test(url.pathname),
    );
    const { exitCode, stdout, summary } = await fleet.run(
      'copy',
      place('source'),
      place('parts'),
      ...SMALL,
      '--id',
      'poison',
    );
    expect(exitCode, stdout).toBe(4);
    expect(summary).toMatchObject({
      failed: 50,
      failedParts: 1,
      counts: { files: FILES, copiedFiles: FILES - 50 },
    });
    gate.release();
    await retry('poison');
    expect((await fleet.run('status', 'poison', '--json')).summary).toMatchObject({ state: 'done' });
    expect(differences(fleet, 'source', 'parts')).toEqual([]);
  });

  it('tries the deletions of a sync again that failed as a whole', async () => {
    await fleet.put('synced', { '0-extra': 'extra' });
    gate.refuse(({ method, url }) => method === 'GET' && url.pathname.includes('fleet/synced/deletes/'));
    const words = ['--max-delete', '1', '--id', 'synced', ...SMALL];
    const { exitCode, stdout, summary } = await fleet.run('sync', place('source'), place('synced'), ...words);
    expect(exitCode, stdout).toBe(4);
    expect(summary).toMatchObject({ failed: 1, failedParts: 1, counts: { deletedFiles: 0 } });
    gate.release();
    await retry('synced');
    expect((await fleet.run('status', 'synced', '--json')).summary).toMatchObject({
      state: 'done',
      counts: { deletedFiles: 1, failed: 0 },
    });
    expect(differences(fleet, 'source', 'synced')).toEqual([]);
  });

  it('starts no job whose source does not exist', async () => {
    for (const source of ['s3://no-such-bucket/', place('no-such-prefix')]) {
      const missing = await fleet.run('copy', source, place('missing'), '--id', 'missing');
      expect(missing).toMatchObject({ exitCode: 1 });
      expect(missing.stderr).toContain('no-such-');
    }
    expect(await fleet.run('status', 'missing')).toMatchObject({ exitCode: 1 });
  });

  it('ends a job that no worker can do, and leaves no name of an object with Temporal', async () => {
    const later = ['--queue', 'later', '--json'];
    await fleet.run('copy', place('source'), place('changed'), '--id', 'changed', '--detach', ...later);
    appendFileSync(join(fleet.s3.dataFolder, fleet.s3.bucket, 'changed/.dray-fleet/changed/job.json'), ' ');
    const status = async () => (await fleet.run('status', 'changed')).stderr;
    expect(await status()).toContain('No worker answers for the job changed');
    const worker = await fleet.startWorker({ words: ['--queue', 'later'] });
    await expect
      .poll(async () => (await fleet.run('list', ...later)).summary.jobs)
      .toMatchObject([{ id: 'changed', state: 'failed' }]);
    await worker.stop();
    expect(await status()).toContain('failed with "damaged"');
    const stored = await fleet.temporal.stored();
    expect(stored.includes('damaged')).toBe(true);
    expect(stored.includes('object-0')).toBe(false);
    expect(stored.includes(fleet.s3.accessKeyId)).toBe(false);
  });

  it('encrypts what Temporal stores, and another key reads nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dray-fleet-'));
    try {
      const key = (name: string, digit: string) => {
        writeFileSync(join(folder, name), digit.repeat(64));
        return ['--payload-key', join(folder, name), '--queue', 'secret'];
      };
      const own = key('own', 'a');
      const worker = await fleet.startWorker({ words: own });
      const job = await fleet.run(
        'copy',
        place('source'),
        place('encrypted-place'),
        ...SMALL,
        '--id',
        'sealed',
        ...own,
      );
      expect(job, job.stdout).toMatchObject({ exitCode: 0 });
      expect((await fleet.temporal.stored()).includes('encrypted-place')).toBe(false);
      const other = await fleet.run('status', 'sealed', ...key('other', 'b'));
      expect(other).toMatchObject({ exitCode: 2 });
      expect(other.stderr).toContain('another key');
      for (const words of [
        ['status', 'sealed'],
        ['list', '--queue', 'secret'],
      ]) {
        const none = await fleet.run(...words);
        expect(none).toMatchObject({ exitCode: 2 });
        expect(none.stderr).toContain('--payload-key');
      }
      const says = (text: string) => () => worker.lines.some(({ message }) => `${message}`.includes(text));
      await fleet.run('copy', place('source'), place('foreign'), '--detach', ...key('other', 'b'));
      await expect.poll(says('another key')).toBe(true);
      await worker.stop();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
