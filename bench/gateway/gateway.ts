/**
 * Measures a loader that reads many small files in a shuffled order, as a training program does:
 * `dray gateway` over a repository in a folder, beside `rclone serve s3` and versitygw over the same files in
 * a folder. Prints a table.
 *
 *     npm run build && node bench/gateway/gateway.ts [--files 50000] [--workers 8] [--runs 3] [--json FILE]
 *
 * The loader is a program in Go, and all servers check the signatures of its URLs.
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
import { freePort, startProcess, waitUntilReady } from '../../e2e/servers/tools.ts';
import { startVersitygw } from '../../e2e/servers/versitygw.ts';
import { Sha256 } from '../../engine/remotes/s3/aws-sha256.fixture.ts';
import { encodePairs } from '../../engine/remotes/s3/signature.ts';
import { fleetCircumstances, publishFigure, target } from '../fleet/fleet-figure.ts';
import { findPeer } from '../machines/peers.ts';
import { medianOf } from '../page/statistics.ts';

const DRAY = fileURLToPath(new URL('../../dist/dray.js', import.meta.url));
const LOADER = fileURLToPath(new URL('loader.go', import.meta.url));
const SHARE_MIN = 0.8;
const FOLDERS = 100;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    workers: { type: 'string', default: '8' },
    runs: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
});
const files = Number(values.files);
const base = mkdtempSync(join(tmpdir(), 'dray-gateway-bench-'));

interface Served {
  readonly name: string;
  readonly endpoint: string;
  readonly prefix: string;
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly processId: number | undefined;
}

const nameOf = (at: number) => `f${at % FOLDERS}/${at}.bin`;

/** 1 to 8 KiB each, which no compression makes smaller. */
function writeFiles(folder: string): void {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
    Buffer.alloc(1 << 24),
  );
  for (let at = 0; at < FOLDERS; at += 1) mkdirSync(join(folder, `f${at}`), { recursive: true });
  for (let at = 0; at < files; at += 1) {
    const from = (at * 4_099) % (noise.length - 8_192);
    writeFileSync(join(folder, nameOf(at)), noise.subarray(from, from + 1_024 + ((at * 37) % 7_168)));
  }
}

/** A file of presigned URLs, in another order for each run and the same one for all servers. */
async function writeUrls({ endpoint, keys, prefix }: Served, run: number): Promise<string> {
  const draw = drawFrom(run);
  const order = Array.from({ length: files }, (_, at) => at);
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = draw.below(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  const { host } = new URL(endpoint);
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    credentials: keys,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const urls: string[] = [];
  for (const at of order) {
    const path = `${prefix}/${nameOf(at)}`;
    const payload = { host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
    const asked = { method: 'GET', protocol: 'http:', hostname: host, path, query: {}, headers: payload };
    const { query = {} } = await signer.presign(asked, { expiresIn: 3_600 * 24 });
    urls.push(`${endpoint}${path}?${encodePairs(Object.entries(query) as [string, string][])}`);
  }
  const list = join(base, 'urls');
  writeFileSync(list, urls.join('\n'));
  return list;
}

function load(loader: string, list: string): number {
  const { stderr, stdout } = spawnSync(loader, [list, values.workers], { encoding: 'utf8' });
  if (!stdout) throw new Error(stderr.slice(0, 1_000));
  return (JSON.parse(stdout) as { seconds: number }).seconds;
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
    prefix: '/dray-test',
    keys,
    processId: running.processId,
    stop: () => running.stop(),
  };
}

try {
  const loader = join(base, 'loader');
  execFileSync('go', ['build', '-o', loader, LOADER], { env: { ...process.env, GO111MODULE: 'off' } });
  await using versitygw = await startVersitygw();
  writeFiles(join(versitygw.dataFolder, versitygw.bucket, 'main'));
  const work = join(versitygw.dataFolder, versitygw.bucket, 'main');
  const store = join(base, 'store');
  mkdirSync(store);
  const workspace = join(base, 'work');
  execFileSync('cp', ['-r', work, workspace]);
  execFileSync(process.execPath, [DRAY, 'init', '-C', workspace, '--remote', store, '--quiet']);
  execFileSync(process.execPath, [DRAY, 'push', '-C', workspace, '--quiet']);
  await using gateway = await startDrayGateway({
    parameters: [`dray-test=${store}`],
    home: join(base, 'home'),
  });
  const rclone = await startRclone(versitygw.dataFolder);
  const { accessKeyId = '', secretAccessKey = '' } = gateway.event;
  const served: readonly Served[] = [
    {
      name: '`dray gateway`',
      endpoint: gateway.url,
      prefix: '/dray-test/main',
      keys: { accessKeyId, secretAccessKey },
      processId: gateway.child.pid,
    },
    {
      name: 'versitygw',
      endpoint: versitygw.endpoint,
      prefix: '/dray-test/main',
      keys: versitygw,
      processId: versitygw.processId,
    },
    { ...rclone, prefix: '/dray-test/main', name: '`rclone serve s3`' },
  ];
  const seconds = new Map<string, number[]>();
  const cpu = new Map<string, number[]>();
  for (let run = 0; run < Number(values.runs); run += 1)
    for (const each of served) {
      const list = await writeUrls(each, run);
      const before = cpuOf(each.processId);
      const took = load(loader, list);
      seconds.set(each.name, [...(seconds.get(each.name) ?? []), took]);
      cpu.set(each.name, [...(cpu.get(each.name) ?? []), cpuOf(each.processId) - before]);
      console.error(
        `${each.name}: ${took.toFixed(1)} s, ${(cpuOf(each.processId) - before).toFixed(1)} s of CPU`,
      );
    }
  await rclone.stop();
  const median = (name: string) => medianOf(seconds.get(name)!);
  const share = median('versitygw') / median('`dray gateway`');
  publishFigure(
    {
      order: 0,
      title: 'A shuffled loader of small files',
      text:
        `${files.toLocaleString('en')} files of 1 to 8 KiB, read once in a random order by ${values.workers} ` +
        'workers with presigned URLs. The gateway serves a repository in a folder, where they lie in packs; the ' +
        'other two serve the files themselves. The loader is a program in Go (bench/gateway/loader.go).',
      command: 'npm run build && node bench/gateway/gateway.ts',
      circumstances: fleetCircumstances(),
      headings: ['server', 'time', 'files a second', 'CPU of the server', 'to versitygw'],
      rows: served.map(({ name }) => [
        name,
        `${median(name).toFixed(1)} s`,
        Math.round(files / median(name)).toLocaleString('en'),
        `${medianOf(cpu.get(name)!).toFixed(1)} s`,
        (median('versitygw') / median(name)).toFixed(2),
      ]),
      targets: [
        target(
          `at least ${SHARE_MIN} of the throughput of versitygw (median of ${values.runs})`,
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
