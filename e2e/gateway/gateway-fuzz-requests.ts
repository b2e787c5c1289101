/** Requests for fuzzing a gateway, as bytes drawn from a seed: some are right, most are not. */

import { createSigner, type Signer } from '../../engine/remotes/s3/s3-signer.ts';
import { encodeUri } from '../../engine/remotes/s3/signature.ts';
import type { FuzzRequest } from '../peers/peers-fuzz-requests.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';

export interface FuzzKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE'] as const;
const PATHS = [
  '/',
  '//',
  '/data',
  '/data/',
  '/data/main/1.txt',
  '/data/main/kept/7',
  '/data/v1/large.bin',
  '/data/main/empty',
  '/data/main/folder/',
  '/data/main/link',
  '/data/main/way-out/secret',
  '/data/main/../../outside/secret',
  '/data/../outside/secret',
  '/data/%2e%2e/%2e%2e/outside/secret',
  '/data/..%2f..%2foutside%2fsecret',
  '/../../../../etc/passwd',
  '/etc/passwd',
  '/data/refs/heads/main',
  '/data/dray.json',
  '/data/main',
  '/data/HEAD/1.txt',
  '/data/__proto__/x',
  '/__proto__/x',
  '/constructor',
  '/data/feature/x/1.txt',
  '/data/000000/1.txt',
  `/data/${'0'.repeat(64)}/1.txt`,
  `/data/${'g'.repeat(64)}/1.txt`,
  `/data/${'a/'.repeat(600)}`,
  `/data/main/${'x'.repeat(5_000)}`,
  '/data/main/%',
  '/data/main/%ff%fe',
  '/data/main/%00',
  '/data/main/%ed%a0%80',
  '/data/%00/x',
  '/data/main\\..\\..\\outside\\secret',
  'data/main/1.txt',
  '*',
  'http://other.example/data/main/1.txt',
  'http://[::1',
] as const;
const READABLE = [
  '/data/main/1.txt',
  '/data/main/kept/7',
  '/data/v1/large.bin',
  '/data/v1/kept/%37',
] as const;
const NAMES = [
  'list-type',
  'prefix',
  'delimiter',
  'marker',
  'start-after',
  'continuation-token',
  'max-keys',
  'encoding-type',
  'fetch-owner',
  'partNumber',
  'location',
  'versioning',
  'uploads',
  'delete',
  'acl',
  'response-content-type',
  'response-content-encoding',
  'X-Amz-Signature',
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'AWSAccessKeyId',
  '__proto__',
  'x-id',
] as const;
const tokenOf = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const VALUES = [
  '',
  '2',
  '/',
  'url',
  'main/',
  'main/kept/',
  'v1',
  'none/',
  '0',
  '1',
  '3',
  '1000',
  '-1',
  '99999999999999999999',
  'AWS4-HMAC-SHA256',
  '20261127T000000Z',
  'host',
  'x/20261127/r/s3/aws4_request',
  'f'.repeat(64),
  tokenOf(['main/1.txt']),
  tokenOf(['main/1.txt', 'main', '0'.repeat(64)]),
  tokenOf(['main/1.txt', 'main', '../../outside/secret']),
  tokenOf([{}, [], null]),
  tokenOf('x'.repeat(3_000)),
  'text/html\r\nset-cookie: a',
  '\u0000',
  '\u{1f600}',
  '../../outside/secret',
  'a'.repeat(3_000),
] as const;
const HEADERS = [
  'Range: bytes=0-3',
  'Range: bytes=1-',
  'Range: bytes=2-99999999999999999999',
  'Range: bytes=5-2',
  'Range: bytes=-1',
  'Range: bytes=0-1,3-4',
  'Range: bytes=9999999-',
  'Range: bytes=99999999999999999999-',
  'Range: lines=1',
  'If-Match: *',
  'If-Match: "x"',
  'If-None-Match: *',
  'If-None-Match: ,,,"',
  'If-Modified-Since: yesterday',
  'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
  'x-amz-checksum-mode: ENABLED',
  'Expect: 100-continue',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Transfer-Encoding: chunked\r\nContent-Length: 4',
  'Authorization: Basic Zm9vOmJhcg==',
  'Authorization: AWS4-HMAC-SHA256',
  'Authorization: AWS4-HMAC-SHA256 Credential=/////,SignedHeaders=;;;,Signature=',
  'Authorization: AWS4-HMAC-SHA256 Credential=a/20261127/r/s3/aws4_request,SignedHeaders=host;__proto__;constructor,Signature=' +
    'f'.repeat(64),
  `Cookie: ${'c'.repeat(20_000)}`,
  `X-Filler: ${'f'.repeat(40_000)}`,
] as const;
const BROKEN = [
  'GET\r\n\r\n',
  'GET /data HTTP/9.9\r\n\r\n',
  '\0\0\0\0\r\n\r\n',
  'GET /data HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n',
  '\u0016\u0003\u0001\u0002\0\u0001\0\u0001\r\n\r\n',
  'GET /data HTTP/1.1\r\n\r\n',
  'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: a\r\n\r\n',
  `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
] as const;
const REQUESTS_MAX = 24;

/** The requests of one connection. One that breaks the framing, or has a body that may do so, comes last. */
export async function gatewayConversation(
  seed: number,
  host: string,
  keys: FuzzKeys | undefined,
): Promise<readonly FuzzRequest[]> {
  const draw = drawFrom(seed);
  const sign = keys && createSigner({ credentials: async () => keys, clockOffsetMs: 0 });
  const requests: FuzzRequest[] = [];
  const count = 1 + draw.below(REQUESTS_MAX);
  while (requests.length < count) {
    if (draw.chance(2)) {
      const bytes = draw.chance(50) ? Buffer.from(draw.of(BROKEN), 'latin1') : draw.noise(200);
      requests.push({ bytes, hasToken: false, isHead: false, isCut: true });
      break;
    }
    const drawn = await drawRequest(draw, host, sign);
    requests.push(drawn);
    if (drawn.isCut) break;
  }
  return requests;
}

async function drawRequest(draw: Draw, host: string, sign: Signer | undefined): Promise<FuzzRequest> {
  const method = draw.chance(80) ? draw.of(['GET', 'HEAD'] as const) : draw.of(METHODS);
  const known = draw.chance(30) ? READABLE : PATHS;
  const path = draw.chance(95) ? draw.of(known) : `/${encodeUri(draw.noise(30).toString('latin1'))}`;
  const pairs = Array.from({ length: draw.chance(50) ? draw.below(5) : 0 }, () => {
    const value = draw.of(VALUES);
    return [draw.of(NAMES), draw.chance(90) ? encodeUri(value) : `%${value.slice(0, 2)}`] as const;
  });
  const query = pairs
    .map((pair) => pair.join('='))
    .sort()
    .join('&');
  const isSigned = sign !== undefined && draw.chance(60) && (method === 'GET' || method === 'HEAD');
  const asked = { method: method as 'GET', host, path, query };
  const payload = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  const headers = isSigned ? await sign({ ...asked, headers: payload }, 'us-east-1') : { host };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  for (let more = draw.chance(40) ? 1 + draw.below(3) : 0; more > 0; more -= 1) lines.push(draw.of(HEADERS));
  const hasBody = method !== 'GET' && method !== 'HEAD' && draw.chance(60);
  const body = hasBody ? draw.noise(draw.below(2_000)) : Buffer.alloc(0);
  const isShort = hasBody && draw.chance(20);
  if (hasBody) lines.push(`Content-Length: ${body.length + (isShort ? 100 : 0)}`);
  const head = `${method} ${path}${query && `?${query}`} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const framing = lines.some((line) => /^(?:Transfer-Encoding|Connection|Expect|X-Filler)/.test(line));
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), body]),
    hasToken: isSigned,
    isHead: method === 'HEAD',
    isCut: isShort || framing,
  };
}
