/**
 * Jobs that are killed, stopped or cut off half-way and then run again. Each is the real command in its own
 * process on a link that holds answers, watched through the server's access log. The second run does not send
 * or fetch again what the first had finished.
 */
import type { ChildProcess } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CliOptions, CliResult } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import type { InitRequest } from '../../engine/api/jobs/jobs.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { log } from '../../engine/jobs/history/log.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type Counted, type RequestGate, startRequestGate } from '../servers/request-gate.ts';
import { type BadNetwork, startToxiproxy } from '../servers/toxiproxy.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
/** Requests in flight. When a process is killed, this many may have arrived without being recorded. */
const TRANSFERS = 4;
/** Files that a download may hold between the network and the disk when it is interrupted. */
const UNWRITTEN = 64;
const WAIT = { timeout: 120_000, interval: 50 };
const FILES = runBudget({ short: 300, long: 600 });
const FILE_BYTES = 3_000;
const HALF_WAY = runBudget({ short: 120, long: 250 });
/** Well below the time that retries bridge. */
const OUTAGE_MS = 2_000;

let server: S3Server;
let network: BadNetwork;
let gate: RequestGate;
beforeAll(async () => {
  server = await startVersitygw();
  gate = await startRequestGate(server.endpoint);
  network = await startToxiproxy({ upstream: gate.endpoint });
});
afterAll(async () => {
  await network?.stop();
  await gate?.[Symbol.asyncDispose]();
  await server?.stop();
});
beforeEach(() => network.restore());
afterEach(() => gate.release());

/** Bytes that neither repeat nor compress, and are the same in each run. */
function noise(sizeBytes: number, seed: number): Uint8Array {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(seed);
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), iv).update(Buffer.alloc(sizeBytes));
}

function writeNoise(dataset: S3Dataset, files: number, sizeBytes: number): void {
  for (let at = 0; at < files; at += 1) {
    dataset.sandbox.write(`work/part-${at % 7}/file-${at}`, noise(sizeBytes, at));
  }
}

/** The requests that carry data: objects, packs and parts of uploads, each with a unique name. */
function piecesOf(requests: readonly LoggedRequest[], operations: RegExp): string[] {
  return requests
    .filter(({ operation, path }) => operations.test(operation) && /\/(objects|packs)\//.test(path))
    .map(({ path, query }) => `${path}?${new URLSearchParams(query).get('partNumber') ?? ''}`);
}
const SENT = /^(PutObject|UploadPart)$/;
const FETCHED = /^GetObject$/;

interface Interruption {
  readonly operations: RegExp;
  /** The number of pieces that the server must have answered before the interruption. */
  readonly afterPieces: number;
  readonly interrupt: (child: ChildProcess) => void | Promise<void>;
  /** The requests whose answers wait, if not those of later pieces. */
  readonly held?: Counted;
}

/**
 * Runs the command over the bad network and interrupts it. Later pieces reach the server, but the command
 * does not learn of them. Clears the server's log first.
 */
async function runInterrupted(
  run: (options: CliOptions) => Promise<CliResult>,
  { operations, afterPieces, held, interrupt }: Interruption,
): Promise<CliResult & { readonly pieces: readonly string[] }> {
  await server.resetRequests();
  const isSent = operations !== FETCHED;
  const isPiece: Counted = ({ method, url }) =>
    method === (isSent ? 'PUT' : 'GET') && /\/(objects|packs)\//.test(url.pathname);
  if (held) gate.holdAnswers(held);
  else gate.holdAnswers(isPiece, afterPieces);
  let child: ChildProcess | undefined;
  const ended = run({
    environment: { AWS_ENDPOINT_URL: network.endpoint },
    onStarted: (started) => {
      child = started;
    },
  });
  const isRunning = () => child?.exitCode === null && child.signalCode === null;
  while (isRunning() && piecesOf(await server.requests(), operations).length < afterPieces) await pause(30);
  expect(isRunning(), 'the command ended before it was interrupted').toBe(true);
  await interrupt(child!);
  gate.release();
  const result = await ended;
  await logAtRest();
  return { ...result, pieces: piecesOf(await server.requests(), operations) };
}

/** A server keeps working for a moment on the requests of a killed client. */
async function logAtRest(): Promise<void> {
  for (let seen = -1; ; ) {
    const now = (await server.requests()).length;
    if (now === seen) return;
    seen = now;
    await pause(300);
  }
}

/** Runs the command to its end. @returns The pieces that it sent or fetched. */
async function runToEnd(operations: RegExp, run: () => Promise<CliResult>): Promise<readonly string[]> {
  await server.resetRequests();
  const result = await run();
  expect(result, result.stderr + result.stdout.slice(-1000)).toMatchObject({ exitCode: 0 });
  return piecesOf(await server.requests(), operations);
}

/** The last record of `--json`. */
function lastRecord({ stdout }: CliResult): unknown {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

/** Expects every file of the copy to equal its original, with its time. */
function expectWholeFilesOnly(dataset: S3Dataset): void {
  const whole = new Set(describeTree(dataset.sandbox.path('work')));
  expect(describeTree(dataset.sandbox.path('copy')).filter((line) => !whole.has(line))).toEqual([]);
}

function expectSameTrees(dataset: S3Dataset): void {
  expect(describeTree(dataset.sandbox.path('copy'))).toEqual(describeTree(dataset.sandbox.path('work')));
  const temporary = dataset.sandbox.path('copy/.dray/tmp');
  expect(existsSync(temporary) ? readdirSync(temporary) : [], 'nothing temporary is left behind').toEqual([]);
}

const kill = (child: ChildProcess) => void child.kill('SIGKILL');
const EXIT_STOPPED = 130;

interface Shape {
  readonly what: string;
  readonly layout: NonNullable<InitRequest['layout']>;
  readonly files: number;
  readonly sizeBytes: number;
  /** The number of requests that carry data in an uninterrupted run. */
  readonly pieces: number;
  readonly transfers: number;
  /** Pieces on the server at the kill. */
  readonly afterPieces: number;
}

const SHAPES: readonly Shape[] = [
  {
    what: 'an object for each of many files',
    layout: { kind: 'objects' },
    files: FILES,
    sizeBytes: FILE_BYTES,
    pieces: FILES,
    transfers: TRANSFERS,
    afterPieces: HALF_WAY,
  },
  {
    what: 'packs of small files',
    layout: { kind: 'packs' },
    files: 170,
    sizeBytes: MIB - 1,
    pieces: 6,
    transfers: 1,
    afterPieces: 2,
  },
  {
    what: 'the chunks of a large file',
    layout: { kind: 'packs' },
    files: 1,
    sizeBytes: 80 * MIB,
    pieces: 19,
    transfers: TRANSFERS,
    afterPieces: 6,
  },
  {
    what: 'the parts of a large object',
    layout: { kind: 'objects' },
    files: 1,
    sizeBytes: 80 * MIB,
    pieces: 10,
    transfers: 2,
    afterPieces: 4,
  },
];

/** In every run, the interruptions below resume many objects, and copy-kills.test.ts resumes parts. */
const TRIED = runBudget({ short: SHAPES.filter(({ what }) => /chunks/.test(what)), long: SHAPES });

describe('A push that is killed half-way', () => {
  it.each(TRIED)('resumes from its finished pieces: $what', async (shape) => {
    using dataset = createS3Dataset(server, `push-${SHAPES.indexOf(shape)}`);
    await dataset.init('work', { layout: shape.layout });
    writeNoise(dataset, shape.files, shape.sizeBytes);
    const command = ['push', '--transfers', String(shape.transfers)];
    const killed = await runInterrupted((options) => dataset.cli('work', command, options), {
      operations: SENT,
      afterPieces: shape.afterPieces,
      interrupt: kill,
    });
    expect(killed.exitCode).toBeNull();
    await expect(dataset.clone('early'), 'nothing is there before all of it is').rejects.toMatchObject({
      code: 'notFound',
    });

    const sent = await runToEnd(SENT, () => dataset.cli('work', command));
    const all = killed.pieces.length + sent.length;
    expect(all).toBeGreaterThanOrEqual(shape.pieces);
    expect(all, 'only what was in flight is sent again').toBeLessThanOrEqual(shape.pieces + shape.transfers);
    await dataset.clone('copy');
    expectSameTrees(dataset);
  });
});

describe('A push that is killed after its commit arrived', () => {
  /** The answer is held, so the server has moved the ref and the process does not know it. */
  async function startLanded(name: string): Promise<S3Dataset> {
    const dataset = createS3Dataset(server, name);
    await dataset.init('work');
    dataset.sandbox.write('work/a', 'one');
    await push(dataset.context('work'), {});
    await dataset.clone('copy');
    dataset.sandbox.write('work/a', 'two!');
    dataset.sandbox.write('work/b', 'new');
    const hasLanded = async () =>
      (await server.requests()).some(
        ({ operation, path }) => operation === 'PutObject' && path.endsWith('/refs/heads/main'),
      );
    const killed = await runInterrupted((options) => dataset.cli('work', ['push'], options), {
      operations: SENT,
      afterPieces: 1,
      held: ({ method, url }) => method === 'PUT' && url.pathname.endsWith('/refs/heads/main'),
      interrupt: async (child) => {
        while (child.exitCode === null && !(await hasLanded())) await pause(10);
        kill(child);
      },
    });
    expect(killed.exitCode).toBeNull();
    return dataset;
  }

  async function expectCommits(dataset: S3Dataset, commits: number): Promise<void> {
    await pull(dataset.context('work'), {});
    await pull(dataset.context('copy'), {});
    expectSameTrees(dataset);
    expect(await log(dataset.context('copy'), {})).toMatchObject({ commits });
  }

  it('is found by the next push, which sends nothing and makes no second commit', async () => {
    using dataset = await startLanded('landed');
    expect(await push(dataset.context('work'), {})).toMatchObject({
      result: 'nothingToPush',
      requests: { writes: 0, total: 1 },
    });
    await expectCommits(dataset, 2);
  });

  longIt('does not conflict with later edits', async () => {
    using dataset = await startLanded('landed-and-edited');
    dataset.sandbox.write('work/a', 'three');
    expect(await push(dataset.context('work'), {})).toMatchObject({ result: 'pushed' });
    await expectCommits(dataset, 3);
  });

  longIt('does not conflict with later edits after another machine pushed on top of it', async () => {
    using dataset = await startLanded('landed-and-followed');
    await pull(dataset.context('copy'), {});
    dataset.sandbox.write('copy/c', 'from the other');
    await push(dataset.context('copy'), {});
    dataset.sandbox.write('work/a', 'three');
    expect(await pull(dataset.context('work'), {})).toMatchObject({
      result: 'pulled',
      changes: { added: 1 },
    });
    expect(await push(dataset.context('work'), {})).toMatchObject({ result: 'pushed' });
    await expectCommits(dataset, 4);
  });
});

/**
 * Makes a workspace with one file and a copy that has pulled it (for a clone: no copy yet), then adds many
 * files.
 */
async function startDownload(command: 'clone' | 'pull', name: string): Promise<Download> {
  const dataset = createS3Dataset(server, name);
  await dataset.init('work', { layout: { kind: 'objects' } });
  dataset.sandbox.write('work/first', 'one');
  await push(dataset.context('work'), {});
  if (command === 'pull') await dataset.clone('copy');
  writeNoise(dataset, FILES, FILE_BYTES);
  await push(dataset.context('work'), {});
  const flags = ['--json', '--transfers', String(TRANSFERS)];
  return {
    dataset,
    pieces: command === 'clone' ? FILES + 1 : FILES,
    run: (options) =>
      command === 'clone'
        ? dataset.cli('.', ['clone', dataset.url, 'copy', ...flags], options)
        : dataset.cli('copy', ['pull', ...flags], options),
  };
}

interface Download {
  readonly dataset: S3Dataset;
  readonly pieces: number;
  readonly run: (options?: CliOptions) => Promise<CliResult>;
}

/** Waits until most of the files that have arrived are written: a busy machine may write late. */
async function untilWritten({ dataset }: Download): Promise<void> {
  const folder = dataset.sandbox.path('copy');
  const written = () =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true }).filter((path) => /file-/.test(`${path}`))
      : [];
  await expect.poll(() => written().length, WAIT).toBeGreaterThanOrEqual(HALF_WAY - UNWRITTEN);
}

/** Runs the download again and compares it with what the interrupted one fetched. */
async function finishDownload({ dataset, pieces, run }: Download, fetched: readonly string[]): Promise<void> {
  expectWholeFilesOnly(dataset);
  const again = await runToEnd(FETCHED, () => run());
  const all = fetched.length + again.length;
  expect(all).toBeGreaterThanOrEqual(pieces);
  const most = pieces + TRANSFERS + UNWRITTEN;
  expect(all, 'only what was in flight or not yet written is fetched again').toBeLessThanOrEqual(most);
  expectSameTrees(dataset);
}

describe('A download that is killed half-way', () => {
  it.each(runBudget<readonly ('clone' | 'pull')[]>({ short: ['pull'], long: ['clone', 'pull'] }))(
    'resumes from its finished files: %s',
    async (command) => {
      const download = await startDownload(command, `killed-${command}`);
      using _ = download.dataset;
      const killed = await runInterrupted(download.run, {
        operations: FETCHED,
        afterPieces: HALF_WAY,
        interrupt: async (child) => {
          await untilWritten(download);
          kill(child);
        },
      });
      expect(killed.exitCode).toBeNull();
      await finishDownload(download, killed.pieces);
    },
  );
});

/** Makes a workspace with many files and an empty repository. */
async function startUpload(name: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  await dataset.init('work', { layout: { kind: 'objects' } });
  writeNoise(dataset, FILES, FILE_BYTES);
  return dataset;
}

const PUSH = ['push', '--json', '--transfers', String(TRANSFERS)];

/** Pushes again and compares that with what the interrupted push sent. */
async function finishUpload(dataset: S3Dataset, sentBefore: readonly string[]): Promise<void> {
  const sent = await runToEnd(SENT, () => dataset.cli('work', PUSH));
  const all = sentBefore.length + sent.length;
  expect(all).toBeGreaterThanOrEqual(FILES);
  expect(all, 'only what was in flight is sent again').toBeLessThanOrEqual(FILES + TRANSFERS);
  await dataset.clone('copy');
  expectSameTrees(dataset);
}

describe('Ctrl-C', () => {
  it.each(runBudget<readonly ('works' | 'hangs')[]>({ short: ['hangs'], long: ['works', 'hangs'] }))(
    'ends a push over a link that %s with exit code 130, and the next push resumes',
    async (link) => {
      using dataset = await startUpload(`stopped-on-link-that-${link}`);
      const stopped = await runInterrupted((options) => dataset.cli('work', PUSH, options), {
        operations: SENT,
        afterPieces: HALF_WAY,
        interrupt: async (child) => {
          if (link === 'hangs') await network.hang();
          child.kill('SIGINT');
        },
      });
      expect(stopped).toMatchObject({ exitCode: EXIT_STOPPED });
      expect(stopped.stderr).toContain('Run the same command again to continue');
      await finishUpload(dataset, stopped.pieces);
    },
  );

  longIt('ends a clone with exit code 130, and the next clone resumes', async () => {
    const download = await startDownload('clone', 'stopped-clone');
    using _ = download.dataset;
    const stopped = await runInterrupted(download.run, {
      operations: FETCHED,
      afterPieces: HALF_WAY,
      interrupt: async (child) => {
        await untilWritten(download);
        child.kill('SIGINT');
      },
    });
    expect(stopped).toMatchObject({ exitCode: EXIT_STOPPED });
    await finishDownload(download, stopped.pieces);
  });
});

const withShortPauses = (options: CliOptions): CliOptions => ({
  ...options,
  environment: { ...options.environment, ...SHORT_PAUSES },
});

describe('A link that breaks half-way', () => {
  it('for good makes a push fail as unreachable, and the next push resumes', async () => {
    using dataset = await startUpload('cut-push');
    const cut = await runInterrupted((options) => dataset.cli('work', PUSH, withShortPauses(options)), {
      operations: SENT,
      afterPieces: HALF_WAY,
      interrupt: network.cut,
    });
    expect(cut, cut.stderr).toMatchObject({ exitCode: 1 });
    expect(lastRecord(cut)).toMatchObject({ type: 'error', code: 'unreachable' });
    await finishUpload(dataset, cut.pieces);
  });

  longIt('for good makes a clone fail with whole files only, and the next clone resumes', async () => {
    const download = await startDownload('clone', 'cut-clone');
    using _ = download.dataset;
    const cut = await runInterrupted((options) => download.run(withShortPauses(options)), {
      operations: FETCHED,
      afterPieces: HALF_WAY,
      interrupt: async () => {
        await untilWritten(download);
        await network.cut();
      },
    });
    expect(cut, cut.stderr).toMatchObject({ exitCode: 1 });
    expect(lastRecord(cut)).toMatchObject({ type: 'error', code: 'unreachable' });
    await finishDownload(download, cut.pieces);
  });

  it.each(runBudget<readonly ('push' | 'clone')[]>({ short: [], long: ['push', 'clone'] }))(
    'for two seconds only delays a %s with many requests in flight',
    async (command) => {
      using dataset = await startUpload(`outage-${command}`);
      writeNoise(dataset, 3 * FILES, FILE_BYTES);
      if (command === 'clone') await push(dataset.context('work'), {});
      const run = (options: CliOptions) =>
        command === 'push'
          ? dataset.cli('work', ['push'], options)
          : dataset.cli('.', ['clone', dataset.url, 'copy'], options);
      const result = await runInterrupted(run, {
        operations: command === 'push' ? SENT : FETCHED,
        afterPieces: HALF_WAY,
        interrupt: async () => {
          await network.cut();
          await pause(OUTAGE_MS);
          await network.restore();
        },
      });
      expect(result, result.stderr).toMatchObject({ exitCode: 0 });
      if (command === 'push') await dataset.clone('copy');
      expectSameTrees(dataset);
    },
  );
});
