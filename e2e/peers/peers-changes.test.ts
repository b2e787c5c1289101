/** The options of copy and sync when one side is a folder of another machine. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyStream } from '../../engine/jobs/trees/copy-stream.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise, plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';

const MIB = 1024 * 1024;
let sandbox: Sandbox;
let server: PeerServer;
let place: string;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  server = await serveForTest(sandbox.path('offered'));
  place = plainPlace(server.address.port);
});
afterEach(async () => {
  await server?.close();
  sandbox?.[Symbol.dispose]();
});

const OLD = 1_500_000_000;
const run = async (...parameters: readonly string[]) => {
  const result = await runCli(parameters, {
    cwd: sandbox.folder,
    environment: { DRAY_TOKEN: TEST_TOKEN, XDG_CACHE_HOME: sandbox.path('cache') },
  });
  return result;
};
/** The last record of `--json`. */
const summaryOf = async (...parameters: readonly string[]) => {
  const { exitCode, stderr, stdout } = await run(...parameters, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
};
const age = (path: string, seconds = OLD) => utimesSync(sandbox.path(path), seconds, seconds);
const plant = (path: string, content: string | Buffer, seconds = OLD) => {
  sandbox.write(path, content);
  age(path, seconds);
};
const text = (path: string) => readFileSync(sandbox.path(path), 'utf8');
const modeOf = (path: string) => statSync(sandbox.path(path)).mode & 0o7777;

describe('A file that differs only in its time or mode', () => {
  const SIZES = { small: 10, middle: 2 * MIB, large: 20 * MIB };
  beforeEach(() => {
    for (const [name, size] of Object.entries(SIZES)) plant(`source/${name}`, noise(size, 1));
  });

  it('gets the new time without being sent again, to a peer and from it', async () => {
    await run('copy', 'source', place);
    for (const name of Object.keys(SIZES)) age(`source/${name}`, OLD + 100);
    expect(await summaryOf('copy', 'source', place)).toMatchObject({
      touchedFiles: 3,
      copiedFiles: 0,
      sentBytes: 0,
    });
    for (const name of Object.keys(SIZES))
      expect(statSync(sandbox.path(`offered/${name}`)).mtimeMs).toBe((OLD + 100) * 1000);
    expect(await summaryOf('copy', 'source', place)).toMatchObject({ result: 'upToDate' });
    await run('copy', place, 'back');
    for (const name of Object.keys(SIZES)) age(`offered/${name}`, OLD + 200);
    expect(await summaryOf('copy', place, 'back')).toMatchObject({ touchedFiles: 3, copiedFiles: 0 });
    for (const name of Object.keys(SIZES))
      expect(statSync(sandbox.path(`back/${name}`)).mtimeMs).toBe((OLD + 200) * 1000);
  });

  longIt('gets the new mode in both directions, as the dry run says', async () => {
    await run('copy', 'source', place);
    for (const name of Object.keys(SIZES)) chmodSync(sandbox.path(`source/${name}`), 0o750);
    expect(await summaryOf('copy', 'source', place, '--dry-run')).toMatchObject({
      touchedFiles: 3,
      copiedFiles: 0,
    });
    expect(modeOf('offered/small')).not.toBe(0o750);
    expect(await summaryOf('copy', 'source', place)).toMatchObject({
      touchedFiles: 3,
      copiedFiles: 0,
      sentBytes: 0,
    });
    for (const name of Object.keys(SIZES)) expect(modeOf(`offered/${name}`)).toBe(0o750);
    expect(await summaryOf('copy', 'source', place)).toMatchObject({ result: 'upToDate', touchedFiles: 0 });
    await run('copy', place, 'back');
    chmodSync(sandbox.path('offered/large'), 0o604);
    age('offered/small', OLD + 7);
    chmodSync(sandbox.path('offered/small'), 0o600);
    expect(await summaryOf('sync', place, 'back')).toMatchObject({ touchedFiles: 2, copiedFiles: 0 });
    expect([modeOf('back/large'), modeOf('back/small')]).toEqual([0o604, 0o600]);
    expect(await summaryOf('sync', place, 'back')).toMatchObject({ touchedFiles: 0 });
  });

  longIt('keeps its mode with --immutable', async () => {
    await run('copy', 'source', place);
    chmodSync(sandbox.path('source/small'), 0o750);
    expect(await summaryOf('copy', 'source', place, '--immutable')).toMatchObject({
      touchedFiles: 0,
      failed: 0,
    });
    expect(modeOf('offered/small')).not.toBe(0o750);
  });
});

describe('Among the options of a copy', () => {
  it('--backup-dir keeps files that are replaced or deleted', async () => {
    plant('source/changed', 'new, and longer');
    plant('offered/tree/changed', 'old');
    plant('offered/tree/gone', 'gone');
    await summaryOf(
      'sync',
      'source',
      plainPlace(server.address.port, 'tree'),
      '--backup-dir',
      plainPlace(server.address.port, 'kept'),
    );
    expect([text('offered/tree/changed'), text('offered/kept/changed'), text('offered/kept/gone')]).toEqual([
      'new, and longer',
      'old',
      'gone',
    ]);
    expect(existsSync(sandbox.path('offered/tree/gone'))).toBe(false);
  });

  it('--immutable refuses, --update skips newer files, --checksum ignores times', async () => {
    plant('source/one', 'new content');
    plant('offered/one', 'old', OLD + 100);
    const refused = await run('copy', 'source', place, '--immutable');
    expect([refused.exitCode, text('offered/one')]).toEqual([4, 'old']);
    expect(await summaryOf('copy', 'source', place, '--update')).toMatchObject({
      skippedFiles: 1,
      copiedFiles: 0,
    });
    plant('offered/one', 'NEW CONTENT');
    expect(await summaryOf('copy', 'source', place)).toMatchObject({ copiedFiles: 0 });
    expect(await summaryOf('copy', 'source', place, '--checksum')).toMatchObject({ copiedFiles: 1 });
    expect(text('offered/one')).toBe('new content');
  });

  longIt('--immutable applies to links as well', async () => {
    mkdirSync(sandbox.path('source'), { recursive: true });
    symlinkSync('new', sandbox.path('source/link'));
    symlinkSync('old', sandbox.path('offered/link'));
    expect((await run('copy', 'source', place, '--immutable')).exitCode).toBe(4);
    expect(readlinkSync(sandbox.path('offered/link'))).toBe('old');
  });

  it('filters exclude files, links and empty folders', async () => {
    plant('source/keep/a.txt', 'a');
    plant('source/skip/b.txt', 'b');
    plant('source/keep/c.log', 'c');
    mkdirSync(sandbox.path('source/skip/empty'));
    mkdirSync(sandbox.path('source/keep/empty'));
    symlinkSync('a.txt', sandbox.path('source/skip/link'));
    await summaryOf('copy', 'source', place, '--exclude', 'skip/**', '--exclude', '*.log');
    expect(readdirSync(sandbox.path('offered')).filter((name) => name !== '.dray-tmp')).toEqual(['keep']);
    expect(readdirSync(sandbox.path('offered/keep')).sort()).toEqual(['a.txt', 'empty']);
    plant('offered/skip/extra', 'stays');
    await summaryOf('sync', 'source', place, '--exclude', 'skip/**', '--exclude', '*.log');
    expect(text('offered/skip/extra')).toBe('stays');
  });

  longIt('--links stores links as objects, as with any store', async () => {
    plant('source/a.txt', 'a');
    symlinkSync('a.txt', sandbox.path('source/link'));
    await summaryOf('copy', 'source', place, '--links');
    expect(text('offered/link.rclonelink')).toBe('a.txt');
    const { exitCode, stdout } = await run('check', 'source', place, '--links', '-v');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('link.rclonelink')]);
    await summaryOf('copy', place, 'back', '--links');
    expect(text('back/link')).toBe('a');
  });

  longIt('check --download reads all content and reports differences', async () => {
    plant('source/a', 'same');
    plant('source/b', 'one thing');
    plant('offered/a', 'same');
    plant('offered/b', 'two thing');
    const { exitCode, stdout } = await run('check', 'source', place, '--download');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('b');
    plant('offered/b', 'one thing');
    expect(await run('check', 'source', place, '--download')).toMatchObject({ exitCode: 0 });
  });

  it('--dry-run forecasts requests in batches, at no cost', async () => {
    for (let index = 0; index < 1_000; index += 1) plant(`source/${index}`, String(index));
    const forecast = await summaryOf('copy', 'source', place, '--dry-run');
    const done = await summaryOf('copy', 'source', place);
    expect(forecast.forecast).toMatchObject({ dollars: 0, writes: 4, total: 4 });
    expect(forecast.copiedFiles).toBe(1_000);
    // On a busy machine a batch is sent before it is full, because nothing was added for two milliseconds.
    expect(done.requests.total).toBeGreaterThanOrEqual(4);
    expect(done.requests.total).toBeLessThan(100);
  });
});

describe('A sync where files became folders or links', () => {
  it('deletes the obstacles first, to a peer and from it', async () => {
    const sizes = { small: 10, middle: 2 * MIB, large: 20 * MIB };
    for (const [name, size] of Object.entries(sizes)) {
      plant(`source/${name} file`, noise(size, 1));
      plant(`source/${name} folder/deep/file`, noise(size, 2));
      plant(`source/${name} once a link/file`, noise(size, 3));
    }
    symlinkSync('anywhere', sandbox.path('source/link'));
    mkdirSync(sandbox.path('source/empty'));
    for (const there of ['offered/tree', 'back']) {
      for (const name of Object.keys(sizes)) {
        plant(`${there}/${name} file/deep/file`, 'in the way');
        plant(`${there}/${name} folder`, 'in the way');
        symlinkSync('deep', sandbox.path(`${there}/${name} once a link`));
      }
      plant(`${there}/link/file`, 'in the way');
      plant(`${there}/empty`, 'in the way');
      plant(`${there}/gone`, 'gone');
    }
    const all = { copiedFiles: 11, deletedFiles: 12, failed: 0 };
    expect(await summaryOf('sync', 'source', plainPlace(server.address.port, 'tree'))).toMatchObject(all);
    expect(await summaryOf('sync', plainPlace(server.address.port, 'tree'), 'back')).toMatchObject(all);
    for (const name of ['offered/tree', 'back'])
      expect(describeTree(sandbox.path(name))).toEqual(describeTree(sandbox.path('source')));
  });
});

describe('A small file that grew after it was listed', () => {
  it('arrives with its new content, and so do the files beside it', async () => {
    for (const name of ['before', 'log', 'with it']) plant(`offered/${name}`, noise(100_000, 1));
    const grown = noise(2 * MIB, 2);
    const context = testContext(sandbox.folder, {
      environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CACHE: sandbox.path('cache') },
      // By now the walk has listed the file, and no request for it was sent.
      drained: async () => {
        if (statSync(sandbox.path('offered/log')).size < grown.length) sandbox.write('offered/log', grown);
      },
    });
    const request = { source: { place }, destination: { place: 'to' } };
    expect(await copyTree(context, request)).toMatchObject({ copiedFiles: 3, failed: 0 });
    expect(readFileSync(sandbox.path('to/log')).equals(grown)).toBe(true);
    expect(readFileSync(sandbox.path('to/with it')).equals(noise(100_000, 1))).toBe(true);
  });
});

describe('A stream of unknown length', () => {
  it('is stored as a file of a peer at any size', async () => {
    for (const size of [0, 5, 8 * MIB + 1, runBudget({ short: 20, long: 50 }) * MIB + 12_345]) {
      const content = noise(size, 5);
      const { emit: _, ...context } = testContext(sandbox.folder, {
        environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CACHE: sandbox.path('cache') },
      });
      async function* input() {
        for (let at = 0; at < size; at += 700_001) yield content.subarray(at, at + 700_001);
      }
      const summary = await copyStream(
        { ...context, emit: () => {}, standardInput: input() },
        {
          source: { place: '-' },
          destination: { place: plainPlace(server.address.port, `streams/of-${size}`) },
        },
      );
      expect(summary).toMatchObject({ bytes: size });
      expect(readFileSync(sandbox.path(`offered/streams/of-${size}`)).equals(content)).toBe(true);
    }
  });
});
