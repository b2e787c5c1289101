/**
 * Requests for fuzzing a peer, as bytes drawn from a seed: most are wrong in one or several ways, some are
 * right.
 */
import { crc64Nvme, formatCrc64, loadCrc64 } from '../../engine/checksums/crc64-nvme.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';

export interface FuzzRequest {
  readonly bytes: Buffer;
  readonly hasToken: boolean;
  readonly isHead: boolean;
  /** True when its body is shorter than announced, so the connection must end. */
  readonly isCut: boolean;
}

export const FUZZ_TOKEN = 'token-of-the-fuzz-that-is-long-enough';
export const SECRET = 'SECRET-THAT-IS-NOT-OFFERED';
/** A word in every path of a request without permission. */
export const UNWELCOME = 'unwelcome';
const REQUESTS_IN_CONVERSATION_MAX = 48;

await loadCrc64();

/** The requests of one connection. A request that breaks the framing, or is cut, comes last. */
export function conversation(seed: number): readonly FuzzRequest[] {
  const draw = drawFrom(seed);
  const requests: FuzzRequest[] = [];
  const count = 1 + draw.below(REQUESTS_IN_CONVERSATION_MAX);
  while (requests.length < count) {
    const { endsConnection, ...request } = drawRequest(draw);
    requests.push(request);
    if (endsConnection) break;
  }
  return requests;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'] as const;
const ID = '0123456789abcdef0123456789abcdef';
const ROUTES = [
  '',
  'entries',
  'content',
  'read',
  'write',
  'remove',
  'keep',
  'touch',
  'uploads',
  `uploads/${ID}`,
  `uploads/${ID}/complete`,
  `uploads/${ID}/state`,
  'deltas',
  `deltas/${ID}`,
  `deltas/${ID}/write`,
  `deltas/${ID}/__proto__`,
  'objects/put',
  'objects/get',
  'objects/list',
  'objects/delete',
  'objects/copy',
  'objects/create',
  'objects/uploadPart',
  'objects/complete',
  'objects/constructor',
  'objects/abort',
  'objects/listUploads',
  'nothing',
  'content/x/y/z',
] as const;
const STRANGE_PATHS = [
  '..',
  '../outside/secret',
  '../../../../etc/passwd',
  'play/../../outside/secret',
  'way-out/secret',
  'way-out',
  'secret',
  'way-out/new',
  '/etc/passwd',
  '//etc/passwd',
  './play',
  'play//x',
  'play/.',
  '',
  '/',
  '.dray-tmp',
  '.dray-tmp/x',
  '.dray-tmp/../kept/1',
  '.dray/config',
  'play/.dray/x',
  'nul\0byte',
  'C:\\Windows\\win.ini',
  '\\\\host\\share',
  'play\\..\\..\\outside',
  'play/CON',
  'play/x:stream',
  'play/trailing. ',
  'a'.repeat(300),
  `${'d/'.repeat(2000)}x`,
  'x'.repeat(5000),
  '\u202egnp.exe',
  'play/\ud800',
  '%2e%2e/outside/secret',
  '..%2foutside%2fsecret',
] as const;
const RAW_TARGETS = [
  '/',
  '*',
  '//',
  '/v1',
  '/v2/',
  '/v1/../v1/entries',
  '/v1/%2e%2e/%2e%2e/etc/passwd',
  '/v1/content?path=%',
  '/v1/content?path=%ff%fe',
  '/v1/content?path=%00',
  '/v1/content?path=..%2f..%2foutside%2fsecret',
  '/v1/content?path=%252e%252e%252foutside',
  '/v1/entries?path=way-out',
  '/v1/entries?after=%00&limit=-1',
  '/v1/entries?limit=99999999999',
  '/v1/entries?path=play&folded=1&after=\u00ff',
  '/v1/content?path=a&path=../outside/secret',
  'http://other.example/v1/entries',
  'http://[::1',
  'http://',
  '/v1/uploads/../write',
  '/v1/objects/put?at=../outside',
  '/v1/objects/list?at=way-out',
  '/v1/objects/__proto__',
  '/v1/deltas/__proto__/sign',
  '/v1/content?sums=crc64nvme&path=kept/1',
  '/v1/content?path=kept/2',
  '/v1/entries',
  '/v1/',
] as const;

type Drawn = FuzzRequest & { readonly endsConnection: boolean };

function drawRequest(draw: Draw): Drawn {
  const hasToken = draw.chance(60);
  if (draw.chance(4)) return breakFraming(draw);
  const { body, head, method, target } = draw.chance(45)
    ? drawKnown(draw, hasToken)
    : drawAny(draw, hasToken);
  const headers = drawHeaders(draw, hasToken);
  if (head !== undefined) headers.push(`Dray-Head-Bytes: ${head}`);
  const lies = body.length > 0 && draw.chance(5);
  const announced = lies ? draw.of([body.length + 1 + draw.below(9999), body.length * 3]) : body.length;
  if (body.length > 0 || draw.chance(20)) headers.push(`Content-Length: ${announced}`);
  const bytes = Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1'),
    body,
  ]);
  // The server refuses it before it reads the body, which ends the connection.
  return { bytes, hasToken, isHead: method === 'HEAD', isCut: lies, endsConnection: lies };
}

function drawHeaders(draw: Draw, hasToken: boolean): string[] {
  const headers = [
    `Host: ${draw.chance(96) ? '127.0.0.1:7370' : draw.of(['evil.example', '', '[', 'a b', '127.0.0.1:99999999'])}`,
  ];
  if (hasToken) headers.push(`Authorization: Bearer ${FUZZ_TOKEN}`);
  else if (draw.chance(60))
    headers.push(
      `Authorization: ${draw.of([
        'Bearer',
        'Bearer ',
        `Bearer ${FUZZ_TOKEN.slice(1)}`,
        `Bearer ${FUZZ_TOKEN}x`,
        `Basic ${FUZZ_TOKEN}`,
        FUZZ_TOKEN,
        `Bearer ${FUZZ_TOKEN.toUpperCase()}`,
        `Bearer x${FUZZ_TOKEN.slice(1)}`,
        `Bearer ${'z'.repeat(9000)}`,
        `Bearer ${FUZZ_TOKEN} x`,
      ])}`,
    );
  if (draw.chance(3)) headers.push('Origin: https://evil.example');
  if (draw.chance(8))
    headers.push(
      `Range: ${draw.of(['bytes=0-3', 'bytes=5-2', 'bytes=-1', 'bytes=0-1,3-4', 'bytes=9999999-', 'lines=1', 'bytes=99999999999999-999999999999999'])}`,
    );
  if (draw.chance(5)) headers.push(`If-Match: ${draw.of(['*', '"x"', '""', '"'])}`);
  if (draw.chance(5)) headers.push(`Dray-Crc64nvme: ${draw.of(['0', 'zz', '0000000000000000', '-1'])}`);
  if (draw.chance(5)) headers.push(`X-Filler: ${'f'.repeat(draw.below(4000))}`);
  if (draw.chance(2)) headers.push('Expect: 100-continue');
  if (draw.chance(2)) headers.push('Connection: upgrade', 'Upgrade: websocket');
  return headers;
}

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body: Buffer;
  readonly head?: number | string;
}

/** Any method at any address, with any body. */
function drawAny(draw: Draw, hasToken: boolean): Asked {
  const method = draw.of(METHODS);
  const query = draw.chance(60)
    ? `?path=${encodeAny(drawPath(draw, hasToken))}`
    : draw.of(['', '?', '?at=0', '?at=way-out', '?at=-1&at=x', `?${'q'.repeat(900)}`]);
  const target = draw.chance(30) ? draw.of(RAW_TARGETS) : `/v1/${draw.of(ROUTES)}${query}`;
  const body = draw.chance(method === 'GET' || method === 'HEAD' ? 5 : 60)
    ? drawBody(draw, hasToken)
    : Buffer.alloc(0);
  return {
    method,
    target,
    body,
    ...(draw.chance(10) ? { head: draw.of(['-1', '1e9', 'x', '0', '4', '']) } : {}),
  };
}

function drawBody(draw: Draw, hasToken: boolean): Buffer {
  const path = drawPath(draw, hasToken);
  const text = draw.of([
    '{}',
    '[]',
    'null',
    '{',
    '"',
    '{"paths":[]}',
    '{"paths":null}',
    `{"paths":[${'"x",'.repeat(200)}"x"]}`,
    `${'['.repeat(5000)}`,
    '{"__proto__":{"x":1}}',
    JSON.stringify({ paths: [path] }),
    JSON.stringify({ path, mtimeNs: '99999999999999999999' }),
    JSON.stringify({ from: path, to: '../x' }),
    JSON.stringify({ side: 'target', path, hash: 'md6', seed: 'x', blockBytes: -1 }),
    JSON.stringify({ path, sizeBytes: -1, mtimeNs: 'x' }),
    JSON.stringify({ path, sizeBytes: 1e300, mtimeNs: '0', rangeBytes: 65_536 }),
    JSON.stringify({ key: path }),
    JSON.stringify({ keys: [path, 7] }),
  ]);
  if (draw.chance(25)) return draw.noise(1 + draw.below(200));
  const bytes = Buffer.from(text);
  return draw.chance(15) ? bytes.subarray(0, 1 + draw.below(bytes.length)) : bytes;
}

/** A request of the protocol with strange or good paths in it. */
function drawKnown(draw: Draw, hasToken: boolean): Asked {
  const path = drawPath(draw, hasToken);
  const json = (target: string, value: unknown): Asked => ({
    method: 'POST',
    target,
    body: Buffer.from(JSON.stringify(value)),
  });
  const content = draw.noise(draw.below(64));
  switch (draw.below(11)) {
    case 0:
      return {
        method: draw.of(['GET', 'HEAD']),
        target: `/v1/content?path=${encodeAny(path)}`,
        body: Buffer.alloc(0),
      };
    case 1:
      return {
        method: 'GET',
        target: `/v1/entries?path=${encodeAny(path)}&limit=${1 + draw.below(5)}`,
        body: Buffer.alloc(0),
      };
    case 2:
      return json('/v1/read', { paths: [path, 'kept/3', drawPath(draw, hasToken)] });
    case 3:
      return drawBatch(draw, path, content);
    case 4:
      return json('/v1/remove', { paths: [path] });
    case 5:
      return json('/v1/touch', {
        path,
        mtimeNs: draw.of(['0', '1600000000000000000', '-1']),
        ...(draw.chance(30) ? { mode: 0o644 } : {}),
      });
    case 6:
      return json('/v1/keep', { from: draw.of([path, 'kept/4']), to: drawPath(draw, hasToken) });
    case 7:
      // Few different contents, so that the same upload is begun repeatedly.
      return json('/v1/uploads', {
        path: `play/${hasToken ? '' : UNWELCOME}large${draw.below(8)}`,
        sizeBytes: 200_000,
        mtimeNs: '0',
        rangeBytes: 65_536,
        content: 'c',
      });
    case 8:
      return json('/v1/uploads', {
        path,
        sizeBytes: 100,
        mtimeNs: '0',
        rangeBytes: draw.of([1, 65_535, 1e12]),
        content: 'c',
      });
    case 9:
      return drawObject(draw, path, content);
    default:
      return json(`/v1/deltas/${ID}/${draw.of(['sign', 'write', 'begin', 'complete', 'toString'])}`, {
        start: 0,
        end: draw.of([1, -1, 1e15]),
      });
  }
}

function drawBatch(draw: Draw, path: string, content: Buffer): Asked {
  const crc64 = draw.chance(70) ? formatCrc64(crc64Nvme(content)) : '0123456789abcdef';
  const sizeBytes = draw.chance(80) ? content.length : draw.of([0, -1, 1e15, content.length + 1]);
  const item = draw.of([
    { kind: 'file', path, sizeBytes, mtimeNs: '1600000000000000000', crc64 },
    { kind: 'link', path, target: draw.of(['kept/1', '../outside/secret', '', 'x\0y']) },
    { kind: 'folder', path },
    { kind: 'device', path },
  ]);
  const head = Buffer.from(JSON.stringify({ items: [item] }));
  const said = draw.chance(85) ? head.length : draw.of([0, -1, head.length + 1, 1e9, '0x10', 'NaN']);
  return {
    method: 'POST',
    target: '/v1/write',
    body: Buffer.concat([head, item.kind === 'file' ? content : Buffer.alloc(0)]),
    head: said,
  };
}

function drawObject(draw: Draw, key: string, content: Buffer): Asked {
  const call = draw.of(['head', 'get', 'put', 'list', 'delete', 'copy', 'listParts', 'abort'] as const);
  const input = {
    head: { key },
    get: {
      key,
      range: draw.of([
        { start: 0, end: 4 },
        { start: 9, end: 2 },
      ]),
    },
    put: { key },
    list: { prefix: draw.of([key, '', '../', '/']), delimiter: '/' },
    delete: { keys: [key] },
    copy: { from: key, to: draw.of([key, '../outside/new', 'way-out/new']) },
    listParts: { key, uploadId: draw.of(['../../outside', ID, '']) },
    abort: { key, uploadId: draw.of(['../../outside', ID, '/']) },
  }[call];
  const head = Buffer.from(JSON.stringify(input));
  const at = draw.of(['play', 'play', 'play/store', '../outside', 'way-out', '.dray-tmp', '/']);
  return {
    method: 'POST',
    target: `/v1/objects/${call}?at=${encodeAny(at)}`,
    body: Buffer.concat([head, content]),
    head: draw.chance(85) ? head.length : draw.of(['-1', '0', 'x']),
  };
}

/**
 * Without the token, requests name paths that would show if they were written. With it, some paths are valid.
 * No request changes `kept/`.
 */
function drawPath(draw: Draw, hasToken: boolean): string {
  if (!hasToken) return draw.chance(50) ? `play/${UNWELCOME}-${draw.below(50)}` : draw.of(STRANGE_PATHS);
  if (draw.chance(40)) return `play/${draw.of(['a', 'b', 'c/d', 'e/f/g'])}${draw.below(20)}`;
  if (draw.chance(10))
    return draw
      .noise(1 + draw.below(30))
      .toString('latin1')
      .replaceAll('kept', '');
  return draw.of(STRANGE_PATHS);
}

/** Like `encodeURIComponent`, which throws for half of a surrogate pair. */
function encodeAny(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/**
 * Requests that are not HTTP, or lie about their end. They never have the token, so none of them may be
 * carried out.
 */
function breakFraming(draw: Draw): Drawn {
  const host = 'Host: 127.0.0.1';
  const body = `{"paths":["play/${UNWELCOME}"]}`;
  const text = draw.of([
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /v1/ HTTP/1.1\r\n\r\n`,
    `GET /v1/entries HTTP/1.1\r\n${host}\r\nX: ${'h'.repeat(20_000)}\r\n\r\n`,
    `GET /v1/entries HTTP/1.1\r\n${host}\r\n${'A: b\r\n'.repeat(5000)}\r\n`,
    `GET /${'l'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n\r\n`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nContent-Length: ${body.length}\r\nContent-Length: 3\r\n\r\n${body}`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nContent-Length: -5\r\n\r\n${body}`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nContent-Length: 99999999999999999999\r\n\r\n${body}`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n${body}`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nTransfer-Encoding: gzip, chunked, x\r\n\r\n${body}`,
    `POST /v1/remove HTTP/1.1\r\n${host}\r\nExpect: something\r\nContent-Length: 0\r\n\r\n`,
    `GET /v1/ HTTP/1.1\r\n${host}\r\nBad Header: x\r\n\r\n`,
    `GET /v1/ HTTP/1.1\r\n${host}\r\nX: a\rb\r\n\r\n`,
    `GET /v1/ HTTP/1.1\n${host}\n\n`,
    `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${host}\r\n\r\n`,
    `GET /v1/ HTTP/1.0\r\n\r\n`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\0'.repeat(100),
  ]);
  const bytes = draw.chance(10) ? draw.noise(1 + draw.below(400)) : Buffer.from(text, 'latin1');
  return { bytes, hasToken: false, isHead: false, isCut: true, endsConnection: true };
}
