/**
 * Interrupted copies between machines: the client or the server is killed, or the network cuts connections.
 * At any such moment the destination holds whole files only; the next run resumes, and in the end nothing is
 * missing or left over.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise, plainPlace } from '../../engine/peer/peer.fixture.ts';
import { keepToken } from '../../engine/remotes/peer/peer-tokens.ts';
import { type ByteCounter, startByteCounter } from '../servers/byte-counter.ts';
import { freePort } from '../servers/tools.ts';
import { startToxiproxy } from '../servers/toxiproxy.ts';

const MIB = 1024 * 1024;
const TOKEN = 'token-of-the-tests-that-is-long-enough';
const RANGE_BYTES = 8 * MIB;
/** All other files, with the requests. */
const SMALL_BYTES_MAX = MIB;
const MIDDLE_BYTES = 6 * MIB;
/** A file below 64 MiB is fetched from its beginning again. */
const RANGES = runBudget({ short: 9, long: 15 });
/** The ranges of the large file that have arrived when a process is killed. */
const KEPT_RANGES = runBudget({ short: 3, long: 6 });
/** Few, so that the rest of the large file is still missing at the kill. */
const TRANSFERS = 2;
/** All other files, and one range whose note a kill may cost. */
const MORE_BYTES_MAX = 2 * RANGE_BYTES;
const ROUNDS = runBudget({ short: 1, long: 3 });

let sandbox: Sandbox;
let port: number;
let server: ChildProcess;
/** All copies go through it. */
let link: ByteCounter;

async function startServer(): Promise<void> {
  server = spawn(
    process.execPath,
    [
      COMMAND,
      'serve',
      sandbox.path('offered'),
      '--listen',
      `127.0.0.1:${port}`,
      '--token-file',
      sandbox.path('token'),
      '--tls',
      'off',
      '--json',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => server.stdout!.once('data', resolve));
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  writeFileSync(sandbox.path('token'), TOKEN, { mode: 0o600 });
  port = await freePort();
  await startServer();
  link = await startByteCounter(port);
});
afterEach(async () => {
  await link?.stop();
  await kill(server);
  sandbox?.[Symbol.dispose]();
});

const place = (at = link.port, path = '') => plainPlace(at, path);
const run = (parameters: readonly string[], onStarted?: (child: ChildProcess) => void) =>
  runCli(parameters, {
    cwd: sandbox.folder,
    environment: {
      ...SHORT_PAUSES,
      DRAY_TOKEN: TOKEN,
      DRAY_CACHE: sandbox.path('cache'),
      DRAY_CONFIG: sandbox.path('settings/config.json'),
    },
    ...(onStarted ? { onStarted } : {}),
  });
const summaryOf = (stdout: string) => JSON.parse(stdout.trim().split('\n').at(-1)!);

/** Expects every file at the destination to be whole. */
function expectWhole(root: string): void {
  if (!existsSync(root)) return;
  const walk = (below: string) => {
    for (const { isDirectory, name } of readdirSync(join(root, below), { withFileTypes: true }).map(
      (entry) => ({
        name: entry.name,
        isDirectory: entry.isDirectory(),
      }),
    )) {
      if (name === '.dray-tmp') continue;
      const path = join(below, name);
      if (isDirectory) walk(path);
      else
        expect(
          readFileSync(join(root, path)).equals(readFileSync(sandbox.path(`source/${path}`))),
          path,
        ).toBe(true);
    }
  };
  walk('');
}

/** The number of ranges that the notes of the unfinished large file list. */
function notedRanges(root: string): number {
  const folder = join(root, '.dray-tmp');
  if (!existsSync(folder)) return 0;
  const notes = readdirSync(folder).filter((name) => name.endsWith('.notes'));
  return notes.reduce((total, name) => {
    try {
      return total + readFileSync(join(folder, name), 'utf8').split('\n').length - 2;
    } catch {
      return total;
    }
  }, 0);
}

async function untilNoted(root: string, ranges: number, isOver: () => boolean): Promise<void> {
  while (notedRanges(root) < ranges && !isOver()) await pause(1);
}

/** Runs a command until this many ranges of the large file have arrived, then calls `strike`. */
async function struck(
  parameters: readonly string[],
  {
    ranges,
    root,
    strike,
  }: {
    readonly root: string;
    readonly ranges: number;
    readonly strike: (child: ChildProcess) => Promise<void>;
  },
) {
  let isOver = false;
  let client: ChildProcess | undefined;
  // By then all ranges that have begun have arrived, except for those in flight.
  link.holdAfter((ranges + TRANSFERS) * RANGE_BYTES + MIDDLE_BYTES + SMALL_BYTES_MAX);
  const running = run([...parameters, '--transfers', `${TRANSFERS}`], (child) => {
    client = child;
  }).finally(() => {
    isOver = true;
  });
  await untilNoted(root, ranges, () => isOver);
  const wasCut = !isOver;
  await strike(client!);
  link.release();
  return { wasCut, result: running };
}

const DIRECTIONS = [
  { name: 'to a peer', parameters: () => ['copy', 'source', place()], root: () => sandbox.path('offered') },
  {
    name: 'from a peer',
    parameters: () => ['copy', place(), 'back'],
    root: () => sandbox.path('back'),
  },
] as const;

async function prepare(direction: (typeof DIRECTIONS)[number]): Promise<void> {
  for (let index = 0; index < 400; index += 1)
    sandbox.write(`source/d${index % 9}/${index}`, noise(1 + index * 7, 1));
  sandbox.write('source/d4/large', noise(RANGES * RANGE_BYTES, 2));
  sandbox.write('source/middle', noise(MIDDLE_BYTES, 3));
  if (direction.name === 'to a peer') return;
  expect(await run(['copy', 'source', place()])).toMatchObject({ exitCode: 0 });
}

async function expectEnd(direction: (typeof DIRECTIONS)[number]): Promise<void> {
  const end = await run([...direction.parameters(), '--json']);
  expect(end).toMatchObject({ exitCode: 0 });
  const { receivedBytes, sentBytes } = summaryOf(end.stdout);
  expect(sentBytes + receivedBytes).toBeLessThanOrEqual(
    (RANGES - KEPT_RANGES) * RANGE_BYTES + MORE_BYTES_MAX,
  );
  const left = existsSync(join(direction.root(), '.dray-tmp'))
    ? readdirSync(join(direction.root(), '.dray-tmp'))
    : [];
  expect(left.filter((name) => name.startsWith('unfinished'))).toEqual([]);
  rmSync(join(direction.root(), '.dray-tmp'), { recursive: true, force: true });
  expect(describeTree(direction.root())).toEqual(describeTree(sandbox.path('source')));
}

/** In `npm test`, each interruption strikes one direction: its server dies in the other one. */
const everyRun = (direction: (typeof DIRECTIONS)[number], name: (typeof DIRECTIONS)[number]['name']) =>
  direction.name === name ? it : longIt;

describe.each(DIRECTIONS)('A copy $name', (direction) => {
  everyRun(direction, 'to a peer')('resumes after its client was killed', async () => {
    await prepare(direction);
    const { result, wasCut } = await struck(direction.parameters(), {
      root: direction.root(),
      ranges: KEPT_RANGES,
      strike: kill,
    });
    await result;
    expect(wasCut).toBe(true);
    expectWhole(direction.root());
    await expectEnd(direction);
  });

  everyRun(direction, 'from a peer')(
    'resumes after its server was killed, at the latest in the next run',
    async () => {
      await prepare(direction);
      const { result, wasCut } = await struck(direction.parameters(), {
        root: direction.root(),
        ranges: KEPT_RANGES,
        strike: () => kill(server),
      });
      expect(wasCut).toBe(true);
      expectWhole(direction.root());
      await startServer();
      await result;
      expectWhole(direction.root());
      await expectEnd(direction);
    },
  );

  longIt('completes over a network that cuts every connection after some bytes', async () => {
    await prepare(direction);
    const network = await startToxiproxy({ upstream: `http://127.0.0.1:${port}` });
    onTestFinished(() => network.stop());
    await (direction.name === 'to a peer' ? network.cutRequestsAfter(20 * MIB) : network.cutAfter(20 * MIB));
    const through = direction
      .parameters()
      .map((parameter) =>
        parameter === place() ? place(Number(new URL(network.endpoint).port)) : parameter,
      );
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const { exitCode } = await run([...through, '--transfers', `${TRANSFERS}`]);
      expectWhole(direction.root());
      if (exitCode === 0) break;
    }
    await network.restore();
    await expectEnd(direction);
  });
});

describe('A repository at a peer', () => {
  it('keeps every file of two clients that push at once', async () => {
    const one = ['-C', sandbox.path('one')];
    const two = ['-C', sandbox.path('two')];
    sandbox.write('one/start', 'start');
    keepToken(sandbox.path('settings'), place(), TOKEN);
    await run([...one, 'init', '--remote', place(link.port, 'repository')]);
    expect(await run([...one, 'push', '-m', 'start'])).toMatchObject({ exitCode: 0 });
    expect(await run(['clone', place(link.port, 'repository'), 'two'])).toMatchObject({ exitCode: 0 });
    for (let round = 0; round < ROUNDS; round += 1) {
      sandbox.write(`one/of-one-${round}`, noise(200_000, 10 + round));
      sandbox.write(`two/of-two-${round}`, noise(200_000, 20 + round));
      const both = await Promise.all([
        run([...one, 'push', '-m', `one ${round}`]),
        run([...two, 'push', '-m', `two ${round}`]),
      ]);
      expect(both.filter(({ exitCode }) => exitCode === 0).length).toBeGreaterThanOrEqual(1);
      for (const who of [one, two, one, two]) {
        expect(await run([...who, 'pull'])).toMatchObject({ exitCode: 0 });
        await run([...who, 'push', '-m', `both ${round}`]);
      }
    }
    expect(await run(['clone', place(link.port, 'repository'), 'three'])).toMatchObject({ exitCode: 0 });
    const names = readdirSync(sandbox.path('three'))
      .filter((name) => name !== '.dray')
      .sort();
    expect(names).toEqual(
      Array.from({ length: ROUNDS }, (_, round) => [`of-one-${round}`, `of-two-${round}`])
        .flat()
        .concat('start')
        .sort(),
    );
    expect(await run(['-C', sandbox.path('three'), 'verify', '--read-data'])).toMatchObject({ exitCode: 0 });
  });
});
