/**
 * Measures a loader that reads many small files in a shuffled order, as a training program does: `dray
 * gateway` over a repository in a folder and over one in S3, beside `rclone serve s3` and versitygw over the
 * same files in a folder. Prints a table.
 *
 *     npm run build && node bench/gateway/gateway.ts
 *
 *     --files 50000 --size BYTES (default: 1 to 8 KiB) --workers 8 --runs 3 --client go|boto3 --order 0
 *     --json FILE
 *
 * The loader in Go has presigned URLs and takes little of the processor; boto3 is what programs use. All
 * servers check signatures. They take turns, and each run begins with another one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SignatureV4 } from '@smithy/signature-v4';
import { drawFrom } from '../../e2e/seeded-draw.ts';
import { startDrayGateway } from '../../e2e/servers/dray-gateway.ts';
import { findPythonClients } from '../../e2e/servers/python-clients.ts';
import { freePort, startProcess, waitUntilReady } from '../../e2e/servers/tools.ts';
import { startVersitygw } from '../../e2e/servers/versitygw.ts';
import { Sha256 } from '../../engine/remotes/s3/aws-sha256.fixture.ts';
import { encodePairs } from '../../engine/remotes/s3/signature.ts';
import { fleetCircumstances, publishFigure, target } from '../fleet/fleet-figure.ts';
import { findPeer } from '../machines/peers.ts';
import { medianOf } from '../page/statistics.ts';

const DRAY = fileURLToPath(new URL('../../dist/dray.js', import.meta.url));
const LOADER = fileURLToPath(new URL('loader.go', import.meta.url));
const PYTHON_LOADER = fileURLToPath(new URL('loader.py', import.meta.url));
const BUCKET = 'dray-test';
const SHARE_MIN = 0.8;
const FOLDERS = 100;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    workers: { type: 'string', default: '8' },
    runs: { type: 'string', default: '3' },
    size: { type: 'string' },
    client: { type: 'string', default: 'go' },
    order: { type: 'string', default: '0' },
    json: { type: 'string' },
  },
});
const files = Number(values.files);
const base = mkdtempSync(join(tmpdir(), 'dray-gateway-bench-'));

interface Served {
  readonly name: string;
  readonly endpoint: string;
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly processId: number | undefined;
}

const nameOf = (at: number) => `f${at % FOLDERS}/${at}.bin`;

const sizeOf = (at: number) => (values.size ? Number(values.size) : 1_024 + ((at * 37) % 7_168));

/** Which no compression makes smaller. */
function writeFiles(folder: string): void {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
    Buffer.alloc(1 << 24),
  );
  for (let at = 0; at < FOLDERS; at += 1) mkdirSync(join(folder, `f${at}`), { recursive: true });
  for (let at = 0; at < files; at += 1) {
    const from = (at * 4_099) % (noise.length - sizeOf(at));
    writeFileSync(join(folder, nameOf(at)), noise.subarray(from, from + sizeOf(at)));
  }
}

/** Another order for each run, and the same one for all servers. */
function shuffledNames(run: number): readonly string[] {
  const draw = drawFrom(run);
  const order = Array.from({ length: files }, (_, at) => at);
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = draw.below(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order.map((at) => `main/${nameOf(at)}`);
}

async function presign({ endpoint, keys }: Served, names: readonly string[]): Promise<readonly string[]> {
  const { host } = new URL(endpoint);
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    credentials: keys,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const urls: string[] = [];
  for (const name of names) {
    const path = `/${BUCKET}/${name}`;
    const payload = { host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
    const asked = { method: 'GET', protocol: 'http:', hostname: host, path, query: {}, headers: payload };
    const { query = {} } = await signer.presign(asked, { expiresIn: 3_600 * 24 });
    urls.push(`${endpoint}${path}?${encodePairs(Object.entries(query) as [string, string][])}`);
  }
  return urls;
}

type Load = (served: Served, names: readonly string[]) => Promise<() => number>;

/** Prepares a run, and returns what measures its seconds. */
async function makeLoad(): Promise<Load> {
  const list = join(base, 'list');
  const run = (command: string, args: readonly string[]) => {
    const { stderr, stdout } = spawnSync(command, args, { encoding: 'utf8' });
    if (!stdout) throw new Error(stderr.slice(0, 1_000));
    return (JSON.parse(stdout) as { seconds: number }).seconds;
  };
  if (values.client === 'boto3') {
    const found = await findPythonClients();
    if ('missing' in found) throw new Error(found.missing);
    return async ({ endpoint, keys }, names) => {
      writeFileSync(list, names.join('\n'));
      const { accessKeyId, secretAccessKey } = keys;
      const args = [endpoint, accessKeyId, secretAccessKey, BUCKET, values.workers, list];
      return () => run(found.python, [PYTHON_LOADER, ...args]);
    };
  }
  const loader = join(base, 'loader');
  execFileSync('go', ['build', '-o', loader, LOADER], { env: { ...process.env, GO111MODULE: 'off' } });
  return async (served, names) => {
    writeFileSync(list, (await presign(served, names)).join('\n'));
    return () => run(loader, [list, values.workers]);
  };
}

/** Of the server so far, in seconds. */
function cpuOf(processId: number | undefined): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function startRclone(folder: string): Promise<Served & { stop(): Promise<void> }> {
  const peer = await findPeer('rclone');
  if ('missing' in peer) throw new Error(peer.missing);
  const keys = { accessKeyId: 'benchaccess', secretAccessKey: 'benchsecretbenchsecret' };
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const auth = `${keys.accessKeyId},${keys.secretAccessKey}`;
  const args = [
    'serve',
    's3',
    '--addr',
    `127.0.0.1:${port}`,
    '--auth-key',
    auth,
    '--config',
    '/dev/null',
    folder,
  ];
  const running = startProcess(peer.path, args, { PATH: process.env.PATH, HOME: base });
  await waitUntilReady(running, async () => (await fetch(endpoint)).status > 0);
  const name = 'rclone serve s3';
  return {
    name,
    endpoint,
    keys,
    processId: running.processId,
    stop: () => running.stop(),
  };
}

async function startGateway(name: string, url: string, environment: Readonly<Record<string, string>> = {}) {
  const home = join(base, `home-${name}`);
  const gateway = await startDrayGateway({ parameters: [`${BUCKET}=${url}`], home, environment });
  const { accessKeyId = '', secretAccessKey = '' } = gateway.event;
  const keys = { accessKeyId, secretAccessKey };
  return { name, endpoint: gateway.url, keys, processId: gateway.child.pid, gateway };
}

interface Taken {
  readonly seconds: number;
  readonly cpu: number;
}

function rowOf(name: string, runs: ReadonlyMap<string, readonly Taken[]>): readonly string[] {
  const taken = runs.get(name)!;
  const seconds = medianOf(taken.map((each) => each.seconds));
  const cpu = medianOf(taken.map((each) => each.cpu));
  const ratio = medianOf(taken.map((each, run) => runs.get('versitygw')![run]!.seconds / each.seconds));
  return [
    name,
    `${taken[0]!.seconds.toFixed(1)} s`,
    `${seconds.toFixed(1)} s`,
    Math.round(files / seconds).toLocaleString('en'),
    `${((cpu / files) * 1_000).toFixed(2)} ms`,
    ratio.toFixed(2),
  ];
}

try {
  const load = await makeLoad();
  await using versitygw = await startVersitygw();
  const work = join(versitygw.dataFolder, BUCKET, 'main');
  writeFiles(work);
  const store = join(base, 'store');
  mkdirSync(store);
  const workspace = join(base, 'work');
  execFileSync('cp', ['-r', work, workspace]);
  execFileSync(process.execPath, [DRAY, 'init', '-C', workspace, '--remote', store, '--quiet']);
  execFileSync(process.execPath, [DRAY, 'push', '-C', workspace, '--quiet']);
  await versitygw.createBucket('repository');
  execFileSync('cp', ['-r', store, join(versitygw.dataFolder, 'repository', 'data')]);
  const folder = await startGateway('`dray gateway`', store);
  await using _folder = folder.gateway;
  const remote = 's3://repository/data';
  const overS3 = await startGateway('`dray gateway` over S3', remote, versitygw.environment);
  await using _overS3 = overS3.gateway;
  const rclone = await startRclone(versitygw.dataFolder);
  const plain = { endpoint: versitygw.endpoint, keys: versitygw, processId: versitygw.processId };
  const served: readonly Served[] = [folder, { ...plain, name: 'versitygw' }, overS3, rclone];
  const circumstances = fleetCircumstances();
  const runs = new Map<string, Taken[]>(served.map(({ name }) => [name, []]));
  for (let run = 0; run < Number(values.runs); run += 1) {
    const names = shuffledNames(run);
    for (let turn = 0; turn < served.length; turn += 1) {
      const each = served[(run + turn) % served.length]!;
      const begin = await load(each, names);
      const before = cpuOf(each.processId);
      const seconds = begin();
      const cpu = cpuOf(each.processId) - before;
      runs.get(each.name)!.push({ seconds, cpu });
      console.error(`${each.name}: ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU`);
    }
  }
  await rclone.stop();
  const rows = served.map(({ name }) => rowOf(name, runs));
  const share = Number(rows[0]!.at(-1));
  const size = values.size ? `${Number(values.size).toLocaleString('en')} bytes` : '1 to 8 KiB';
  const isPython = values.client === 'boto3';
  const options = ['files', 'size', 'workers', 'runs', 'client'] as const;
  const given = options.flatMap((name) => (values[name] ? [`--${name} ${values[name]}`] : []));
  publishFigure(
    {
      order: Number(values.order),
      title: `A shuffled loader of files of ${size}${isPython ? ', in Python' : ''}`,
      text:
        `${files.toLocaleString('en')} files, each read once a run in a random order by ${values.workers} ` +
        `${isPython ? 'processes with boto3' : 'workers of a program in Go with presigned URLs'}. The gateway ` +
        'serves a repository, in a folder or in S3 (versitygw), where the files lie in packs; the other two ' +
        'serve the files themselves from a folder. The first run fills the caches.',
      command: `npm run build && node bench/gateway/gateway.ts ${given.join(' ')}`,
      circumstances,
      headings: ['server', 'first run', 'median', 'files a second', 'CPU of a file', 'to versitygw'],
      rows,
      targets: [
        target(
          `at least ${SHARE_MIN} of the throughput of versitygw (median of ${values.runs} pairs)`,
          share.toFixed(2),
          share >= SHARE_MIN,
        ),
      ],
      notes: [],
    },
    values.json,
  );
} finally {
  rmSync(base, { recursive: true, force: true });
}
