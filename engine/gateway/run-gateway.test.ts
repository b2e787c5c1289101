/** `dray gateway` over pushed repositories: what GetObject and HeadObject answer, and what it refuses. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayRequest } from '../api/jobs/peers.ts';
import { push } from '../jobs/push/push.ts';
import { initWorkspace } from '../jobs/remotes/init.ts';
import { keysBelow, truncateObject } from '../jobs/session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../jobs/session/job.fixture.ts';
import { encodeQuery } from '../remotes/s3/s3-signer.ts';
import { ask, askSigned } from './gateway.fixture.ts';
import { runGateway } from './run-gateway.ts';

const MIB = 1024 * 1024;
const MTIME_S = 1_700_000_000;
const PASSWORD = { DRAY_PASSWORD: 'secret' };

interface Running {
  readonly port: number;
  readonly context: ReturnType<typeof testContext>;
  stop(): Promise<void>;
}

const running: Running[] = [];

async function serve(sandbox: Sandbox, more: Partial<GatewayRequest> = {}): Promise<Running> {
  const stopping = new AbortController();
  const started = Promise.withResolvers<void>();
  const context = testContext(sandbox.folder, {
    environment: { ...PASSWORD, DRAY_CACHE: sandbox.path('cache'), XDG_CONFIG_HOME: sandbox.path('config') },
    signal: stopping.signal,
    emit: (event) => {
      context.events.push(event);
      if (event.type === 'gateway') started.resolve();
    },
  });
  const ended = runGateway(context, {
    repositories: [`data=${sandbox.path('store')}`],
    port: 0,
    isAnonymous: true,
    ...more,
  });
  await Promise.race([started.promise, ended]);
  const { url } = eventsOf(context, 'gateway')[0]!;
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  const gateway = { port: Number(new URL(url).port), context, stop };
  running.push(gateway);
  return gateway;
}

afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
});

/** Bytes that no compression makes smaller. */
function noise(sizeBytes: number, seed: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at * 32 < sizeBytes; at += 1)
    parts.push(createHash('sha256').update(`${seed} ${at}`).digest());
  return Buffer.concat(parts).subarray(0, sizeBytes);
}

const FILES: Readonly<Record<string, Buffer>> = {
  'images/1.jpg': noise(5_000, 'small'),
  'images/2.jpg': noise(7_000, 'small too'),
  'text.csv': Buffer.from('a,b,c\n'.repeat(2_000)),
  'large.bin': noise(3 * MIB + 77, 'large'),
  'chunks.bin': noise(11 * MIB + 5, 'chunks'),
  'log.txt': Buffer.from('a line of text that repeats itself\n'.repeat(200_000)),
  'odd & <näme> +%\n.txt': Buffer.from('odd'),
  empty: Buffer.alloc(0),
};

async function pushFiles(sandbox: Sandbox, compression: 'auto' | 'off', encrypt: boolean): Promise<void> {
  for (const [name, content] of Object.entries(FILES)) {
    const path = sandbox.write(`work/${name}`, content);
    utimesSync(path, MTIME_S, MTIME_S);
  }
  symlinkSync('text.csv', join(sandbox.path('work'), 'link'));
  mkdirSync(join(sandbox.path('work'), 'nothing'));
  const work = testContext(sandbox.path('work'), { environment: PASSWORD });
  const layout = { packBelow: 100_000, chunkAbove: 8 * MIB };
  await initWorkspace(work, { remoteUrl: sandbox.path('store'), layout, compression, encrypt });
  await push(work, {});
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');
const keyOf = (name: string) => `/data/main/${encodePath(name)}`;

describe.each([
  { name: 'plain', compression: 'off', encrypt: false },
  { name: 'compressed', compression: 'auto', encrypt: false },
  { name: 'encrypted', compression: 'auto', encrypt: true },
] as const)('objects of a repository that is $name', ({ compression, encrypt }) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = createSandbox();
    await pushFiles(sandbox, compression, encrypt);
  });
  afterAll(() => sandbox?.[Symbol.dispose]());

  it('are served plain, whole and in ranges, with and without a cache on the disk', async () => {
    for (const cacheBytes of [0, 64 * MIB]) {
      const { port } = await serve(sandbox, { cacheBytes });
      for (const [name, content] of Object.entries(FILES)) {
        const whole = await ask(port, keyOf(name));
        expect([whole.status, whole.headers['content-length']], name).toEqual([200, String(content.length)]);
        expect(whole.body.equals(content), name).toBe(true);
        const { length } = content;
        const ranges = [
          [0, 0],
          [length - 1, length - 1],
          [Math.floor(length / 2), length + 5],
          [Math.max(0, length - 3 * MIB), length - 2],
        ] as const;
        for (const [first, last] of length === 0 ? [] : ranges) {
          const range = `bytes=${first}-${last}`;
          const { body, headers, status } = await ask(port, keyOf(name), { headers: { range } });
          expect([status, body.equals(content.subarray(first, last + 1))], `${name} ${range}`).toEqual([
            206,
            true,
          ]);
          const end = Math.min(last, length - 1);
          expect(headers['content-range']).toBe(`bytes ${first}-${end}/${length}`);
        }
      }
    }
  });

  it('have headers that stay the same, and a checksum on request', async () => {
    const { port } = await serve(sandbox);
    for (const [name, content] of Object.entries(FILES)) {
      const head = await ask(port, keyOf(name), {
        method: 'HEAD',
        headers: { 'x-amz-checksum-mode': 'ENABLED' },
      });
      expect(head.status).toBe(200);
      expect(head.headers).toMatchObject({
        'content-length': String(content.length),
        'accept-ranges': 'bytes',
        'last-modified': new Date(MTIME_S * 1_000).toUTCString(),
      });
      expect((await ask(port, keyOf(name))).headers.etag).toBe(head.headers.etag);
      expect((await ask(port, keyOf(name))).headers['x-amz-checksum-sha256']).toBeUndefined();
      const sum = createHash('sha256').update(content).digest('base64');
      const isChunked = content.length > 8 * MIB;
      if (!isChunked || compression === 'off')
        expect(head.headers['x-amz-checksum-sha256'], name).toBe(isChunked ? undefined : sum);
    }
  });

  it('end early where the store is damaged, and no wrong byte is sent', async () => {
    const { port } = await serve(sandbox, { cacheBytes: 0 });
    const store = sandbox.path('store');
    const kept = new Map<string, Buffer>();
    for (const key of [...keysBelow(store, 'objects'), ...keysBelow(store, 'packs')]) {
      const path = join(store, key);
      kept.set(path, readFileSync(path));
      // The last bytes of an object are those of its last file, or a checksum of it.
      const damaged = Buffer.from(kept.get(path)!);
      damaged[Math.floor(damaged.length / 2)]! ^= 1;
      damaged[damaged.length - 1]! ^= 1;
      writeFileSync(path, damaged);
    }
    try {
      let cut = 0;
      let refused = 0;
      for (const [name, content] of Object.entries(FILES)) {
        const answer = await ask(port, keyOf(name));
        if (answer.status === 500) {
          expect(answer.code).toBe('InternalError');
          refused += 1;
          continue;
        }
        expect(answer.status).toBe(200);
        if (!answer.isCut) expect(answer.body.equals(content), name).toBe(true);
        else {
          cut += 1;
          expect(answer.body.length).toBeLessThan(content.length);
        }
      }
      // Files that are read by one request are refused, and longer ones are cut.
      expect([refused > 0, cut > 0]).toEqual([true, compression === 'off' || cut > 0]);
    } finally {
      for (const [path, content] of kept) writeFileSync(path, content);
    }
    for (const [name, content] of Object.entries(FILES))
      expect((await ask(port, keyOf(name))).body.equals(content), name).toBe(true);
  });

  it('are refused or cut where the store has lost some', async () => {
    const { port } = await serve(sandbox, { cacheBytes: 0 });
    const store = sandbox.path('store');
    const [lost, short] = keysBelow(store, 'objects').sort(
      (left, right) => statSync(join(store, right)).size - statSync(join(store, left)).size,
    ) as [string, string];
    const kept = [lost, short].map((key) => [join(store, key), readFileSync(join(store, key))] as const);
    rmSync(join(store, lost));
    truncateObject(store, short);
    try {
      const answers = await Promise.all(Object.keys(FILES).map((name) => ask(port, keyOf(name))));
      const wrong = Object.values(FILES).filter((content, at) => {
        const { body, isCut, status } = answers[at]!;
        if (status === 200 && !isCut) expect(body.equals(content)).toBe(true);
        return status !== 200 || isCut;
      });
      expect(wrong.length).toBeGreaterThan(0);
    } finally {
      for (const [path, content] of kept) writeFileSync(path, content);
    }
  });
});

describe('the gateway', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = createSandbox();
    await pushFiles(sandbox, 'off', false);
  });
  afterAll(() => sandbox?.[Symbol.dispose]());
  let port: number;
  beforeEach(async () => {
    ({ port } = await serve(sandbox));
  });
  const get = (name: string, headers: Record<string, string> = {}, query = '') =>
    ask(port, `${keyOf(name)}${query}`, { headers });

  it('knows the conditions of HTTP', async () => {
    const { etag = '', 'last-modified': modified = '' } = (await get('text.csv')).headers;
    const later = new Date(MTIME_S * 1_000 + 1_000).toUTCString();
    const earlier = new Date(MTIME_S * 1_000 - 1_000).toUTCString();
    const cases: readonly (readonly [Record<string, string>, number])[] = [
      [{ 'if-match': etag }, 200],
      [{ 'if-match': etag.slice(1, -1) }, 200],
      [{ 'if-match': '*' }, 200],
      [{ 'if-match': '"other"' }, 412],
      [{ 'if-match': `"other", ${etag}` }, 200],
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': `W/${etag}` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"other"' }, 200],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-modified-since': later }, 304],
      [{ 'if-modified-since': earlier }, 200],
      [{ 'if-modified-since': 'never' }, 200],
      [{ 'if-unmodified-since': modified }, 200],
      [{ 'if-unmodified-since': earlier }, 412],
      [{ 'if-match': etag, 'if-unmodified-since': earlier }, 200],
      [{ 'if-none-match': '"other"', 'if-modified-since': later }, 200],
      [{ 'if-match': etag, range: 'bytes=0-1' }, 206],
    ];
    for (const [headers, status] of cases) {
      const answer = await get('text.csv', headers);
      expect([headers, answer.status]).toEqual([headers, status]);
      const code = status === 412 ? 'PreconditionFailed' : undefined;
      expect([answer.code, answer.headers.etag]).toEqual([code, status === 412 ? undefined : etag]);
    }
  });

  it('reads ranges as S3 does', async () => {
    const content = FILES['text.csv']!;
    const { length } = content;
    const cases: readonly (readonly [string, number, Buffer?])[] = [
      ['bytes=5-', 206, content.subarray(5)],
      ['bytes=-5', 206, content.subarray(-5)],
      [`bytes=-${length + 9}`, 206, content],
      [`bytes=0-${'9'.repeat(20)}`, 206, content],
      ['bytes=5-2', 200, content],
      ['bytes=-', 200, content],
      ['bytes=0-1,3-4', 200, content],
      ['lines=0-1', 200, content],
      [`bytes=${length}-`, 416],
      ['bytes=-0', 416],
    ];
    for (const [range, status, expected] of cases) {
      const answer = await get('text.csv', { range });
      expect([range, answer.status]).toEqual([range, status]);
      if (expected) expect(answer.body.equals(expected), range).toBe(true);
      else
        expect([answer.code, answer.headers['content-range']]).toEqual(['InvalidRange', `bytes */${length}`]);
    }
    expect((await get('empty', { range: 'bytes=0-' })).code).toBe('InvalidRange');
    expect((await get('text.csv', {}, '?partNumber=1')).status).toBe(206);
    expect((await get('empty', {}, '?partNumber=1')).status).toBe(200);
    expect((await get('text.csv', {}, '?partNumber=2')).code).toBe('InvalidPartNumber');
    for (const part of ['0', '-1', 'x', '10001'])
      expect((await get('text.csv', {}, `?partNumber=${part}`)).code).toBe('InvalidArgument');
    expect((await get('text.csv', { range: 'bytes=0-1' }, '?partNumber=1')).code).toBe('InvalidRequest');
  });

  it('sets the headers that a URL asks for, and no others', async () => {
    const asked = {
      'response-content-type': 'text/plain',
      'response-content-disposition': 'attachment; filename="a"',
      'response-cache-control': 'no-store',
    };
    const { headers } = await get('text.csv', {}, `?${encodeQuery(asked)}`);
    expect(headers).toMatchObject({
      'content-type': 'text/plain',
      'content-disposition': 'attachment; filename="a"',
      'cache-control': 'no-store',
    });
    for (const value of ['a\r\nset-cookie: b', 'a\0', '\u{1f600}'])
      expect((await get('text.csv', {}, `?${encodeQuery({ 'response-expires': value })}`)).code).toBe(
        'InvalidArgument',
      );
    expect((await get('text.csv', {}, '?response-set-cookie=a')).headers['set-cookie']).toBeUndefined();
  });

  it('serves empty files and folders, and no links and no names that are not there', async () => {
    expect(await get('empty')).toMatchObject({ status: 200, isCut: false });
    expect(await ask(port, '/data/main/nothing/')).toMatchObject({ status: 200 });
    const absent = ['link', 'images', 'images/', 'images/3.jpg', 'nothing', '../main/text.csv', 'a\0', ''];
    for (const name of absent) expect([name, (await get(name)).code]).toEqual([name, 'NoSuchKey']);
    for (const path of [
      '/data/none/text.csv',
      '/data/main',
      '/data/../data/main/text.csv',
      '/data/%2e%2e/dray.json',
      '/data/refs/heads/main',
      '/data/heads/main/text.csv',
      `/data/${'0'.repeat(64)}/text.csv`,
    ])
      expect([path, (await ask(port, path)).code]).toEqual([path, 'NoSuchKey']);
    for (const path of [
      '/etc/passwd',
      '/../etc/passwd',
      '//etc/passwd',
      '/%2e%2e/store',
      '/data%2fmain%2ftext.csv/',
    ])
      expect([path, [403, 404].includes((await ask(port, path)).status)]).toEqual([path, true]);
    expect((await ask(port, `/data/main/${'a'.repeat(1_300)}`)).code).toBe('KeyTooLongError');
    expect((await ask(port, '/data/main/%ff')).code).toBe('InvalidURI');
    const body = (await ask(port, '/data/main/%01%3cb%3e')).body.toString();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow them
    expect(body).not.toMatch(/[\x00-\x08]|<b>/);
  });

  it('answers what clients ask before they read', async () => {
    expect((await ask(port, '/')).body.toString()).toContain('<Name>data</Name>');
    expect((await ask(port, '/data', { method: 'HEAD' })).status).toBe(200);
    expect((await ask(port, '/data/?location')).body.toString()).toContain('LocationConstraint');
    expect((await ask(port, '/data?versioning')).body.toString()).toContain('VersioningConfiguration');
    const missing = await ask(port, '/other', { method: 'HEAD' });
    expect([missing.status, missing.body.length]).toEqual([404, 0]);
    expect((await ask(port, '/data/main/text.csv?acl')).code).toBe('NotImplemented');
  });

  it('takes the bucket from a name before .localhost, and from no other name', async () => {
    const key = '/main/text.csv';
    const status = async (path: string, host: string) =>
      (await ask(port, path, { headers: { host } })).status;
    expect(await status(key, 'data.localhost')).toBe(200);
    expect(await status(key, `data.localhost:${port}`)).toBe(200);
    expect(await status(`/data${key}`, `localhost:${port}`)).toBe(200);
    expect(await status(`/data${key}`, `[::1]:${port}`)).toBe(200);
    // A page of the web whose name leads to this machine.
    expect(await status(`/data${key}`, 'data.example.com')).toBe(403);
  });

  it('refuses every call that writes, and the connection stays in step', async () => {
    const calls: readonly (readonly [string, string])[] = [
      ['PUT', '/data/main/new'],
      ['PUT', '/data/main/new?partNumber=1&uploadId=a'],
      ['POST', '/data/main/new?uploads'],
      ['POST', '/data?delete'],
      ['DELETE', '/data/main/text.csv'],
      ['PUT', '/other'],
      ['DELETE', '/data'],
      ['PATCH', '/data/main/text.csv'],
      ['OPTIONS', '/data'],
    ];
    for (const [method, path] of calls) {
      const answer = await ask(port, path, { method, body: 'body', headers: { 'content-length': '4' } });
      expect([method, answer.status, answer.code]).toEqual([method, 403, 'AccessDenied']);
    }
    const smuggled = 'GET /data?location HTTP/1.1\r\nhost: localhost\r\n\r\n';
    for (const expects of ['', 'expect: 100-continue\r\n']) {
      const text = await converse(
        `PUT /data/main/new HTTP/1.1\r\nhost: localhost\r\n${expects}content-length: ${smuggled.length}\r\n\r\n${smuggled}`,
      );
      expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 403']);
      expect(text).not.toContain('100 Continue');
    }
    expect((await get('text.csv')).status).toBe(200);
  });

  /** All that the gateway says to these bytes until it closes. */
  function converse(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes));
      socket.on('data', (piece) => {
        text += piece.toString('latin1');
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
  }

  it('makes its keys once, shows the secret one then, and refuses all that is not signed by them', async () => {
    const first = await serve(sandbox, { isAnonymous: false });
    const [made] = eventsOf(first.context, 'gateway');
    const secretAccessKey = made!.secretAccessKey!;
    const accessKeyId = made!.accessKeyId!;
    await first.stop();
    expect(statSync(made!.keptIn!).mode & 0o077).toBe(0);
    const second = await serve(sandbox, { isAnonymous: false });
    const [again] = eventsOf(second.context, 'gateway');
    expect([again!.accessKeyId, again!.secretAccessKey]).toEqual([accessKeyId, undefined]);
    const signed = (path: string, secret: string) =>
      askSigned(second.port, path, { accessKeyId, secretAccessKey: secret });
    for (const path of ['/', '/data', '/data/main/text.csv']) {
      expect((await ask(second.port, path)).code).toBe('AccessDenied');
      expect((await signed(path, 'wrong')).code).toBe('SignatureDoesNotMatch');
      expect((await signed(path, secretAccessKey)).status).toBe(200);
    }
    expect((await ask(second.port, '/other')).code).toBe('AccessDenied');
  });

  it('names a bucket as its repository, and asks for a name where that cannot be', async () => {
    const at = (name: string) => sandbox.path(name, 'store');
    const refusal = (...repositories: string[]) =>
      serve(sandbox, { repositories }).catch((error) => error.message as string);
    expect(await refusal(sandbox.path('My_Birds'))).toContain('"My_Birds" cannot name a bucket');
    expect(await refusal(at('a'), at('b'))).toContain('Two repositories would be the bucket store');
    expect(await refusal(`same=${at('a')}`, `same=${at('b')}`)).toContain('the bucket same');
    const own = sandbox.path('store');
    const { port: other } = await serve(sandbox, { repositories: [`my.birds-2=${own}`, `birds=${own}`] });
    const get = async (path: string, host: string) => (await ask(other, path, { headers: { host } })).status;
    expect(await get('/my.birds-2/main/text.csv', 'localhost')).toBe(200);
    expect(await get('/main/text.csv', 'my.birds-2.localhost')).toBe(200);
    expect(await get('/main/text.csv', 'Birds.LocalHost')).toBe(200);
    expect(await get('/BIRDS/main/text.csv', 'localhost')).toBe(404);
  });

  it('refuses to listen where others could read', async () => {
    const refusal = (request: Partial<GatewayRequest>) =>
      serve(sandbox, { host: '0.0.0.0', isAnonymous: false, ...request }).catch((error) => error);
    expect(await refusal({})).toMatchObject({ code: 'usage' });
    expect(await refusal({ isAnonymous: true, isInsecure: true })).toMatchObject({ code: 'usage' });
    expect(await refusal({ host: '127.0.0.1', repositories: ['A_B=x'] })).toMatchObject({ code: 'usage' });
    expect(await refusal({ host: '127.0.0.1', repositories: [sandbox.path('work')] })).toMatchObject({
      code: 'notFound',
    });
  });
});
