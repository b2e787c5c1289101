/**
 * Copies of a mixed tree, up and across, each killed (SIGKILL) several times when a server's log shows a
 * random number of its pieces. At any such moment the destination holds whole files only, a rerun sends again
 * only what was in flight, and in the end nothing is missing or left over.
 */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, runCli } from '../../app/cli/run-cli.fixture.ts';
import { DrayError } from '../../engine/api/error.ts';
import type { PlaceRequest } from '../../engine/api/jobs/trees.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { uploads } from '../../engine/jobs/one-place/uploads.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import {
  type MixedTree,
  PART_BYTES,
  type Piece,
  piecesFetched,
  piecesSent,
  randomFrom,
  writeMixedTree,
} from '../mixed-tree.ts';
import { startMinio } from '../servers/minio.ts';
import {
  type Counted,
  isDownload,
  isPart,
  isUpload,
  type RequestGate,
  startRequestGate,
} from '../servers/request-gate.ts';
import { type LoggedRequest, type S3Endpoint, type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
const KILLS = runBudget({ short: 1, long: 4 });
/** A fixed number of requests in flight to one server: all that a kill can cost. */
const TRANSFERS = 4;
/** The most memory that holds bytes read from one server and not yet sent to the other. */
const MEMORY_BYTES = 128 * MIB;

let sandbox: Sandbox;
let tree: MixedTree;
let treeLines: readonly string[];
let first: S3Server;
/** Between the copies and the first server. */
let gate: RequestGate;
let second: S3Server;
let minio: S3Endpoint;
beforeAll(async () => {
  sandbox = createSandbox();
  // In walking order, the small files lie before, between and after the large ones.
  const large = runBudget({
    short: { 'd1/large': 24 * MIB, 'd3/large': 32 * MIB + 1, 'd6/large': 28 * MIB + 12_345 },
    long: { 'd1/large': 70 * MIB, 'd3/large': 100 * MIB + 1, 'd6/large': 85 * MIB + 12_345 },
  });
  tree = writeMixedTree(sandbox, 'tree', { small: runBudget({ short: 200, long: 500 }), large });
  treeLines = describeTree(tree.root);
  first = await startVersitygw();
  gate = await startRequestGate(first.endpoint);
  // The copies between servers are long tests.
  if (!runBudget({ short: false, long: true })) return;
  const { secretAccessKey } = first;
  [second, minio] = await Promise.all([startVersitygw({ secretAccessKey }), startMinio({ secretAccessKey })]);
  expect(
    await copyTree(context('setup'), { source: { place: tree.root }, destination: at(first, 'source') }),
  ).toMatchObject({ failed: 0 });
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await gate?.[Symbol.asyncDispose]();
  await Promise.all([first?.stop(), second?.stop(), minio?.stop()]);
});

const at = (server: S3Endpoint, folder: string): PlaceRequest => ({
  place: `s3://${server.bucket}/${folder}/`,
  connection: { endpoint: server.endpoint },
});

const environmentOf = (cache: string) => ({
  ...first.environment,
  DRAY_CACHE: sandbox.path(`cache-${cache}`),
});
const context = (cache: string) => testContext(sandbox.folder, { environment: environmentOf(cache) });

interface Copy {
  /** The name of its folder at the destination. */
  readonly name: string;
  readonly parameters: () => readonly string[];
  readonly destination: () => S3Endpoint;
  /** The servers that log their requests. */
  readonly logs: () => readonly S3Server[];
  /** The pieces that are counted to choose the moment of a kill. */
  readonly watch: (requests: readonly LoggedRequest[]) => readonly Piece[];
  /** The same pieces at the gate, which holds the copy if the kill comes late. */
  readonly counted: Counted;
}

const sent = (name: string) => (requests: readonly LoggedRequest[]) =>
  piecesSent(tree, requests, `/${first.bucket}/${name}/`);
const fetched = (requests: readonly LoggedRequest[]) =>
  piecesFetched(tree, requests, `/${first.bucket}/source/`);

function up(name: string): Copy {
  return {
    name,
    parameters: () => [tree.root, at(first, name).place, '--endpoint', gate.endpoint],
    destination: () => first,
    logs: () => [first],
    watch: sent(name),
    counted: isUpload,
  };
}

function across(name: string, destination: () => S3Endpoint, logs: () => readonly S3Server[]): Copy {
  return {
    name,
    parameters: () => [
      ...[at(first, 'source').place, '--source-endpoint', gate.endpoint],
      ...[at(destination(), name).place, '--dest-endpoint', destination().endpoint],
    ],
    destination,
    logs,
    watch: fetched,
    counted: isDownload,
  };
}

interface Run {
  readonly result: CliResult;
  readonly requests: readonly LoggedRequest[];
}

/** @param killAfter Kills the copy when this many pieces are seen. Absent: the copy runs to its end. */
async function run(copy: Copy, killAfter = Number.POSITIVE_INFINITY): Promise<Run> {
  const logs = copy.logs();
  const requests = async () => (await Promise.all(logs.map((server) => server.requests()))).flat();
  for (const server of logs) await server.resetRequests();
  if (killAfter < Number.POSITIVE_INFINITY) gate.holdAnswers(copy.counted, killAfter + TRANSFERS);
  let child: ChildProcess | undefined;
  const ended = runCli(['copy', ...copy.parameters(), '--transfers', String(TRANSFERS)], {
    cwd: sandbox.folder,
    environment: environmentOf(copy.name),
    onStarted: (started) => {
      child = started;
    },
  });
  const isRunning = () => child?.exitCode === null && child.signalCode === null;
  while (isRunning() && copy.watch(await requests()).length < killAfter) await pause(2);
  child?.kill('SIGKILL');
  gate.release();
  const result = await ended;
  return { result, requests: await atRest(requests) };
}

/** A server keeps working for a moment on the requests of a killed client. */
async function atRest(requests: () => Promise<readonly LoggedRequest[]>): Promise<readonly LoggedRequest[]> {
  for (let seen = -1; ; ) {
    const now = await requests();
    if (now.length === seen) return now;
    seen = now.length;
    await pause(200);
  }
}

/** Reads the destination back with an empty cache. */
async function readBack(copy: Copy): Promise<readonly string[]> {
  readings += 1;
  const folder = sandbox.path(`back-${readings}`);
  const request = { source: at(copy.destination(), copy.name), destination: { place: folder } };
  try {
    expect(await copyTree(context(`back-${readings}`), request)).toMatchObject({ failed: 0 });
    return describeTree(folder);
  } catch (error) {
    // The copy was killed before it wrote anything.
    if (error instanceof DrayError && error.code === 'notFound') return [];
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
let readings = 0;

/** The rows that `uploads list` (or `abort`) reports. */
async function unfinished(copy: Copy, options: { readonly abort?: boolean } = {}) {
  const asking = context('uploads');
  await uploads(asking, { ...at(copy.destination(), copy.name), ...options });
  return eventsOf(asking, 'upload');
}

/**
 * The large files with an upload that was begun and not completed, once for each such upload, by the
 * destination's log.
 */
function pendingOf(runs: readonly Run[], copy: Copy): readonly string[] {
  const requests = runs.flatMap((each) => each.requests);
  return tree.large.flatMap((path) => {
    const times = (operation: string) =>
      requests.filter(
        (each) =>
          each.operation === operation &&
          each.status < 300 &&
          each.path === `/${copy.destination().bucket}/${copy.name}/${path}`,
      ).length;
    return Array<string>(times('CreateMultipartUpload') - times('CompleteMultipartUpload')).fill(path);
  });
}

const namesOf = (pending: readonly { readonly path: string }[]) => pending.map(({ path }) => path).sort();

/** The number of pieces that were transferred more than once. */
function repeated(pieces: readonly Piece[]): number {
  return pieces.length - new Set(pieces.map(({ part, path }) => `${path}?${part}`)).size;
}

const bytesOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** Kills the copy at random moments, checks the destination each time, and then lets it run to its end. */
async function killAgainAndAgain(copy: Copy, random: () => number): Promise<readonly Run[]> {
  const lines = new Set(treeLines);
  const runs: Run[] = [];
  while (runs.length < KILLS) {
    const left = tree.pieces - runs.reduce((sum, { requests }) => sum + copy.watch(requests).length, 0);
    // Early enough that the copy still runs.
    const killed = await run(copy, 1 + Math.floor((random() * Math.max(left, 0)) / 3));
    runs.push(killed);
    expect(killed.result, 'the kill met it').toMatchObject({ exitCode: null });
    const there = await readBack(copy);
    expect(
      there.filter((line) => !lines.has(line)),
      'what is there is whole',
    ).toEqual([]);
  }
  runs.push(await run(copy));
  return runs;
}

const seed = Math.floor(Math.random() * 2 ** 32);

describe(`A copy that is killed ${KILLS} times (seed ${seed})`, () => {
  it('to a store completes, and sends again only what was in flight', async () => {
    const copy = up('up');
    const runs = await killAgainAndAgain(copy, randomFrom(seed));
    await expectDone(copy, runs);
    expectSentOnce(runs, copy);
    expect(namesOf(await unfinished(copy))).toEqual(pendingOf(runs, copy));
  });

  longIt('between two servers completes, and sends again only what was in flight', async () => {
    const copy = across(
      'across',
      () => second,
      () => [first, second],
    );
    const runs = await killAgainAndAgain(copy, randomFrom(seed + 1));
    await expectDone(copy, runs);
    expectSentOnce(runs, copy);
    expectFetchedOnce(runs);
    expect(namesOf(await unfinished(copy))).toEqual(pendingOf(runs, copy));
  });

  longIt('to a server of another make completes, and reads again only what was in memory', async () => {
    const copy = across(
      'to-minio',
      () => minio,
      () => [first],
    );
    const runs = await killAgainAndAgain(copy, randomFrom(seed + 2));
    await expectDone(copy, runs);
    expectFetchedOnce(runs);
  });
});

async function expectDone(copy: Copy, runs: readonly Run[]): Promise<void> {
  const { result } = runs.at(-1)!;
  expect(result, result.stderr).toMatchObject({ exitCode: 0 });
  expect(await readBack(copy)).toEqual(treeLines);
  // A kill between the server's answer and the journal entry leaves an upload without parts that no journal
  // knows.
  expect((await unfinished(copy)).filter(({ parts }) => parts > 0)).toEqual([]);
}

/** Each kill loses at most the requests in flight, of one part at most each. */
function expectSentOnce(runs: readonly Run[], copy: Copy): void {
  const pieces = runs.flatMap(({ requests }) => sent(copy.name)(requests));
  expect(repeated(pieces)).toBeLessThanOrEqual(KILLS * TRANSFERS);
  expect(bytesOf(pieces)).toBeGreaterThanOrEqual(tree.bytes);
  expect(bytesOf(pieces)).toBeLessThanOrEqual(tree.bytes + KILLS * TRANSFERS * PART_BYTES);
}

function expectFetchedOnce(runs: readonly Run[]): void {
  const pieces = runs.flatMap(({ requests }) => fetched(requests));
  expect(bytesOf(pieces)).toBeLessThanOrEqual(tree.bytes + KILLS * (MEMORY_BYTES + TRANSFERS * PART_BYTES));
}

describe('An upload that a kill left unfinished', () => {
  it('is listed and aborted, and the same command then starts it anew', async () => {
    const copy = up('aborted');
    const partsOf = (requests: readonly LoggedRequest[]) =>
      sent(copy.name)(requests).filter(({ part }) => part > 0);
    const killed = await run({ ...copy, watch: partsOf, counted: isPart }, 3);
    expect(killed.result).toMatchObject({ exitCode: null });
    const pending = pendingOf([killed], copy);
    expect(pending.length).toBeGreaterThan(0);

    const listed = await unfinished(copy);
    expect(namesOf(listed)).toEqual(pending);
    // Requests in flight may have arrived or not; answered ones have.
    const answered = partsOf(killed.requests.filter(({ status }) => status < 300));
    const left = answered.filter(({ path }) => pending.includes(path));
    expect(listed.reduce((sum, { parts }) => sum + parts, 0)).toBeGreaterThanOrEqual(left.length);
    expect(await unfinished({ ...copy, name: 'aborte' }), 'of another folder').toEqual([]);
    expect(namesOf(await unfinished(copy, { abort: true }))).toEqual(pending);
    expect(await unfinished(copy)).toEqual([]);

    const again = await run(copy);
    expect(again.result, again.result.stderr).toMatchObject({ exitCode: 0 });
    const begun = partsOf(again.requests).filter(({ path }) => pending.includes(path));
    expect(bytesOf(begun), 'all of it').toBe(pending.reduce((sum, path) => sum + tree.sizes.get(path)!, 0));
    expect(await readBack(copy)).toEqual(treeLines);
    expect(await unfinished(copy)).toEqual([]);
  });
});
