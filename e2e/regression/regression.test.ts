/**
 * Performance pinned by counts and never by time: what jobs of the published command cost in requests to the
 * store, bytes on the network, and calls of Node and of the kernel. `pinned-counts.json` holds the accepted
 * counts.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { plainPlace, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { type ByteCounter, startByteCounter } from '../servers/byte-counter.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from '../servers/versitygw.ts';
import { type CountedCommand, openCountedCommand } from './counted-command.ts';
import { type Bed, GUARDED_JOBS, type GuardedJob, writeLargeFile, writeSmallFiles } from './guarded-jobs.ts';
import {
  type Counts,
  compareCounts,
  describeDifferences,
  type PinnedCounts,
  readPinned,
  writePinned,
} from './pinned-counts.ts';

const TABLE = fileURLToPath(new URL('pinned-counts.json', import.meta.url));
const REWRITE = 'DRAY_COUNTS=write npm test -- e2e/regression';
const isWriting = process.env.DRAY_COUNTS === 'write';
/** `npm test` pins each job with small files, and the push of a large one. The others are in the long run. */
const OTHER_SHAPES = /(?:clone|copy) of a large file|a large file.*changed|small files from a peer/;
const isAllRun = runBudget({ short: isWriting, long: true });
const MINUTES = 60_000;
/**
 * A busy machine may take many times as long. A job that outlives its test would be counted with the next
 * job.
 */
const JOB_LIMIT_MS = 20 * MINUTES;

/** The counts of `stat` grow with the depth of the folder; the table was written at this one. */
const PARENT = process.platform === 'linux' ? '/tmp' : tmpdir();

let sandbox: Sandbox;
let store: S3Server;
let wire: ByteCounter;
let command: CountedCommand;
const pinned = readPinned(TABLE);
const counted: Record<string, Counts> = {};

beforeAll(async () => {
  sandbox = createSandbox(PARENT);
  store = await startVersitygw();
  wire = await startByteCounter(Number(new URL(store.endpoint).port));
  command = await openCountedCommand(sandbox.folder);
  for (const name of ['work', 'small']) writeSmallFiles(sandbox.path(name));
  for (const name of ['large-work', 'large']) writeLargeFile(sandbox.path(name));
  mkdirSync(sandbox.path('offered'));
  writeFileSync(sandbox.path('token'), TEST_TOKEN, { mode: 0o600 });
  if (command.whyNotTraced !== undefined)
    console.warn(
      `The kernel's calls are not compared, because they cannot be counted here: ${command.whyNotTraced}`,
    );
}, JOB_LIMIT_MS);
afterAll(async () => {
  const isComplete = Object.keys(counted).length === GUARDED_JOBS.length;
  if (isWriting && isComplete) writePinned(TABLE, pinned, counted);
  await wire?.stop();
  await store?.stop();
  sandbox?.[Symbol.dispose]();
});

/** @param peer The only peer that gets the token. */
function placeOf(peer?: string) {
  return {
    cwd: sandbox.folder,
    environment: {
      ...store.environment,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${wire.port}`,
      DRAY_AUTHOR: 'tester',
      DRAY_CACHE: sandbox.path('cache'),
      DRAY_CONFIG: sandbox.path('config.json'),
      DRAY_TOKEN: TEST_TOKEN,
      ...(peer === undefined ? {} : { DRAY_TOKEN_HOST: peer }),
    },
  };
}

function bedOf(place: Bed['place'], peer?: string): Bed {
  return {
    sandbox,
    place,
    dray: async (...parameters) => {
      await command.run(parameters, placeOf(peer));
    },
  };
}

async function count(job: GuardedJob): Promise<Counts> {
  switch (job.far) {
    case 'none':
      return countRun(
        job,
        bedOf((path) => path),
      );
    case 'store':
      return countAtStore(job);
    case 'peer':
      return countAtPeer(job);
  }
}

async function countRun(job: GuardedJob, bed: Bed, peer?: string): Promise<Counts> {
  const { calls, kernel } = await command.run(job.parameters(bed), placeOf(peer));
  return { calls, ...(kernel ? { kernel } : {}) };
}

async function countAtStore(job: GuardedJob): Promise<Counts> {
  const bed = bedOf((path) => `s3://${store.bucket}/${path}`);
  await job.prepare?.(bed);
  await store.resetRequests();
  const since = readWire(wire);
  const run = await countRun(job, bed);
  return { requests: countOperations(await store.requests()), wire: readWire(wire, since), ...run };
}

/** Each job gets its own server. */
async function countAtPeer(job: GuardedJob): Promise<Counts> {
  const server = await command.serve(sandbox.path('offered'), {
    ...placeOf(),
    tokenFile: sandbox.path('token'),
  });
  const between = await startByteCounter(server.port);
  try {
    const bed = bedOf((path) => plainPlace(between.port, path), plainPlace(between.port));
    await job.prepare?.(bed);
    const run = await countRun(job, bed, plainPlace(between.port));
    return { wire: readWire(between), ...run, serving: await server.stop() };
  } finally {
    await between.stop();
    await server.stop();
  }
}

function readWire(counter: ByteCounter, since = { sentBytes: 0, receivedBytes: 0 }) {
  return {
    sentBytes: counter.sentBytes() - since.sentBytes,
    receivedBytes: counter.receivedBytes() - since.receivedBytes,
  };
}

function countOperations(requests: readonly LoggedRequest[]): Readonly<Record<string, number>> {
  const operations: Record<string, number> = {};
  for (const { operation } of requests) operations[operation] = (operations[operation] ?? 0) + 1;
  return Object.fromEntries(Object.entries(operations).sort());
}

function withoutModuleBytes(counts: Counts): Counts {
  const groups = Object.entries(counts).map(([group, { moduleBytes: _, ...others }]) => [group, others]);
  return Object.fromEntries(groups) as Counts;
}

describe('Each job costs what the table says:', () => {
  it.each(GUARDED_JOBS.filter(({ name }) => isAllRun || !OTHER_SHAPES.test(name)))(
    '$name',
    async (job) => {
      const all = await count(job);
      // The size of the bundle is pinned once, so that one change of it is one line of the table.
      const counts = job.name === 'start' ? all : withoutModuleBytes(all);
      counted[job.name] = counts;
      if (isWriting) return;
      const differences = compareCounts(pinned[job.name] ?? {}, counts);
      if (differences.length > 0) expect.fail(describeDifferences(job.name, differences, REWRITE));
    },
    JOB_LIMIT_MS,
  );

  it('the table has no other jobs', () => {
    const names = GUARDED_JOBS.map(({ name }) => name);
    if (!isWriting) expect(Object.keys(pinned satisfies PinnedCounts)).toEqual(names);
  });
});
