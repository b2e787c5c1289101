/**
 * S3 remotes that refuse requests, do not exist or go away: the error, the exit code, and that no half-done
 * work stays behind.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CliResult } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise } from '../../engine/peer/peer.fixture.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { freePort } from '../servers/tools.ts';
import { type BadNetwork, startToxiproxy } from '../servers/toxiproxy.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
let dataset: S3Dataset;
let datasets = 0;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server.stop());
beforeEach(() => {
  datasets += 1;
  dataset = createS3Dataset(server, `bad-${datasets}`);
});
afterEach(() => dataset[Symbol.dispose]());

type Environment = Readonly<Record<string, string>>;

const dray = (workspace: string, parameters: readonly string[], environment: Environment = {}) =>
  dataset.cli(workspace, parameters, { environment });

/** The error record in which a command with `--json` ended. */
function errorOf({ stdout, exitCode }: CliResult) {
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(last).toMatchObject({ type: 'error', exitCode });
  return last as { exitCode: number; code: string; message: string; data: Record<string, unknown> };
}

async function startWork(): Promise<string> {
  const root = await dataset.init('work');
  dataset.sandbox.write('work/a', 'one');
  expect(await dray('work', ['push'])).toMatchObject({ exitCode: 0 });
  return root;
}

/** Names and contents of all objects that the server holds for the repository. */
const stored = () => describeTree(join(server.dataFolder, server.bucket, `bad-${datasets}`));

describe('A remote that refuses requests', () => {
  it.each([
    [
      'no credentials',
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      { code: 'noCredentials', message: expect.stringContaining('AWS_ACCESS_KEY_ID') },
    ],
    [
      'a wrong secret',
      { AWS_SECRET_ACCESS_KEY: 'not-the-secret' },
      { code: 'accessDenied', data: { remoteCode: 'SignatureDoesNotMatch' } },
    ],
    [
      'a clock that is four hours behind',
      { NODE_OPTIONS: `--import=${dateShiftedBy(-4 * 3600_000)}` },
      { code: 'clockSkew', message: expect.stringMatching(/behind/) },
    ],
  ])(
    'makes every command fail with the cause and change neither side: %s',
    async (_, environment, expected) => {
      const root = await startWork();
      dataset.sandbox.write('work/a', 'number two');
      mkdirSync(dataset.sandbox.path('fresh'));
      const before = { here: describeTree(root), there: stored() };
      for (const parameters of [
        ['push'],
        ['pull'],
        ['verify'],
        ['clone', dataset.url, '../copy'],
        ['init', '../fresh', '--remote', dataset.url],
      ]) {
        const { exitCode, ...error } = errorOf(await dray('work', [...parameters, '--json'], environment));
        expect(exitCode).toBe(1);
        expect(error).toMatchObject(expected);
      }
      expect({ here: describeTree(root), there: stored() }).toEqual(before);
      expect(existsSync(`${dataset.sandbox.folder}/copy`)).toBe(false);
      expect(readdirSync(`${dataset.sandbox.folder}/fresh`)).toEqual([]);
      expect(await dray('work', ['push'])).toMatchObject({ exitCode: 0 });
    },
  );

  it('is named when its bucket is missing, and nothing is created', async () => {
    mkdirSync(dataset.sandbox.path('fresh'));
    const url = 's3://no-such-bucket/data';
    for (const parameters of [
      ['clone', url, 'copy'],
      ['init', '--remote', url],
    ]) {
      const error = errorOf(await dray('fresh', [...parameters, '--json']));
      expect(error).toMatchObject({ exitCode: 1, code: 'bucketMissing', data: { bucket: 'no-such-bucket' } });
      expect(error.message).toContain('no-such-bucket');
    }
    expect(readdirSync(`${dataset.sandbox.folder}/fresh`)).toEqual([]);
  });

  it('is named when its prefix holds no repository', async () => {
    mkdirSync(dataset.sandbox.path('fresh'));
    const error = errorOf(await dray('fresh', ['clone', `${dataset.url}/elsewhere`, 'copy', '--json']));
    expect(error).toMatchObject({
      exitCode: 1,
      code: 'notARepository',
      message: expect.stringContaining('elsewhere'),
    });
    expect(readdirSync(`${dataset.sandbox.folder}/fresh`)).toEqual([]);
  });
});

/** A module for `--import` that shifts the wall clock of its process. */
function dateShiftedBy(shiftMs: number): string {
  const source = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { if (given.length > 0) super(...given); else super(Real.now() + ${shiftMs}); }
    static now() { return Real.now() + ${shiftMs}; }
  };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

describe('A remote that cannot be reached', () => {
  let network: BadNetwork;
  beforeAll(async () => {
    network = await startToxiproxy({ upstream: server.endpoint });
  });
  afterAll(() => network.stop());
  afterEach(() => network.restore());

  const SMALL = 20;
  const small = (at: number) => `small file number ${at}`;

  it('is named, and an interrupted clone from it resumes once it is back', async () => {
    const root = await dataset.init('work', { layout: { kind: 'objects' } });
    for (let at = 0; at < SMALL; at += 1) dataset.sandbox.write(`work/${at}`, small(at));
    dataset.sandbox.write('work/large', noise(3_000_000, 1));
    expect(await dray('work', ['push'])).toMatchObject({ exitCode: 0 });
    mkdirSync(dataset.sandbox.path('fresh'));
    // Every connection breaks in the middle of the large file.
    await network.cutAfter(1_000_000);
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const [never, halfWay] = await Promise.all([
      dray('fresh', ['clone', dataset.url, 'never', '--endpoint', nowhere, '--json'], SHORT_PAUSES),
      dray('fresh', ['clone', dataset.url, 'copy', '--endpoint', network.endpoint, '--json'], SHORT_PAUSES),
    ]);
    const neverError = errorOf(never);
    expect(neverError).toMatchObject({ exitCode: 1, code: 'unreachable' });
    expect(neverError.message).toContain(nowhere);
    expect(existsSync(`${dataset.sandbox.folder}/fresh/never`)).toBe(false);

    expect(errorOf(halfWay)).toMatchObject({ exitCode: 1, code: 'unreachable' });
    const copy = `${dataset.sandbox.folder}/fresh/copy`;
    const written = readdirSync(copy).filter((name) => name !== '.dray');
    expect(written).not.toContain('large');
    for (const name of written) expect(readFileSync(`${copy}/${name}`, 'utf8')).toBe(small(Number(name)));
    expect(readdirSync(`${copy}/.dray/tmp`)).toEqual([]);
    expect(existsSync(`${copy}/.dray/lock`)).toBe(false);
    await network.restore();
    expect(await dray('fresh', ['clone', dataset.url, 'copy', '--endpoint', network.endpoint])).toMatchObject(
      { exitCode: 0 },
    );
    expect(describeTree(copy)).toEqual(describeTree(root));
  });

  longIt(
    'leaves the branch unchanged when it goes away during a push, and the next push completes',
    async () => {
      await startWork();
      const branch = join(server.dataFolder, server.bucket, `bad-${datasets}`, 'refs/heads/main');
      const before = readFileSync(branch, 'utf8');
      dataset.sandbox.write('work/large', noise(3_000_000, 1));
      await network.cutRequestsAfter(1_000_000);
      const environment = { AWS_ENDPOINT_URL: network.endpoint };
      expect(
        errorOf(await dray('work', ['push', '--json'], { ...environment, ...SHORT_PAUSES })),
      ).toMatchObject({
        exitCode: 1,
        code: 'unreachable',
      });
      expect(readFileSync(branch, 'utf8')).toBe(before);
      await network.restore();
      expect(await dray('work', ['push'], environment)).toMatchObject({ exitCode: 0 });
      expect(readFileSync(branch, 'utf8')).not.toBe(before);
    },
  );
});

describe('A secret key', () => {
  it("never appears in a workspace's files, in output or in errors", async () => {
    await startWork();
    const secret = server.secretAccessKey;
    dataset.sandbox.write('work/b', 'two');
    const outputs: string[] = [];
    const run = async (parameters: readonly string[], environment: Environment = {}) => {
      const { stdout, stderr } = await dray('work', parameters, environment);
      outputs.push(stdout, stderr);
    };
    await run(['push', '--json', '-v']);
    await run(['status', '--json', '-v']);
    await run(['remote', 'list', '--json']);
    await run(['config', '--json']);
    await run(['remote', 'test', '-v']);
    await run(['verify', '--read-data', '-v']);
    await run(['clone', dataset.url, '../copy', '-v']);
    await run(['clone', 's3://no-such-bucket/x', '../other', '-v']);
    await run(['clone', 's3://no-such-bucket/x', '../other', '--json', '-v']);
    await run(['push', '-v'], { AWS_ACCESS_KEY_ID: 'somebody-else' });
    await run(['pull', '--json', '-v'], { AWS_ACCESS_KEY_ID: 'somebody-else' });
    await run(['pull', '-v'], { AWS_ACCESS_KEY_ID: 'somebody-else' });
    expect(outputs.filter((text) => text.includes(secret))).toEqual([]);
    // Guards against a test that never used the key, or that searched no output.
    expect(outputs.join('')).toContain('accessDenied');
    expect(filesBelow(dataset.sandbox.folder).filter((file) => readFileSync(file).includes(secret))).toEqual(
      [],
    );
  });

  it('is refused in a URL, and the error does not repeat it', async () => {
    mkdirSync(dataset.sandbox.path('fresh'));
    for (const url of [
      's3://AKIAEXAMPLE:hunter2secret@bucket/data',
      's3://bucket/data?secret_access_key=hunter2secret',
    ]) {
      const { exitCode, stdout, stderr } = await dray('fresh', ['init', '--remote', url, '-v']);
      expect(exitCode).toBe(2);
      expect(stdout + stderr).not.toContain('hunter2secret');
    }
    expect(readdirSync(`${dataset.sandbox.folder}/fresh`)).toEqual([]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name));
}
