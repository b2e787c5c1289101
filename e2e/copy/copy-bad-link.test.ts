/**
 * Copies up, down and across a link that cuts, stalls or crawls, run as real commands. Each one completes, or
 * exits with a code and a message that names the cause. Until then the destination holds whole files only,
 * and the same command completes once the link is good.
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CliResult, runCli } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { type MixedTree, writeMixedTree } from '../mixed-tree.ts';
import { type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { type BadNetwork, startToxiproxy } from '../servers/toxiproxy.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
/**
 * Cuts every connection in the middle of something, yet lets each part or range of 8 MiB through at least
 * one.
 */
const CUT_AFTER_BYTES = 20 * MIB;
/** Smaller than any part. */
const CUT_TOO_SOON_BYTES = MIB;
/** Small files are among these requests. */
const REQUESTS_BEFORE_STALL = 15;

let sandbox: Sandbox;
let tree: MixedTree;
let lines: readonly string[];
/** `far` is behind the bad link; copies across also use `near`. */
let far: S3Server;
let near: S3Server;
let gate: RequestGate;
let network: BadNetwork;
beforeAll(async () => {
  sandbox = createSandbox();
  tree = writeMixedTree(sandbox, 'tree', {
    small: 60,
    large: { 'd1/large': 40 * MIB + 1, 'd5/large': 25 * MIB },
  });
  lines = describeTree(tree.root);
  far = await startVersitygw();
  near = await startVersitygw({ secretAccessKey: far.secretAccessKey });
  gate = await startRequestGate(far.endpoint);
  network = await startToxiproxy({ upstream: gate.endpoint });
  for (const server of [far, near]) {
    const destination = { place: `s3://${server.bucket}/source/`, connection: { endpoint: server.endpoint } };
    expect(await copyTree(context(), { source: { place: tree.root }, destination })).toMatchObject({
      failed: 0,
    });
  }
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await network?.stop();
  await gate?.[Symbol.asyncDispose]();
  await Promise.all([far?.stop(), near?.stop()]);
});
beforeEach(() => network.restore());

/** A context with an empty cache. */
function context() {
  caches += 1;
  return testContext(sandbox.folder, {
    environment: { ...far.environment, DRAY_CACHE: sandbox.path(`cache-${caches}`) },
  });
}
let caches = 0;

interface Way {
  readonly to: string;
  /** @param name The folder at the destination. */
  readonly parameters: (name: string) => readonly string[];
  /** Describes the destination's tree. */
  readonly arrived: (name: string) => Promise<readonly string[]>;
}

const s3 = (name: string) => `s3://${far.bucket}/${name}/`;
const at = (server: S3Server, name: string) => ({
  place: s3(name),
  connection: { endpoint: server.endpoint },
});

/** Reads the tree back without the bad link. */
async function readBack(server: S3Server, name: string): Promise<readonly string[]> {
  const folder = sandbox.path(`back-${name}`);
  try {
    await copyTree(context(), { source: at(server, name), destination: { place: folder } }).catch((error) => {
      expect(error, 'nothing is there').toMatchObject({ code: 'notFound' });
    });
    return readdirSync(sandbox.folder).includes(`back-${name}`) ? describeTree(folder) : [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WAYS: readonly Way[] = [
  {
    to: 'up',
    parameters: (name) => [tree.root, s3(name), '--endpoint', network.endpoint],
    arrived: (name) => readBack(far, name),
  },
  {
    to: 'down',
    parameters: (name) => [s3('source'), sandbox.path(name), '--endpoint', network.endpoint],
    arrived: async (name) =>
      describeTree(sandbox.path(name)).filter((line) => !line.startsWith('.dray-tmp/')),
  },
  {
    to: 'across, towards the bad link',
    parameters: (name) => [
      ...[s3('source'), '--source-endpoint', near.endpoint],
      ...[s3(name), '--dest-endpoint', network.endpoint],
    ],
    arrived: (name) => readBack(far, name),
  },
  {
    to: 'across, away from the bad link',
    parameters: (name) => [
      ...[s3('source'), '--source-endpoint', network.endpoint],
      ...[s3(name), '--dest-endpoint', near.endpoint],
    ],
    arrived: (name) => readBack(near, name),
  },
];

function copy(
  way: Way,
  name: string,
  onStarted: (child: ChildProcess) => void = () => {},
): Promise<CliResult> {
  return runCli(['copy', ...way.parameters(name), '--json'], {
    cwd: sandbox.folder,
    environment: { ...SHORT_PAUSES, ...far.environment, DRAY_CACHE: sandbox.path(`cache-${name}`) },
    onStarted,
  });
}

const lastRecord = ({ stdout }: CliResult) => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');

async function expectDone(way: Way, name: string, result: CliResult): Promise<void> {
  expect(result, result.stderr + result.stdout.slice(-1000)).toMatchObject({ exitCode: 0 });
  expect(await way.arrived(name)).toEqual(lines);
}

async function expectWholeOnly(way: Way, name: string): Promise<void> {
  const whole = new Set(lines);
  expect((await way.arrived(name)).filter((line) => !whole.has(line))).toEqual([]);
}

const TRIED = runBudget({ short: WAYS.slice(0, 2), long: WAYS });

describe.each(TRIED)('A copy $to', (way) => {
  // In `npm test`, each fault strikes one direction.
  const [oneWay, otherWay] = way === WAYS[0] ? [it, longIt] : [longIt, it];
  const nameOf = (what: string) => `${what}-${WAYS.indexOf(way)}`;

  oneWay('completes over a link that cuts every connection', async () => {
    const name = nameOf('cut');
    await network.cutAfter(CUT_AFTER_BYTES);
    await network.cutRequestsAfter(CUT_AFTER_BYTES);
    await expectDone(way, name, await copy(way, name));
  });

  otherWay('completes over a link that stalls, then crawls, then recovers', async () => {
    const name = nameOf('stalled');
    gate.hold(() => true, REQUESTS_BEFORE_STALL);
    let child: ChildProcess | undefined;
    const ended = copy(way, name, (started) => {
      child = started;
    });
    const isRunning = () => child?.exitCode === null;
    while (isRunning() && gate.held() === 0) await pause(5);
    await network.hang();
    gate.release();
    expect(isRunning(), 'the stall met it').toBe(true);
    // Closes the connections that hung, as a restarted router does.
    await network.restore();
    await network.setBandwidth(8 * 1024);
    await pause(1_000);
    await network.restore();
    await expectDone(way, name, await ended);
  });
});

describe('A link too bad for any large file', () => {
  it.each(TRIED.slice(0, runBudget({ short: 1, long: WAYS.length })))(
    'makes a copy $to fail with the cause and whole files only, and the next one resumes',
    async (way) => {
      const name = `never-${WAYS.indexOf(way)}`;
      await network.cutAfter(CUT_TOO_SOON_BYTES);
      await network.cutRequestsAfter(CUT_TOO_SOON_BYTES);
      const result = await copy(way, name);
      expect([1, 4]).toContain(result.exitCode);
      const causes = result.stdout.split('\n').filter((line) => line.includes('unreachable'));
      expect(causes.length, result.stdout.slice(-1000)).toBeGreaterThan(0);
      expect(
        causes.some((line) => line.includes(network.endpoint)),
        causes[0],
      ).toBe(true);
      expect(lastRecord(result)).toMatchObject({ exitCode: result.exitCode });
      await network.restore();
      await expectWholeOnly(way, name);
      await expectDone(way, name, await copy(way, name));
    },
  );
});
