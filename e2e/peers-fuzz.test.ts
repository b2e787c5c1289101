/**
 * A hundred thousand requests that no client of Dray would send, over bare sockets, to the real command. It answers each, or closes the
 * connection where nothing can be made of it, and lives on; nothing outside what it offers changes, and nothing without the token.
 *
 * DRAY_FUZZ_SEED and DRAY_FUZZ_REQUESTS choose others.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../engine/jobs/job-fixture.ts';
import { describeTree } from '../engine/jobs/same-trees.ts';

const SEED = Number(process.env.DRAY_FUZZ_SEED ?? 20_261_121);
const REQUESTS = Number(process.env.DRAY_FUZZ_REQUESTS ?? 100_000);
const AT_ONCE = 8;
const TOKEN = 'token-of-the-tests-that-is-long-enough';
const MIB = 1024 * 1024;
const RSS_BYTES_MAX = 400 * MIB;
/** Only requests without the token name it. */
const GUARDED = 'guarded';
/** Named by no body, so that nothing removes it. */
const READ_ONLY = 'kept/file';

let sandbox: Sandbox;
let server: ChildProcess;
let port: number;

beforeAll(async () => {
  sandbox = createSandbox();
  writeFileSync(sandbox.path('token'), TOKEN, { mode: 0o600 });
  sandbox.write('outside/secret', 'not offered');
  for (const name of ['a', 'folder/b', 'folder/deep/c', `${GUARDED}/d`, READ_ONLY])
    sandbox.write(`offered/${name}`, `content of ${name}`);
  mkdirSync(sandbox.path('offered/empty'));
  symlinkSync(sandbox.path('outside'), sandbox.path('offered/out'));
  symlinkSync('../../outside/secret', sandbox.path('offered/folder/leak'));
  symlinkSync('circle', sandbox.path('offered/circle'));
  const main = fileURLToPath(new URL('../app/cli/main.ts', import.meta.url));
  const parameters = ['serve', sandbox.path('offered'), '--listen', '127.0.0.1:0', '--json'];
  server = spawn(process.execPath, [main, ...parameters, '--token-file', sandbox.path('token')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready: Buffer = await new Promise((resolve) => server.stdout!.once('data', resolve));
  port = Number(new URL((JSON.parse(String(ready)) as { url: string }).url).port);
});
afterAll(async () => {
  if (server?.exitCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
  }
  sandbox?.[Symbol.dispose]();
});

/** Mulberry32: the same numbers everywhere. */
function createDice(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    chance: (share: number) => next() < share,
    pick: <T>(choices: readonly T[]): T => choices[below(choices.length)]!,
    bytes: (length: number) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
type Dice = ReturnType<typeof createDice>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;
const ROUTES = [
  ...['', 'entries', 'content', 'read', 'write', 'remove', 'touch', 'keep', 'deltas', 'uploads', 'objects'],
  ...['deltas/1', 'deltas/1/sign', 'deltas/1/write', 'deltas/1/complete', 'uploads/1', 'uploads/1/complete'],
  ...['uploads/x/state', 'uploads/-1/holes', 'uploads/99999999999999999999', 'deltas/__proto__/read'],
  ...['head', 'get', 'put', 'list', 'delete', 'copy', 'create', 'uploadPart', 'complete', 'constructor'].map(
    (call) => `objects/${call}`,
  ),
  ...['a/b/c/d/e', '%2e%2e', '..', '//', 'content/%00', 'ünknown'],
];
/** What there is. */
const REQUESTS_KNOWN = [
  ...['GET entries', 'GET content', 'HEAD content', 'GET content', 'POST read', 'POST write', 'POST remove'],
  ...[
    'POST keep',
    'POST touch',
    'POST deltas',
    'POST uploads',
    'PUT uploads/1',
    'POST uploads/1/complete',
    'GET ',
  ],
  ...['POST objects/put', 'POST objects/get', 'POST objects/list', 'POST objects/head', 'POST deltas/1/sign'],
].map((known) => known.split(' ') as [string, string]);
const PATHS = [
  ...['a', 'folder/b', 'folder', 'empty/', 'new', 'folder/new/deep', 'out/secret', 'out/made', 'folder/leak'],
  ...[
    'circle/x',
    '../outside/secret',
    'folder/../../outside/secret',
    '..',
    '.',
    './a',
    '',
    '/',
    '/etc/passwd',
  ],
  ...['a//b', 'a/', 'a/b', '.dray-tmp', '.dray-tmp/x', '.DRAY-TMP/x', 'folder/.dray-tmp/x', 'x\0y', 'C:\\x'],
  ...[
    '..\\outside\\secret',
    '\\\\host\\share',
    'CON',
    'x'.repeat(5_000),
    'd/'.repeat(2_000),
    'e'.repeat(300),
  ],
  ...['\u202egnp.exe', '\ud800', 'e\u0301', 'n\nl', '%2e%2e%2foutside%2fsecret', 'out/../a'],
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '1e9',
  '0x10',
  'NaN',
  '',
  '99999999999999999999',
  '4294967296',
  '1.5',
  ' 1',
  '1,2',
];
const OTHER_TOKENS = ['', 'x', TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.replace('t', 'T'), 'x'.repeat(3_000)];
const HOSTS = [
  '127.0.0.1',
  '[::1]',
  'localhost',
  'evil.example',
  '',
  'a b',
  '127.0.0.1:99999999',
  'x'.repeat(300),
];

/** After these the connection is closed, or another protocol would follow. */
const ENDING = /^(?:expect|upgrade|connection): /m;

interface Shot {
  readonly bytes: Buffer;
  /** Nothing can follow it on its connection: its frame is broken, or its body is not waited for. */
  readonly isLast: boolean;
  readonly hasToken: boolean;
  readonly label: string;
}

function createShot(dice: Dice): Shot {
  const hasToken = dice.chance(0.7);
  const [method, route] = dice.chance(0.6)
    ? dice.pick(REQUESTS_KNOWN)
    : [dice.pick(METHODS), dice.pick(ROUTES)];
  const prefix = dice.chance(0.95) ? 'v1' : dice.pick(['v0', 'v2', '', 'v1v1', '%76%31']);
  const query = queryOf(dice, hasToken);
  const target = `/${prefix}/${encodeRoute(route)}${query}`;
  const headers = headersOf(dice, hasToken);
  const body = dice.chance(method === 'POST' || method === 'PUT' ? 0.6 : 0.1)
    ? bodyOf(dice, hasToken)
    : undefined;
  const isBroken = dice.chance(0.02);
  if (body) headers.push(['content-length', String(body.length + (dice.chance(0.05) ? dice.below(50) : 0))]);
  const text = isBroken
    ? breakFrame(dice, method, target)
    : `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return {
    bytes: Buffer.concat([Buffer.from(text, 'latin1'), body ?? Buffer.alloc(0)]),
    isLast: isBroken || body !== undefined || text.length > 8_000 || ENDING.test(text),
    hasToken: hasToken && !isBroken,
    label: `${method} ${target.slice(0, 200)}`,
  };
}

function encodeRoute(route: string): string {
  return Buffer.from(route)
    .toString('latin1')
    .replaceAll(/[^!-~]/g, '%C3');
}

function pathOf(dice: Dice, hasToken: boolean): string {
  return hasToken
    ? dice.pick(PATHS)
    : dice.pick([`${GUARDED}/d`, `${GUARDED}/new`, GUARDED, ...PATHS.slice(0, 3)]);
}

function queryOf(dice: Dice, hasToken: boolean): string {
  const parts: string[] = [];
  const path = () => encodePath(dice, dice.chance(0.3) && hasToken ? READ_ONLY : pathOf(dice, hasToken));
  if (dice.chance(0.8)) parts.push(`path=${path()}`);
  if (dice.chance(0.2)) parts.push(`at=${dice.chance(0.5) ? path() : dice.pick(NUMBERS)}`);
  for (const name of ['after', 'limit', 'folded', 'sums', 'path', '__proto__'])
    if (dice.chance(0.08))
      parts.push(`${name}=${encodeURIComponent(dice.pick([...NUMBERS, 'crc64nvme', 'a']))}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** As a browser would, or hardly at all, or twice. */
function encodePath(dice: Dice, path: string): string {
  const once = encodeURIComponent(path.toWellFormed());
  if (dice.chance(0.1)) return encodeURIComponent(once);
  if (dice.chance(0.1)) return once.replaceAll('%2F', '/').replaceAll('..', '%2e%2E');
  if (dice.chance(0.05)) return `${once}%ff%fe`;
  return dice.chance(0.05) ? `${once}%zz` : once;
}

function headersOf(dice: Dice, hasToken: boolean): [string, string][] {
  const headers: [string, string][] = [['host', dice.chance(0.9) ? `127.0.0.1:${port}` : dice.pick(HOSTS)]];
  if (hasToken) headers.push(['authorization', `Bearer ${TOKEN}`]);
  else if (dice.chance(0.7))
    headers.push(['authorization', `${dice.pick(['Bearer', 'Basic'])} ${dice.pick(OTHER_TOKENS)}`]);
  const more: readonly [string, readonly string[]][] = [
    ['origin', ['http://evil.example', 'null']],
    [
      'range',
      ['bytes=0-3', 'bytes=3-0', 'bytes=-1', 'bytes=0-1,3-4', 'bytes=99999999999999999999-', 'lines=1'],
    ],
    ['if-match', ['*', '"x"', '', '"'.repeat(50)]],
    ['dray-head-bytes', NUMBERS],
    ['dray-crc64nvme', [...NUMBERS, '0123456789abcdef', 'z'.repeat(16)]],
    ['dray-mtime-ns', NUMBERS],
    ['expect', ['100-continue', '200-maybe']],
    ['upgrade', ['websocket', 'h2c']],
    ['connection', ['keep-alive', 'upgrade']],
    ['x-filler', ['f'.repeat(4_000), '\u00ff']],
  ];
  for (const [name, values] of more)
    if (dice.chance(name === 'range' ? 0.25 : 0.05)) headers.push([name, dice.pick(values)]);
  return headers;
}

function bodyOf(dice: Dice, hasToken: boolean): Buffer {
  const path = pathOf(dice, hasToken);
  const item = {
    kind: dice.pick(['file', 'link', 'folder', 'pipe', '']),
    path,
    sizeBytes: dice.pick([0, 3, -1, 2 ** 53]),
  };
  const values: readonly unknown[] = [
    { paths: [path] },
    { paths: path },
    { paths: Array.from({ length: 50 }, () => pathOf(dice, hasToken)) },
    { items: [{ ...item, mtimeNs: '0', crc64: '0000000000000000' }] },
    { items: [{ ...item, target: dice.pick(PATHS) }] },
    {
      path,
      mtimeNs: dice.pick(NUMBERS),
      mode: dice.pick([0o644, 0o7777, -1, 1e300]),
      rangeBytes: dice.pick([1, 65_536, 0]),
    },
    {
      side: dice.pick(['source', 'target', 'both']),
      path,
      hash: dice.pick(['xxh3', 'md5', 'rot13']),
      seed: 0,
      blockBytes: 4_096,
    },
    { fromPath: pathOf(dice, hasToken), to: path },
    { key: path, keys: [path], prefix: path, limit: dice.pick([1, -1, 1e9]) },
    [[[]]],
    null,
    '__proto__',
    { ['__proto__']: { isReadOnly: false }, constructor: 1 },
  ];
  switch (dice.below(6)) {
    case 0:
      return dice.bytes(dice.below(200));
    case 1:
      return Buffer.from('['.repeat(dice.pick([10, 5_000, 100_000])));
    case 2: {
      const text = JSON.stringify(dice.pick(values));
      return Buffer.from(text.slice(0, dice.below(text.length)));
    }
    default:
      return Buffer.from(`${JSON.stringify(dice.pick(values))}${dice.chance(0.2) ? 'abc' : ''}`);
  }
}

function breakFrame(dice: Dice, method: string, target: string): string {
  const good = `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
  return dice.pick([
    `${method} ${target} HTTP/9.9\r\n\r\n`,
    `BREW ${target} HTTP/1.1\r\nhost: x\r\n\r\n`,
    `${method} ${target}\r\n\r\n`,
    `${good}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd`,
    `${good}content-length: -1\r\n\r\n`,
    `${good}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${good}transfer-encoding: chunked\r\n\r\nZZ\r\nabc`,
    `${good}transfer-encoding: gzip, chunked\r\n\r\n`,
    `${good}no colon here\r\n\r\n`,
    `${good}: nameless\r\n\r\n`,
    `${good}x-long: ${'y'.repeat(40_000)}\r\n\r\n`,
    `${good}${'x-many: 1\r\n'.repeat(3_000)}\r\n`,
    `\u0016\u0003\u0001\u0002\u0000${'\u0001'.repeat(60)}`,
    '\r\n'.repeat(20),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ]);
}

/** Sends them down one connection and closes its own side; gives the statuses that came until the server closed its own. */
function fire(shots: readonly Shot[]): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const over = () => {
      socket.destroy();
      const text = Buffer.concat(pieces).toString('latin1');
      resolve(
        [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)]
          .map(([, status]) => Number(status))
          .filter((status) => status !== 100),
      );
    };
    socket.setTimeout(30_000, () =>
      reject(new Error(`No answer within 30 s to one of ${shots.map(({ label }) => label).join(' | ')}`)),
    );
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('end', over);
    // What the server does not want to read is cut off.
    socket.on('error', over);
    socket.end(Buffer.concat(shots.map(({ bytes }) => bytes)));
  });
}

function rssBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

const good = (path: string) =>
  fetch(`http://127.0.0.1:${port}/v1/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });

describe.skipIf(process.platform !== 'linux')('requests that no client sends', () => {
  it('are answered, change nothing that they must not, and leave the server whole', async () => {
    const dice = createDice(SEED);
    const outside = describeTree(sandbox.path('outside'));
    const guarded = describeTree(sandbox.path(`offered/${GUARDED}`));
    const seen = new Map<number, number>();
    const wrong: string[] = [];
    let sent = 0;
    const volley = async () => {
      while (sent < REQUESTS) {
        const shots: Shot[] = [];
        do shots.push(createShot(dice));
        while (!shots.at(-1)!.isLast && shots.length < 40);
        sent += shots.length;
        const statuses = await fire(shots);
        for (const [at, status] of statuses.entries()) {
          seen.set(status, (seen.get(status) ?? 0) + 1);
          const shot = shots[at];
          const isRefused = status >= 400 && status < 500;
          const isRight = isRefused || (shot?.hasToken && (status < 300 || status === 501));
          if (!isRight)
            wrong.push(`${status} for ${shot?.label} ${shot?.hasToken ? 'with' : 'without'} the token`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, volley));

    const counts = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    console.log(`peer fuzz: ${sent} requests sent, seed ${SEED}; answered ${counts.join(', ')}`);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(server.exitCode).toBeNull();
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    // Most are heard out, and some of each kind get through: it is the routes that are tried, and not the door alone.
    const answered = [...seen.values()].reduce((sum, count) => sum + count, 0);
    expect(answered).toBeGreaterThan(0.9 * sent);
    for (const status of [200, 206, 400, 401, 403, 404, 422])
      expect(seen.get(status) ?? 0, `${status}`).toBeGreaterThan(10);

    expect(describeTree(sandbox.path('outside'))).toEqual(outside);
    expect(describeTree(sandbox.path(`offered/${GUARDED}`))).toEqual(guarded);
    expect(await (await good(`content?path=${GUARDED}/d`)).text()).toBe(`content of ${GUARDED}/d`);
    expect((await good('entries?path=')).status).toBe(200);
    expect(rssBytes()).toBeLessThan(RSS_BYTES_MAX);
  }, 300_000);
});
