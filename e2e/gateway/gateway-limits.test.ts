/** What a gateway takes for many clients: memory of its process, and requests to the store. */
import { createCipheriv, createHash, hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { ask } from '../../engine/gateway/gateway.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { keysBelow } from '../../engine/jobs/session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { BLOCK_BYTES } from '../../engine/jobs/versions/block-file.ts';
import { type GatewayProcess, startDrayGateway } from '../servers/dray-gateway.ts';
import { findMemoryDisk } from '../servers/memory-folder.ts';
import { isDownload, isObject, startRequestGate } from '../servers/request-gate.ts';
import { startToxiproxy } from '../servers/toxiproxy.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
const CLIENTS = 64;
/** 300 MB. */
const RSS_MIB_MAX = 286;
const PASSWORD = { DRAY_PASSWORD: 'secret' };
/** So much that one file for each client is more than the process may take. */
const FILE_BYTES = runBudget({ short: 8, long: 100 }) * MIB;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = createSandbox((await findMemoryDisk())?.folder);
});
afterEach(() => sandbox?.[Symbol.dispose]());

/** Bytes that no compression makes smaller. */
const noise = (sizeBytes: number, seed = 0) =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(sizeBytes));

/** The hash of the body. */
function download(port: number, path: string, agent: Agent | false = false): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, (answer) => {
      const hasher = createHash('sha256');
      answer.on('data', (piece) => hasher.update(piece));
      answer.on('end', () => resolve(hasher.digest('hex')));
      answer.on('error', reject);
    }).on('error', reject);
  });
}

/** An answer of which the first bytes are read. */
function readStart(port: number, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      answer.once('readable', () => resolve(answer));
      answer.on('error', () => {});
    }).on('error', reject);
  });
}

it(`takes at most ${RSS_MIB_MAX} MiB for ${CLIENTS} clients that read large files`, async () => {
  const lines = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `${at},value ${at % 97}\n`).join(''));
  const contents = { 'noise.bin': noise(FILE_BYTES), 'text.csv': Buffer.alloc(FILE_BYTES, lines) };
  const kinds = { chunks: {}, objects: { layout: { chunkAbove: 1024 * MIB } }, sealed: { encrypt: true } };
  const names = Object.keys(kinds);
  for (const [name, how] of Object.entries(kinds)) {
    for (const [file, content] of Object.entries(contents)) sandbox.write(`${name}/work/${file}`, content);
    const work = testContext(sandbox.path(name, 'work'), { environment: PASSWORD });
    await initWorkspace(work, { remoteUrl: sandbox.path(name, 'store'), ...how });
    await push(work, {});
  }
  const repositories = names.map((name) => `${name}=${sandbox.path(name, 'store')}`);
  await using gateway = await startDrayGateway({
    parameters: [...repositories, '--anonymous', '--cache-size', '64MiB'],
    home: sandbox.path('home'),
    environment: PASSWORD,
  });
  const idleMib = rssMib(gateway.child.pid, 'VmRSS');
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const name = names[client % names.length]!;
      const file = client % 2 === 0 ? 'noise.bin' : 'text.csv';
      const found = await download(gateway.port, `/${name}/main/${file}`);
      expect(found, `${name} ${file}`).toBe(hash('sha256', contents[file]));
    }),
  );
  const stalled = await Promise.all(
    Array.from({ length: CLIENTS }, () => readStart(gateway.port, '/objects/main/noise.bin')),
  );
  // Clients that do not read on keep nobody from reading.
  expect(await download(gateway.port, '/chunks/main/text.csv')).toBe(hash('sha256', contents['text.csv']));
  for (const answer of stalled) answer.destroy();
  const peakMib = rssMib(gateway.child.pid, 'VmHWM');
  console.log(`gateway memory: ${idleMib} MiB idle, at most ${peakMib} MiB with ${CLIENTS} clients`);
  expect(peakMib).toBeLessThan(RSS_MIB_MAX);
});

/** Pushes `work` to a new repository. @returns Its URL. */
async function pushTo({ bucket, environment }: S3Server): Promise<string> {
  const url = `s3://${bucket}/repository`;
  const work = testContext(sandbox.path('work'), { environment });
  await initWorkspace(work, { remoteUrl: url });
  await push(work, {});
  return url;
}

/** The requests to the store that the last answers took, as the gateway's log says. */
async function upstreamOf(gateway: GatewayProcess, work: () => Promise<unknown>): Promise<number> {
  const count = () => {
    const found = [...gateway.printed().matchAll(/"type":"gatewayAnswer".*?"upstream":(\d+)/g)];
    return { answers: found.length, upstream: found.reduce((sum, [, each]) => sum + Number(each), 0) };
  };
  const before = count();
  await work();
  await expect.poll(() => count().answers).toBeGreaterThan(before.answers);
  return count().upstream - before.upstream;
}

it('reads few segments for a folder among many, and a pack once for all its files', async () => {
  const folders = 40;
  const files = runBudget({ short: 250, long: 5_000 });
  for (let at = 0; at < folders * files; at += 1) {
    const name = `work/f${String(at % folders).padStart(2, '0')}/${at}.txt`;
    sandbox.write(name, `${at} `.repeat(50));
  }
  await using server = await startVersitygw();
  const url = await pushTo(server);
  await using gateway = await startDrayGateway({
    parameters: [`data=${url}`, '--anonymous', '--explain'],
    home: sandbox.path('home'),
    environment: server.environment,
  });
  const list = (query: string) => ask(gateway.port, `/data?list-type=2&delimiter=/&prefix=main/${query}`);
  // The branch, the tag of that name, the commit, and the segments where the folder begins and ends.
  expect(await upstreamOf(gateway, () => list('f20/'))).toBeLessThanOrEqual(5);
  expect(await upstreamOf(gateway, () => list('f21/'))).toBeLessThanOrEqual(4);
  const store = join(server.dataFolder, server.bucket, 'repository');
  const packs = keysBelow(store, 'packs').map((key) => statSync(join(store, key)).size);
  const packBytes = packs.reduce((sum, size) => sum + size, 0);
  const shuffled = Array.from({ length: 1_000 }, (_, at) => (at * 7_919) % (folders * files));
  const upstream = await upstreamOf(gateway, () =>
    Promise.all(
      Array.from({ length: 16 }, async (_, lane) => {
        for (let at = lane; at < shuffled.length; at += 16) {
          const number = shuffled[at]!;
          const key = `f${String(number % folders).padStart(2, '0')}/${number}.txt`;
          const { body } = await ask(gateway.port, `/data/main/${key}`);
          expect(body.toString()).toBe(`${number} `.repeat(50));
        }
      }),
    ),
  );
  console.log(`gateway: ${shuffled.length} small files took ${upstream} requests to the store`);
  // Once for each block of the packs and each segment; the branch and the tag once a second.
  expect(upstream).toBeGreaterThan(0);
  expect(upstream).toBeLessThanOrEqual(packBytes / (512 * 1024) + 150);
});

it(`reads each part of a pack once, in ${RSS_MIB_MAX} MiB, for ${CLIENTS} shuffled loaders`, async () => {
  const files = runBudget({ short: 1_500, long: 20_000 });
  const sizeBytes = 16_000;
  const bytes = noise(files * sizeBytes);
  const contentOf = (at: number) => bytes.subarray(at * sizeBytes, (at + 1) * sizeBytes);
  for (let at = 0; at < files; at += 1) sandbox.write(`work/f${at % 40}/${at}`, contentOf(at));
  await using server = await startVersitygw();
  const url = await pushTo(server);
  await using gateway = await startDrayGateway({
    parameters: [`data=${url}`, '--anonymous'],
    home: sandbox.path('home'),
    environment: server.environment,
  });
  await server.resetRequests();
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  for (const stride of [7_919, 6_101])
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (let turn = client; turn < files; turn += CLIENTS) {
          const at = (turn * stride) % files;
          const found = await download(gateway.port, `/data/main/f${at % 40}/${at}`, agent);
          expect(found, `${at}`).toBe(hash('sha256', contentOf(at)));
        }
      }),
    );
  agent.destroy();
  const store = join(server.dataFolder, server.bucket, 'repository');
  const packs = keysBelow(store, 'packs').map((key) => statSync(join(store, key)).size);
  const blocks = packs.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES), 0);
  const reads = (await server.requests()).filter(({ path }) => path.includes('/packs/')).length;
  const peakMib = rssMib(gateway.child.pid, 'VmHWM');
  console.log(`gateway: ${2 * files} files of 16 kB: ${reads} requests for packs, at most ${peakMib} MiB`);
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(blocks);
  expect(peakMib).toBeLessThan(RSS_MIB_MAX);
});

it('decompresses each content once for clients that read different ones in turn', async () => {
  const clients = 8;
  const sizeBytes = runBudget({ short: 8, long: 64 }) * MIB;
  // Half as large when it is compressed.
  const contents = Array.from({ length: clients }, (_, at) =>
    Buffer.from(noise(sizeBytes / 2, at).toString('hex')),
  );
  for (const [at, content] of contents.entries()) sandbox.write(`work/${at}.txt`, content);
  await using server = await startVersitygw();
  await using gate = await startRequestGate(server.endpoint);
  const environment = { ...server.environment, AWS_ENDPOINT_URL: gate.endpoint };
  const url = `s3://${server.bucket}/repository`;
  const work = testContext(sandbox.path('work'), { environment });
  await initWorkspace(work, { remoteUrl: url, layout: { chunkAbove: 1024 * MIB }, compression: 'auto' });
  await push(work, {});
  await using gateway = await startDrayGateway({
    parameters: [`data=${url}`, '--anonymous'],
    home: sandbox.path('home'),
    environment,
  });
  let objects = 0;
  gate.hold((request) => {
    if (isObject(request)) objects += 1;
    return false;
  });
  const cpuBefore = cpuSeconds(gateway.child.pid);
  for (let start = 0; start < sizeBytes; start += MIB)
    for (const [at, content] of contents.entries()) {
      const headers = { range: `bytes=${start}-${start + MIB - 1}` };
      const { body } = await ask(gateway.port, `/data/main/${at}.txt`, { headers });
      expect(body.equals(content.subarray(start, start + MIB)), `${at}: ${start}`).toBe(true);
    }
  const cpu = cpuSeconds(gateway.child.pid) - cpuBefore;
  const peakMib = rssMib(gateway.child.pid, 'VmHWM');
  const parts = (clients * sizeBytes) / MIB;
  console.log(`gateway: ${parts} parts of ${clients} compressed files: ${objects} objects were read`);
  console.log(`gateway: ${cpu.toFixed(1)} s of the processor, at most ${peakMib} MiB`);
  expect(objects).toBe(clients);
  expect(peakMib).toBeLessThan(RSS_MIB_MAX);
});

it('reads ahead of a client that reads a large file in order', async () => {
  await using server = await startVersitygw();
  await using slow = await startToxiproxy({ upstream: server.endpoint, latencyMs: 40 });
  await using gate = await startRequestGate(slow.endpoint);
  const environment = { ...server.environment, AWS_ENDPOINT_URL: gate.endpoint };
  const content = noise(24 * MIB);
  sandbox.write('work/large.bin', content);
  const work = testContext(sandbox.path('work'), { environment: server.environment });
  const url = `s3://${server.bucket}/repository`;
  await initWorkspace(work, { remoteUrl: url });
  await push(work, {});
  await using gateway = await startDrayGateway({
    parameters: [`data=${url}`, '--anonymous', '--explain'],
    home: sandbox.path('home'),
    environment,
  });
  await download(gateway.port, '/data/main/missing');
  gate.hold(isDownload, Number.POSITIVE_INFINITY);
  expect(await download(gateway.port, '/data/main/large.bin')).toBe(hash('sha256', content));
  expect(gate.mostInFlight()).toBeGreaterThanOrEqual(4);
});

/**
 * Without the pages of the program's own file. They are 20 to 65 MiB as the kernel likes: it drops them where
 * others need memory. 0 where the system does not say.
 */
function rssMib(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]);
    return Math.round((kib(field) - kib('RssFile')) / 1024);
  } catch {
    return 0;
  }
}

/** Of all its threads. 0 where the system does not say. */
function cpuSeconds(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
