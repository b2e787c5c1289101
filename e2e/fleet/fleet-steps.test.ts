/** A fleet's steps against real stores give what one `dray copy`, `dray sync` or `dray check` gives. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetRequest } from '../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { fleetSteps } from '../../engine/jobs/fleet/fleet-steps.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { type FleetRun, runFleet } from './run-fleet.ts';

/** More than a page of a listing, for the test that this is about. */
const MANY = 1_200;
/** The files of all other trees, which make several parts. */
const FILES = 240;
const MIB = 1024 * 1024;

let sandbox: Sandbox;
let first: S3Server;
let second: S3Server;
beforeAll(async () => {
  sandbox = createSandbox();
  first = await startVersitygw();
  second = await startVersitygw({ secretAccessKey: first.secretAccessKey });
  for (const [tree, files] of [
    ['many', MANY],
    ['tree', FILES],
  ] as const) {
    for (let at = 0; at < files; at += 1) sandbox.write(`${tree}/${nameOf(at)}`, `content ${at}`);
    sandbox.write(`${tree}/empty`, '');
  }
  await copyTree(contextFor(), { source: { place: 'many' }, destination: at(first, 'many') });
  await copyTree(contextFor(), { source: { place: 'tree' }, destination: at(first, 'source') });
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await Promise.all([first?.stop(), second?.stop()]);
});

const nameOf = (number: number) =>
  `${number % 3 === 0 ? 'many' : `day ${number % 7}`}/ü${number * 7919}%?.txt`;
const at = (server: S3Server, prefix: string) => ({
  place: `s3://${server.bucket}/${prefix}/`,
  connection: { endpoint: server.endpoint },
});
const contextFor = (more: Partial<JobContext> = {}) =>
  testContext(sandbox.folder, {
    environment: { ...first.environment, DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache') },
    ...more,
  });

let runs = 0;
interface RunOptions extends Partial<FleetRequest> {
  readonly context?: JobContext;
  readonly around?: Parameters<typeof runFleet>[0]['around'];
}
function fleet(destination: string, { around, context, ...more }: RunOptions = {}): Promise<FleetRun> {
  runs += 1;
  const request: FleetRequest = {
    kind: 'copy',
    source: at(first, 'source'),
    destination: at(second, destination),
    partFilesMax: 60,
    rangesWanted: 3,
    ...more,
  };
  const options = { context: context ?? contextFor(), id: `run-${runs}`, request };
  return runFleet({ ...options, ...(around ? { around } : {}) });
}

async function differences(destination: string, source = 'source') {
  const { differing, files, onlyInDestination, onlyInSource, same } = await checkTrees(contextFor(), {
    source: at(first, source),
    destination: at(second, destination),
  });
  return { files, same, differing, onlyInSource, onlyInDestination };
}
const equal = (files: number) => ({
  files: files + 1,
  same: files + 1,
  differing: 0,
  onlyInSource: 0,
  onlyInDestination: 0,
});
const EQUAL = equal(FILES);

describe('A copy by a fleet', () => {
  it('in many parts gives the same result as one copy, and the next run moves nothing', async () => {
    const run = await fleet('copied', { source: at(first, 'many') });
    expect(run.ranges).toBeGreaterThan(1);
    expect(run.parts.length).toBeGreaterThan(MANY / 60);
    expect(run.counts).toMatchObject({ files: MANY + 1, copiedFiles: MANY + 1, failed: 0 });
    expect(await differences('copied', 'many')).toEqual(equal(MANY));
    expect(run.report).toMatchObject({ report: 'fleet', kind: 'copy', counts: run.counts });
    const documents = await checkTrees(contextFor(), {
      source: at(second, `copied/.dray-fleet/run-${runs}`),
      destination: at(second, 'nothing'),
    });
    // Only the request and the report are left.
    expect(documents.onlyInSource).toBe(2);
    const again = await fleet('copied', { source: at(first, 'many') });
    expect(again.counts).toMatchObject({ files: MANY + 1, copiedFiles: 0, unchangedFiles: MANY + 1 });
  });

  it('resumes after a crash behind any step: every step can run again', async () => {
    const names: string[] = [];
    const run = await fleet('repeated', {
      around: async (name, step) => {
        names.push(name);
        await step(contextFor());
        return step(contextFor());
      },
    });
    expect(new Set(names)).toEqual(new Set(['begin', 'planRanges', 'cutRange', 'runPart', 'finish']));
    // The second run of a part finds everything there.
    expect(run.counts).toMatchObject({ files: FILES + 1, copiedFiles: 0, unchangedFiles: FILES + 1 });
    expect(await differences('repeated')).toEqual(EQUAL);
  });

  longIt('resumes after its process was killed at any step', async () => {
    const own = { kind: 'copy', source: at(first, 'source'), destination: at(second, 'killed') };
    const script = `
      import { runFleet } from ${JSON.stringify(new URL('./run-fleet.ts', import.meta.url).href)};
      const { killAt, ...options } = JSON.parse(process.argv[1]);
      let calls = 0;
      const onCall = () => {
        calls += 1;
        if (calls === killAt) process.kill(process.pid, 'SIGKILL');
        return () => {};
      };
      const context = { ...options.context, signal: new AbortController().signal, emit() {}, onCall };
      console.log(JSON.stringify((await runFleet({ ...options, context })).counts));`;
    const { connection, directory, environment } = contextFor();
    const request = { ...own, partFilesMax: 60, rangesWanted: 3 };
    const options = { id: 'killed', request, context: { connection, directory, environment } };
    const run = (killAt: number) =>
      spawnSync(
        process.execPath,
        ['--input-type=module', '-e', script, JSON.stringify({ ...options, killAt })],
        {
          encoding: 'utf8',
        },
      );
    const kills = [2, 4, 9, 40, 150].filter((killAt) => run(killAt).signal === 'SIGKILL');
    // The later ones may find all of it done.
    expect(kills.length).toBeGreaterThanOrEqual(3);
    const { stderr, stdout } = run(0);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ files: FILES + 1, failed: 0 });
    expect(await differences('killed')).toEqual(EQUAL);
  });
});

describe('A sync by a fleet', () => {
  it('deletes extra files of the destination in a second round, wherever they lie', async () => {
    await copyTree(contextFor(), { source: { place: 'tree' }, destination: at(second, 'synced') });
    for (const name of ['0first', 'day 3/~', 'zz/last', 'many/ü0%?.txt.more'])
      sandbox.write(`extra/${name}`, 'extra');
    await copyTree(contextFor(), { source: { place: 'extra' }, destination: at(second, 'synced') });
    const run = await fleet('synced', { kind: 'sync' });
    expect(run.verdict).toEqual({ isAllowed: true });
    expect(run.counts).toMatchObject({ onlyInDestination: 4, deletedFiles: 4, files: FILES + 1, failed: 0 });
    expect(await differences('synced')).toEqual(EQUAL);
  });

  it('deletes nothing above the bound, which holds for all parts together', async () => {
    await copyTree(contextFor(), { source: { place: 'extra' }, destination: at(second, 'bound') });
    const run = await fleet('bound', { kind: 'sync', maxDelete: { files: 3 } });
    expect(run.verdict).toMatchObject({ isAllowed: false, code: 'tooManyDeletes' });
    expect(await differences('bound')).toEqual({ ...EQUAL, onlyInDestination: 4 });
  });

  it('deletes no repository without a bound that allows it', async () => {
    sandbox.write('repository/set/dray.json', '{}');
    await copyTree(contextFor(), { source: { place: 'repository' }, destination: at(second, 'guarded') });
    const run = await fleet('guarded', { kind: 'sync' });
    expect(run.verdict).toMatchObject({ isAllowed: false, code: 'tooManyDeletes' });
    expect(run.counts.repositories).toBe(1);
    const allowed = await fleet('guarded', { kind: 'sync', maxDelete: { files: 1 } });
    expect(allowed.counts).toMatchObject({ deletedFiles: 1, failed: 0 });
    expect(await differences('guarded')).toEqual(EQUAL);
  });

  longIt('writes a file in the place of an object that it deletes first, as one sync does', async () => {
    // The server keeps objects as files: `many` must go before `many/...` can be written.
    sandbox.write('blocking/many', 'in the way');
    await copyTree(contextFor(), { source: { place: 'blocking' }, destination: at(second, 'blocked') });
    const run = await fleet('blocked', { kind: 'sync', rangesWanted: 1, partFilesMax: FILES * 2 });
    expect(run.counts.failed).toBe(0);
    expect(run.counts.waiting).toBe(FILES / 3);
    expect(await differences('blocked')).toEqual(EQUAL);
  });
});

describe('A check by a fleet', () => {
  it('finds the same differences as one check', async () => {
    await copyTree(contextFor(), { source: { place: 'tree' }, destination: at(second, 'checked') });
    sandbox.write('other/empty', 'not any more');
    sandbox.write(`other/${nameOf(5)}`, 'otherwise');
    sandbox.write('other/zz', 'extra');
    await copyTree(contextFor(), { source: { place: 'other' }, destination: at(second, 'checked') });
    const one = await differences('checked');
    const { counts } = await fleet('checked', { kind: 'check' });
    const { differing, files, onlyInDestination, onlyInSource, unchangedFiles: same } = counts;
    expect({ files, same, differing, onlyInSource, onlyInDestination }).toEqual(one);
    expect(one).toMatchObject({ differing: 2, onlyInDestination: 1 });
    expect(counts.comparedBy).toEqual({ md5: FILES - 1, crc64nvme: 1, sizes: 1, presence: 1 });
  });
});

describe('A large object', () => {
  const bytes = randomBytes(27 * MIB);
  const large = { source: () => at(first, 'large'), largeBytes: 20 * MIB };
  const put = async () => {
    sandbox.write('large/a/film', bytes);
    sandbox.write('large/b', 'small');
    await copyTree(contextFor(), { source: { place: 'large' }, destination: large.source() });
  };
  const read = async (prefix: string) => {
    await copyTree(contextFor(), { source: at(second, prefix), destination: { place: `${prefix}-back` } });
    return sha256(readFileSync(sandbox.path(`${prefix}-back/a/film`)));
  };

  it('is moved in pieces, each sent once although every step runs twice', async () => {
    await put();
    await second.resetRequests();
    const run = await fleet('large', {
      source: large.source(),
      largeBytes: large.largeBytes,
      around: async (_name, step) => {
        await step(contextFor());
        return step(contextFor());
      },
    });
    expect(run.counts).toMatchObject({ files: 2, failed: 0 });
    const sent = (await second.requests()).filter(({ operation }) => operation === 'UploadPart');
    expect(sent.length).toBe(4);
    expect(await read('large')).toBe(sha256(bytes));
    const again = await fleet('large', { source: large.source(), largeBytes: large.largeBytes });
    expect(again.counts).toMatchObject({ files: 2, copiedFiles: 0, unchangedFiles: 2 });
  });

  longIt(
    'that changes while it moves fails alone and once, and a second attempt copies its new content',
    async () => {
      await put();
      const changed = randomBytes(26 * MIB);
      await second.resetRequests();
      const run = await fleet('large-changed', {
        source: large.source(),
        largeBytes: large.largeBytes,
        around: async (name, step) => {
          const result = await step(contextFor());
          if (name === 'beginLarge') {
            sandbox.write('large/a/film', changed);
            await copyTree(contextFor(), { source: { place: 'large' }, destination: large.source() });
          }
          return result;
        },
      });
      expect(run.counts).toMatchObject({ files: 2, copiedFiles: 1, failed: 1, failedBy: { io: 1 } });
      const aborts = (await second.requests()).filter(
        ({ operation }) => operation === 'AbortMultipartUpload',
      );
      expect(aborts.length).toBeGreaterThan(0);
      const retry = await fleetSteps.retryFailed(contextFor(), run.work, { range: 0, number: 0 });
      expect(retry).toMatchObject({ retried: 1, counts: { copiedFiles: 1, failed: 0 } });
      expect(await read('large-changed')).toBe(sha256(changed));
    },
  );

  longIt('survives a crash between its pieces, and is one object of one copy for a sync', async () => {
    await put();
    let isKilled = false;
    const run = await fleet('large-sync', {
      kind: 'sync',
      source: large.source(),
      largeBytes: large.largeBytes,
      around: async (name, step) => {
        if (name !== 'moveLargePieces' || isKilled) return step(contextFor());
        isKilled = true;
        const stop = new AbortController();
        const onCall = (call: string) => {
          if (call === 'multipart.uploadPart') stop.abort();
          return () => {};
        };
        const aborted = step(contextFor({ signal: stop.signal, onCall }));
        await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
        return step(contextFor());
      },
    });
    expect(isKilled).toBe(true);
    expect(run.counts).toMatchObject({ copiedFiles: 2, deletedFiles: 0, failed: 0 });
    expect(await read('large-sync')).toBe(sha256(bytes));
    const one = await syncTree(contextFor(), {
      source: large.source(),
      destination: at(second, 'large-sync'),
    });
    expect(one).toMatchObject({ result: 'upToDate', deletedFiles: 0 });
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
