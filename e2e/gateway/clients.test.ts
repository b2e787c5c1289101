/**
 * The S3 clients that people have read a dataset of Parquet files through a gateway, before and after its
 * branch moves. The repository is encrypted. A client that cannot be had here is named in the output.
 *
 * `npm test` has rclone, which other tests need as well. The others take minutes to install.
 */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  accessSync,
  constants,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findPeer } from '../../bench/machines/peers.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { askSigned } from '../../engine/gateway/gateway.fixture.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type SnippetKind, snippetOf } from '../../renderer/screens/versions/s3-snippets.ts';
import { type GatewayProcess, startDrayGateway } from '../servers/dray-gateway.ts';
import { findPythonClients } from '../servers/python-clients.ts';

const SCRIPT = fileURLToPath(new URL('clients.py', import.meta.url));
const PASSWORD = { DRAY_PASSWORD: 'secret' };
const PARTS = 3;
const ROWS = 20_000;
/** Of the column `value`, by the number of the version. */
const sumOf = (version: number) => (PARTS * version * ROWS * (ROWS - 1)) / 2;
const run = promisify(execFile);

const PYTHON = ['boto3', 'pandas', 's3fs', 'pyarrow', 'duckdb'];
const BINARIES = runBudget<readonly Binary[]>({ short: ['rclone'], long: ['aws', 's5cmd', 'rclone'] });
const TESTED = runBudget<readonly string[]>({ short: [], long: PYTHON });

const clients = TESTED.length > 0 ? await findPythonClients() : { missing: 'npm run test:long has them' };
const peers = await Promise.all(BINARIES.map((name) => findPeer(name)));

let sandbox: Sandbox;
let gateway: GatewayProcess;
let environment: Record<string, string>;

async function pushVersion(version: number): Promise<void> {
  const table = sandbox.path('work', 'table');
  if ('python' in clients) await run(clients.python, [SCRIPT, 'write', table, String(version)]);
  else
    for (let part = 0; part < PARTS; part += 1)
      sandbox.write(`work/table/part-${part}.parquet`, `version ${version}`);
  sandbox.write('work/näme & <b>/+ %.txt', `version ${version}`);
  await push(testContext(sandbox.path('work'), { environment: PASSWORD }), {});
  cpSync(sandbox.path('work'), sandbox.path(`v${version}`), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.includes('.dray'),
  });
}

beforeAll(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  mkdirSync(sandbox.path('home', 'user'), { recursive: true });
  const work = testContext(sandbox.path('work'), { environment: PASSWORD });
  await initWorkspace(work, { remoteUrl: sandbox.path('store'), encrypt: true });
  await pushVersion(1);
  await tag(work, { name: 'v1' });
  gateway = await startDrayGateway({
    parameters: [`data=${sandbox.path('store')}`, '--explain'],
    home: sandbox.path('home'),
    environment: PASSWORD,
  });
  environment = {
    PATH: process.env.PATH ?? '',
    HOME: sandbox.path('home', 'user'),
    AWS_ACCESS_KEY_ID: gateway.event.accessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: gateway.event.secretAccessKey ?? '',
    AWS_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  sandbox?.[Symbol.dispose]();
});

/** A change of the object says that the gateway has seen the next version. */
async function etagOf(ref: string): Promise<string | undefined> {
  const { accessKeyId = '', secretAccessKey = '' } = gateway.event;
  const path = `/data/${ref}/table/part-0.parquet`;
  return (await askSigned(gateway.port, path, { accessKeyId, secretAccessKey })).headers.etag;
}

/** They read no other columns. The others read blocks that are larger. */
const BY_RANGES = new Set(['duckdb', 'pyarrow']);

describe.each([1, 2])('of the branch as version %i', (version) => {
  beforeAll(async () => {
    if (version === 1) return;
    await pushVersion(2);
    const before = await etagOf('v1');
    await vi.waitFor(async () => expect(await etagOf('main')).not.toBe(before), {
      timeout: 60_000,
      interval: 50,
    });
  });

  it.for(TESTED)('%s reads a column', async (name, { skip }) => {
    if ('missing' in clients) return skip(`Without ${name}: ${clients.missing}`);
    for (const [ref, expected] of [
      ['v1', 1],
      ['main', version],
    ] as const) {
      const bytesBefore = bytesSent();
      const { stdout } = await run(clients.python, [SCRIPT, name, gateway.url, ref], { env: environment });
      expect(JSON.parse(stdout), ref).toBe(sumOf(expected));
      const whole = PARTS * statSync(sandbox.path(`v${expected}`, 'table/part-0.parquet')).size;
      if (BY_RANGES.has(name)) expect(bytesSent() - bytesBefore).toBeLessThan(whole / 2);
    }
  });

  it.for(BINARIES)('%s copies it', async (name, { skip }) => {
    const peer = peers.find((found) => found.name === name)!;
    if ('missing' in peer) return skip(`Without ${name}: ${peer.missing}`);
    for (const [ref, expected] of [
      ['v1', 1],
      ['main', version],
    ] as const) {
      const destination = sandbox.path(`by-${name}-${version}-${ref}`, 'out');
      await COPY[name](peer.path, ref, destination);
      expect(filesOf(destination)).toEqual(filesOf(sandbox.path(`v${expected}`)));
    }
  });
});

/** @returns why `rclone mount` cannot be tested here; undefined if it can. */
async function withoutMounts(): Promise<string | undefined> {
  const peer = peers.find(({ name }) => name === 'rclone');
  if (!peer || 'missing' in peer) return peer?.missing;
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    await run('fusermount', ['-V']);
    return undefined;
  } catch (error) {
    return `Mounts need /dev/fuse and fusermount: ${error instanceof Error ? error.message : error}`;
  }
}

longIt('rclone mounts a version and a branch, which programs read as folders', async ({ skip }) => {
  const missing = await withoutMounts();
  const peer = peers.find(({ name }) => name === 'rclone')!;
  if ('missing' in peer || missing !== undefined) return skip(`Without rclone mount: ${missing}`);
  // rclone starts `fusermount3`. Where only `fusermount` is installed, it takes the same arguments.
  const programs = sandbox.path('programs');
  mkdirSync(programs);
  const { stdout } = await run('sh', ['-c', 'command -v fusermount3 || command -v fusermount']);
  symlinkSync(stdout.trim(), join(programs, 'fusermount3'));
  const env = { ...environment, PATH: `${programs}:${environment.PATH}`, RCLONE_CONFIG: '/dev/null' };
  for (const [ref, version] of [
    ['v1', 1],
    ['main', 2],
  ] as const) {
    const mounted = sandbox.path('mounts', ref);
    mkdirSync(mounted, { recursive: true });
    const remote = `:s3,provider=Other,env_auth,endpoint='${gateway.url}':data/${ref}`;
    await run(peer.path, ['mount', remote, mounted, '--read-only', '--daemon'], { env });
    try {
      const copied = sandbox.path('from-mount', ref);
      mkdirSync(dirname(copied), { recursive: true });
      await run('cp', ['-r', mounted, copied]);
      expect(filesOf(copied)).toEqual(filesOf(sandbox.path(`v${version}`)));
      const { stdout: listed } = await run('ls', [join(mounted, 'table')]);
      expect(listed.trim().split('\n')).toHaveLength(PARTS);
      await expect(run('sh', ['-c', 'echo a > "$0"', join(mounted, 'new')])).rejects.toThrow();
    } finally {
      await run('fusermount', ['-u', '-z', mounted]);
    }
  }
});

/** As the window shows them, for a folder and for one of its files. */
describe('the snippets of the window', () => {
  const access = (key: string) => ({ command: '', endpoint: gateway.url, bucket: 'data', ref: 'v1', key });
  const snippet = (kind: SnippetKind, key: string) => {
    const { accessKeyId = '', secretAccessKey = '' } = gateway.event;
    return snippetOf(kind, access(key), { accessKeyId, secretAccessKey });
  };
  const file = 'v1/table/part-0.parquet';
  const content = () => readFileSync(sandbox.path('v1/table/part-0.parquet'));

  longIt('read with boto3', async ({ skip }) => {
    if ('missing' in clients) return skip(`Without boto3: ${clients.missing}`);
    const cwd = sandbox.path('boto3');
    mkdirSync(cwd);
    const python = (key: string) =>
      run(clients.python, ['-c', snippet('python', key)], { cwd, env: { PATH: process.env.PATH } });
    const { stdout } = await python('v1/table/');
    expect(stdout.trim().split('\n')).toHaveLength(PARTS);
    await python(file);
    expect(readFileSync(join(cwd, 'part-0.parquet'))).toEqual(content());
  });

  longIt('read with DuckDB', async ({ skip }) => {
    if ('missing' in clients) return skip(`Without DuckDB: ${clients.missing}`);
    for (const key of ['v1/', file]) {
      const { stdout } = await run(clients.python, [SCRIPT, 'sql', snippet('duckdb', key)], {
        env: environment,
      });
      expect(Number(stdout)).toBe(10);
    }
  });

  it('read with rclone', async ({ skip }) => {
    const peer = peers.find(({ name }) => name === 'rclone')!;
    if ('missing' in peer) return skip(`Without rclone: ${peer.missing}`);
    const cwd = sandbox.path('rclone');
    mkdirSync(cwd);
    const env = { PATH: `${dirname(peer.path)}:${process.env.PATH}`, RCLONE_CONFIG: '/dev/null' };
    for (const key of ['v1/table/', file]) await run('sh', ['-ec', snippet('rclone', key)], { cwd, env });
    expect(readdirSync(join(cwd, 'table'))).toHaveLength(PARTS);
    expect(readFileSync(join(cwd, 'part-0.parquet'))).toEqual(content());
  });
});

/** The paths of the files and the hashes of their contents. */
function filesOf(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  const paths = found.map((item) => relative(folder, join(item.parentPath, item.name))).sort();
  return Object.fromEntries(paths.map((path) => [path, hash('sha256', readFileSync(join(folder, path)))]));
}

/** Of bodies, as the gateway's log says. */
function bytesSent(): number {
  const found = [...gateway.printed().matchAll(/"type":"gatewayAnswer".*?"method":"GET".*?"bytes":(\d+)/g)];
  return found.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

type Binary = 'aws' | 's5cmd' | 'rclone';
type Copy = (program: string, ref: string, destination: string) => Promise<void>;

const COPY: Readonly<Record<Binary, Copy>> = {
  async aws(program, ref, destination) {
    const asked = (...args: string[]) =>
      run(program, [...args, '--endpoint-url', gateway.url], { env: environment });
    const { stdout } = await asked('s3', 'ls', `s3://data/${ref}/table/`);
    expect(stdout.split('\n').filter((line) => line.includes('part-'))).toHaveLength(PARTS);
    await asked('s3', 'cp', '--recursive', '--quiet', `s3://data/${ref}/`, destination);
    await expect(asked('s3', 'cp', SCRIPT, `s3://data/${ref}/new`)).rejects.toThrow('AccessDenied');
  },
  async s5cmd(program, ref, destination) {
    const asked = (...args: string[]) =>
      run(program, ['--endpoint-url', gateway.url, ...args], { env: environment });
    const { stdout } = await asked('ls', `s3://data/${ref}/table/*`);
    expect(stdout.split('\n').filter((line) => line.includes('part-'))).toHaveLength(PARTS);
    await asked('cp', `s3://data/${ref}/*`, `${destination}/`);
    await expect(asked('rm', `s3://data/${ref}/table/part-0.parquet`)).rejects.toThrow('AccessDenied');
  },
  async rclone(program, ref, destination) {
    const remote = `:s3,provider=Other,env_auth,endpoint='${gateway.url}':data/${ref}`;
    const asked = (...args: string[]) =>
      run(program, [...args, '--config', '/dev/null', '--retries', '1'], { env: environment });
    const { stdout } = await asked('lsf', '-R', '--files-only', `${remote}/table`);
    expect(stdout.trim().split('\n')).toHaveLength(PARTS);
    await asked('copy', remote, destination);
    // Times and sizes, and then all bytes.
    await asked('check', remote, destination);
    await asked('check', '--download', remote, destination);
    await expect(asked('copyto', SCRIPT, `${remote}/new`)).rejects.toThrow('AccessDenied');
  },
};
