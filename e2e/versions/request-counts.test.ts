/**
 * How many requests each job sends, counted in the server's own access log. These bounds are promises: a
 * remote charges for requests, and latency multiplies them. Every test also compares Dray's own count with
 * the server's.
 */
import { createHash, hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRepository } from '../../app/library/dray.ts';
import type { RequestTotals } from '../../engine/api/jobs/jobs.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { planScope } from '../../engine/jobs/scope/plan-scope.ts';
import { scope } from '../../engine/jobs/scope/scope.ts';
import { diff } from '../../engine/jobs/working-copy/diff.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { createS3Dataset, listRequests, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const FILES = runBudget({ short: 5_000, long: 100_000 });
const OBJECTS = runBudget({ short: 5_000, long: 50_000 });

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

/**
 * Runs the job and compares the requests that reached the server with the bound and with the job's own count.
 */
async function countRequests<Summary extends { readonly requests: RequestTotals }>(
  job: () => Promise<Summary>,
  most: number,
): Promise<Summary> {
  await server.resetRequests();
  const summary = await job();
  const requests = await server.requests();
  expect(requests.length, listRequests(requests.slice(0, 200))).toBeLessThanOrEqual(most);
  expect(summary.requests.total, listRequests(requests.slice(0, 200))).toBe(requests.length);
  return summary;
}

/** Writes files into folders of 1,000. */
function writeFiles(root: string, count: number, contentOf: (at: number) => string | Uint8Array): void {
  for (let at = 0; at < count; at += 1) {
    const folder = join(root, `part-${Math.floor(at / 1_000)}`);
    if (at % 1_000 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.txt`), contentOf(at));
  }
}

/** 1 KiB that differs for each number and does not compress. */
function kibibyte(at: number): Uint8Array {
  return Buffer.concat(Array.from({ length: 32 }, (_, part) => hash('sha256', `${at} ${part}`, 'buffer')));
}

describe('A dataset of 1,000 files of 1 KiB in packs', () => {
  let dataset: S3Dataset;
  beforeAll(() => {
    dataset = createS3Dataset(server, 'small');
  });
  afterAll(() => dataset?.[Symbol.dispose]());

  it('takes at most 10 requests for the first push and at most 5 for a clone', async () => {
    const root = await dataset.init('work');
    writeFiles(root, 1_000, kibibyte);
    // Two of them confirm the pack and the commit, and three make the branch while a collection may begin.
    const pushed = await countRequests(() => push(dataset.context('work'), {}), 10);
    expect(pushed).toMatchObject({ result: 'pushed', failed: 0, changes: { added: 1_000 } });
    const cloned = await countRequests(() => dataset.clone('copy'), 5);
    expect(cloned).toMatchObject({ result: 'pulled', failed: 0, downloadedBytes: 1_000 * 1_024 });
  });
});

describe(`A dataset of ${FILES.toLocaleString('en')} files in packs`, () => {
  let dataset: S3Dataset;
  beforeAll(async () => {
    dataset = createS3Dataset(server, 'large');
    const root = await dataset.init('work');
    writeFiles(root, FILES, (at) => (at % 10 === 0 ? `content of ${at}` : ''));
    await push(dataset.context('work'), {});
    await dataset.clone('copy');
  });
  afterAll(() => dataset?.[Symbol.dispose]());

  it('takes one request to push or pull when nothing changed', async () => {
    const pushed = await countRequests(() => push(dataset.context('work'), {}), 1);
    expect(pushed).toMatchObject({ result: 'nothingToPush', failed: 0 });
    const pulled = await countRequests(() => pull(dataset.context('copy'), {}), 1);
    expect(pulled).toMatchObject({ result: 'upToDate', failed: 0 });
  });

  it('takes a program one request for each file of a version whose hash it has resolved', async () => {
    const { environment } = dataset.context('work');
    await using repository = await openRepository(dataset.url, { environment });
    const hash = await repository.resolve('main');
    const paths = Array.from({ length: 10 }, (_, at) => `part-0/file-${at * 10}.txt`);
    for await (const _ of repository.list(hash, { folder: 'part-0' }));
    await server.resetRequests();
    for (const path of paths) expect(await repository.stat(hash, path)).toMatchObject({ kind: 'file' });
    for (const path of paths) await buffer(repository.read(hash, path));
    const requests = await server.requests();
    expect(requests, listRequests(requests)).toHaveLength(10);
  });

  it('takes at most 9 requests to push one changed file and at most 5 to pull it', async () => {
    dataset.sandbox.write('work/part-4/file-4242.txt', 'changed');
    // Three of them see what is new once: content, segment and commit.
    const pushed = await countRequests(() => push(dataset.context('work'), {}), 9);
    expect(pushed).toMatchObject({ result: 'pushed', changes: { modified: 1, added: 0, deleted: 0 } });
    const pulled = await countRequests(() => pull(dataset.context('copy'), {}), 5);
    expect(pulled).toMatchObject({ result: 'pulled', failed: 0, changes: { modified: 1 } });
  });
});

describe('A part of a dataset of 20,000 files', () => {
  let dataset: S3Dataset;
  beforeAll(async () => {
    dataset = createS3Dataset(server, 'whole');
    await dataset.init('work');
    for (let folder = 0; folder < 200; folder += 1) {
      const name = `part-${String(folder).padStart(3, '0')}`;
      for (let at = 0; at < 100; at += 1)
        dataset.sandbox.write(`work/${name}/${at}.txt`, at % 10 === 0 ? `${folder} ${at}` : '');
    }
    await push(dataset.context('work'), {});
  });
  afterAll(() => dataset?.[Symbol.dispose]());

  it('takes at most 6 requests to clone one folder, however many segments the commit has', async () => {
    const only = ['part-120'];
    const cloned = await countRequests(() => dataset.clone('part', { only }), 6);
    expect(cloned).toMatchObject({ result: 'pulled', failed: 0, changes: { added: 100 } });
    const again = await countRequests(() => dataset.clone('twice', { only: ['part-007/'] }), 5);
    expect(again).toMatchObject({ failed: 0, changes: { added: 100 } });
  });

  it('takes at most 3 requests to pull what others changed outside, and at most 7 inside', async () => {
    for (let folder = 0; folder < 100; folder += 3)
      dataset.sandbox.write(`work/part-${String(folder).padStart(3, '0')}/5.txt`, `changed ${folder}`);
    await push(dataset.context('work'), {});
    const outside = await countRequests(() => pull(dataset.context('part'), {}), 3);
    expect(outside).toMatchObject({ result: 'pulled', downloadedBytes: 0, changes: { modified: 0 } });
    dataset.sandbox.write('work/part-120/5.txt', 'changed');
    await push(dataset.context('work'), {});
    const inside = await countRequests(() => pull(dataset.context('part'), {}), 7);
    expect(inside).toMatchObject({ result: 'pulled', changes: { modified: 1 } });
  });

  it('takes at most 2 requests more to push a change than the whole does', async () => {
    dataset.sandbox.write('part/part-120/7.txt', 'changed here');
    const pushed = await countRequests(() => push(dataset.context('part'), {}), 28);
    expect(pushed).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
    dataset.sandbox.write('part/part-120/8.txt', 'changed here');
    const again = await countRequests(() => push(dataset.context('part'), {}), 11);
    expect(again).toMatchObject({ result: 'pushed', changes: { modified: 1 } });
  });

  /** The segments that a job reads: each is a list of about two thousand files. */
  const segmentsRead = async (job: () => Promise<unknown>): Promise<number> => {
    await server.resetRequests();
    await job();
    const requests = await server.requests();
    const reads = requests.filter(
      ({ operation, path }) => operation === 'GetObject' && path.includes('/manifests/'),
    );
    return new Set(reads.map(({ path }) => path)).size;
  };

  it('reads the segments in which the part lies, and no others', async () => {
    await dataset.clone('small', { only: ['part-063'] });
    const context = () => dataset.context('small');
    dataset.sandbox.write('small/part-063/1.txt', 'changed here');
    expect(await segmentsRead(() => status(context(), {}))).toBe(0);
    expect(await segmentsRead(() => diff(context(), {}))).toBe(0);
    await pull(dataset.context('work'), {});
    for (let folder = 0; folder < 200; folder += 2)
      dataset.sandbox.write(`work/part-${String(folder).padStart(3, '0')}/9.txt`, `changed ${folder}`);
    dataset.sandbox.write('work/part-063/2.txt', 'changed there');
    await push(dataset.context('work'), {});
    const all = await segmentsRead(() => dataset.clone('everything'));
    expect(all).toBeGreaterThan(8);
    expect(await segmentsRead(() => status(context(), { remote: true }))).toBeLessThanOrEqual(2);
    expect(await segmentsRead(() => push(context(), {}))).toBeLessThanOrEqual(2);
    expect(await segmentsRead(() => pull(context(), {}))).toBeLessThanOrEqual(2);
    expect(await segmentsRead(() => diff(context(), { from: 'main' }))).toBe(0);
    const planned = () => planScope(context(), { only: ['part-063', 'part-150'] });
    expect(await segmentsRead(planned)).toBeLessThanOrEqual(4);
  });

  it('takes at most 6 requests to widen by one folder, and none to narrow', async () => {
    const widen = () => scope(dataset.context('part'), { action: 'add', patterns: ['part-007/'] });
    expect(await countRequests(widen, 6)).toMatchObject({ fetched: 100, failed: 0 });
    const narrow = () => scope(dataset.context('part'), { action: 'drop', patterns: ['part-007/'] });
    expect(await countRequests(narrow, 0)).toMatchObject({ removed: 100, failed: 0 });
  });
});

describe(`A dataset of ${FILES.toLocaleString('en')} files with an object for each content`, () => {
  it('takes at most 9 requests to push one changed file with content new to the index', async () => {
    using dataset = createS3Dataset(server, 'objects');
    const root = await dataset.init('work', { layout: { kind: 'objects' } });
    // A hundred contents: with a warm index the number of objects on the remote makes no difference.
    writeFiles(root, FILES, (at) => (at % 10 === 0 ? `content ${(at / 10) % 100}` : ''));
    await push(dataset.context('work'), {});
    dataset.sandbox.write('work/part-4/file-4242.txt', 'changed');
    // Three of them see what is new once: content, segment and commit.
    const pushed = await countRequests(() => push(dataset.context('work'), {}), 9);
    expect(pushed).toMatchObject({ result: 'pushed', uploadedObjects: 1, changes: { modified: 1 } });
    expect(pushed.query).toMatchObject({ candidates: 1, chosen: 'each' });
  });
});

describe(`A dry run without an index against ${OBJECTS.toLocaleString('en')} objects`, () => {
  let dataset: S3Dataset;
  const stored = (at: number) => `stored ${at}`;

  beforeAll(async () => {
    dataset = createS3Dataset(server, 'crowded');
    await dataset.init('first', { layout: { kind: 'objects' } });
    dataset.sandbox.write('first/a', stored(0));
    await push(dataset.context('first'), {});
    // Writes the objects into the server's own folder, as a push would leave them, because so many requests
    // take longer.
    const folder = join(server.dataFolder, server.bucket, 'crowded/objects');
    for (let at = 1; at < OBJECTS; at += 1) {
      const hash = createHash('sha256').update(stored(at)).digest('hex');
      if (at < 5_000) mkdirSync(join(folder, hash.slice(0, 2)), { recursive: true });
      writeFileSync(join(folder, hash.slice(0, 2), hash.slice(2)), stored(at));
    }
  });
  afterAll(() => dataset?.[Symbol.dispose]());

  /** Makes a workspace without any knowledge of the repository, on a branch of its own. */
  async function dryRun(workspace: string, contents: readonly string[], most: number) {
    const root = await dataset.init(workspace, { branch: workspace });
    contents.forEach((content, at) => {
      writeFileSync(join(root, `file-${at}`), content);
    });
    return countRequests(() => push(dataset.context(workspace), { dryRun: true }), most);
  }

  it('finds 500 candidates by listing, in at most 80 requests', async () => {
    const contents = Array.from({ length: 500 }, (_, at) =>
      at < 200 ? stored(Math.floor((at * OBJECTS) / 208)) : `new ${at}`,
    );
    const planned = await dryRun('many', contents, 80);
    expect(planned).toMatchObject({ result: 'wouldPush', uploadedObjects: 300, requests: { writes: 0 } });
    expect(planned.query).toMatchObject({
      candidates: 500,
      chosen: 'list',
      actual: { present: 200, absent: 300 },
    });
    const { low, high } = planned.query.remoteObjects!;
    expect(low).toBeLessThan(OBJECTS * 1.05);
    expect(high).toBeGreaterThan(OBJECTS * 0.95);
  });

  it('finds one candidate by a single lookup, in at most 4 requests', async () => {
    const planned = await dryRun('one', [stored(OBJECTS - 1)], 4);
    expect(planned).toMatchObject({ result: 'wouldPush', uploadedObjects: 0 });
    expect(planned.query).toMatchObject({ candidates: 1, chosen: 'each', actual: { present: 1 } });
  });
});
