/**
 * A proxy between the client and an honest S3 store. It changes any part of an answer, from the status line
 * to the last byte.
 */
import { request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { Draw } from '../seeded-draw.ts';
import { type FakeS3, startFakeS3 } from '../servers/fake-s3.ts';

export interface HostileStore {
  /** The honest store behind it. */
  readonly honest: FakeS3;
  readonly environment: Readonly<Record<string, string>>;
  /** The percentage of answers that it changes. */
  percent: number;
  readonly answered: () => number;
  readonly changed: () => number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** @param target A folder outside, at which the changed answers point. */
export async function startHostileStore(draw: Draw, target: string): Promise<HostileStore> {
  const honest = await startFakeS3();
  let answered = 0;
  let changed = 0;
  const before: Answer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    void serve(socket, honest.endpoint, (answer, isHead) => {
      answered += 1;
      if (before.length < 50) before.push(answer);
      else before[draw.below(50)] = answer;
      if (!draw.chance(store.percent)) return wireOf(answer, isHead);
      changed += 1;
      return changeAnswer(draw, { answer, before, target, isHead });
    });
  });
  const port = await listening(server);
  const store: HostileStore = {
    honest,
    environment: { ...honest.environment, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` },
    percent: 0,
    answered: () => answered,
    changed: () => changed,
    close: async () => {
      server.close();
      await honest[Symbol.asyncDispose]();
    },
  };
  return store;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

/** Answers one request after the other. `undefined` instead of an answer closes the connection. */
async function serve(
  socket: Socket,
  endpoint: string,
  change: (answer: Answer, isHead: boolean) => { readonly wire: Buffer; readonly closes: boolean },
): Promise<void> {
  let held = Buffer.alloc(0);
  try {
    for await (const piece of socket) {
      held = Buffer.concat([held, piece as Buffer]);
      const request = readRequest(held);
      if (!request) continue;
      held = held.subarray(request.sizeBytes);
      const { closes, wire } = change(await forward(endpoint, request), request.method === 'HEAD');
      socket.write(wire);
      if (closes) break;
    }
  } catch {
    // The client has closed the connection.
  }
  socket.end();
  socket.destroySoon();
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly sizeBytes: number;
}

function readRequest(bytes: Buffer): Request | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const sizeBytes = end + 4 + Number(headers['content-length'] ?? 0);
  return bytes.length < sizeBytes
    ? undefined
    : { method, path, headers, body: bytes.subarray(end + 4, sizeBytes), sizeBytes };
}

function forward(endpoint: string, { body, headers, method, path }: Request): Promise<Answer> {
  const { connection: _, ...kept } = headers;
  return new Promise((resolve, reject) => {
    const asked = ask(endpoint, { method, path, headers: kept }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      const raw = response.rawHeaders;
      const pairs = Array.from(
        { length: raw.length / 2 },
        (_unused, at) => [raw[2 * at]!, raw[2 * at + 1]!] as const,
      );
      const own = pairs.filter(([name]) => !/^(?:connection|keep-alive|transfer-encoding|date)$/i.test(name));
      resolve({ status: response.statusCode ?? 500, headers: own, body: Buffer.concat(pieces) });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

function wireOf({ body, headers, status }: Answer, isHead: boolean): { wire: Buffer; closes: boolean } {
  const hasLength = headers.some(([name]) => name.toLowerCase() === 'content-length');
  const all =
    hasLength || status === 204 ? headers : [...headers, ['content-length', String(body.length)] as const];
  const head = [`HTTP/1.1 ${status} X`, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return {
    wire: Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), isHead ? Buffer.alloc(0) : body]),
    closes: false,
  };
}

interface Change {
  readonly answer: Answer;
  readonly before: readonly Answer[];
  readonly target: string;
  readonly isHead: boolean;
}

const STATUSES = [
  100, 199, 200, 204, 206, 301, 304, 307, 400, 401, 403, 404, 405, 409, 411, 412, 416, 429, 500, 501, 503,
  507, 999,
];
const CODES = [
  'NoSuchKey',
  'NoSuchBucket',
  'SlowDown',
  'constructor',
  '__proto__',
  'PreconditionFailed',
  'InvalidRange',
  'x\x9b31m',
];
const HEADERS = [
  ...[
    'content-length',
    'content-range',
    'etag',
    'last-modified',
    'date',
    'retry-after',
    'x-amz-bucket-region',
    'content-encoding',
  ],
  ...[
    'x-amz-meta-mtime',
    'x-amz-meta-mode',
    'x-amz-meta-dray-mtime',
    'x-amz-checksum-crc32',
    'x-amz-checksum-crc64nvme',
  ],
  ...[
    'x-amz-checksum-sha256',
    'x-amz-mp-parts-count',
    'transfer-encoding',
    'location',
    'x-amz-restore',
    'server',
  ],
];
const FRAGMENTS = [
  '<Contents>',
  '<Key>a',
  '<ListBucketResult ',
  '</ListBucketResult ',
  ' ',
  '&#x',
  '&',
  '[',
  '{"a":',
  '\n',
  'x',
];

function hostileTexts(target: string): readonly string[] {
  return [
    ...[
      '',
      '0',
      '-1',
      '1e999',
      'NaN',
      '9007199254740993',
      '99999999999999999999',
      'true',
      'null',
      '"',
      '""',
      '\t',
      '%00',
      '%ff',
      '%',
    ],
    ...[
      '../outside/secret',
      '../../secret',
      `${target}/secret`,
      '/etc/passwd',
      'a/../../b',
      '.dray/config.json',
      '.DRAY/x',
      'a//b',
    ],
    ...[
      '\u202egpj',
      '\x85\x9b2J',
      '&#x110000;',
      '&#xd800;',
      '&lt;',
      '&bogus;',
      ']]>',
      '<![CDATA[',
      'x'.repeat(5_000),
      'é',
      '😀',
    ],
    ...[
      'attacker.example/#',
      'us-east-1',
      'bytes 0-1/2',
      'bytes 5-1/x',
      'chunked',
      'gzip',
      'aws-chunked',
      '1700000000.5',
      '7777',
    ],
  ];
}

function changeAnswer(draw: Draw, change: Change): { readonly wire: Buffer; readonly closes: boolean } {
  const { answer, before, isHead, target } = change;
  const text = () => draw.of(hostileTexts(target));
  const sent = (changed: Partial<Answer>) => {
    const body = changed.body ?? answer.body;
    const headers =
      changed.headers ?? answer.headers.map(([name, value]) => relength([name, value], body, isHead));
    return wireOf({ status: changed.status ?? answer.status, headers, body }, isHead);
  };
  switch (draw.below(10)) {
    case 0:
      return cutAnswer(draw, sent({}).wire);
    case 1:
      return sent({ body: changeBytes(draw, answer.body) });
    case 2:
    case 3:
      return sent({ body: changeElement(draw, answer.body, text) });
    case 4: {
      const status = draw.of(STATUSES);
      const error = `<?xml version="1.0"?><Error><Code>${draw.of(CODES)}</Code><Message>${text()}\n</Message><Region>${text()}</Region></Error>`;
      return { ...sent({ status, body: Buffer.from(error) }), closes: status < 200 || draw.chance(50) };
    }
    case 5:
    case 6: {
      const added = Array.from(
        { length: 1 + draw.below(3) },
        () => [draw.of(HEADERS), text().replace(/[\r\n]/g, '')] as const,
      );
      const kept = answer.headers.filter(
        ([name]) => draw.chance(50) || !added.some(([other]) => other === name.toLowerCase()),
      );
      // The connection ends after an answer whose framing may be wrong.
      return { ...sent({ headers: [...kept, ...added] }), closes: true };
    }
    case 7: {
      const other = draw.of(before);
      return { ...sent({ ...other }), closes: true };
    }
    case 8:
      return { wire: Buffer.concat([draw.noise(draw.below(200)), Buffer.from('\r\n\r\n')]), closes: true };
    default: {
      const filling = Buffer.from(draw.of(FRAGMENTS).repeat(draw.of([10, 5_000, 60_000])));
      const at = draw.below(answer.body.length + 1);
      return sent({ body: Buffer.concat([answer.body.subarray(0, at), filling, answer.body.subarray(at)]) });
    }
  }
}

function relength(
  [name, value]: readonly [string, string],
  body: Buffer,
  isHead: boolean,
): readonly [string, string] {
  return name.toLowerCase() === 'content-length' && !isHead ? [name, String(body.length)] : [name, value];
}

function cutAnswer(draw: Draw, wire: Buffer): { readonly wire: Buffer; readonly closes: boolean } {
  return { wire: wire.subarray(0, draw.below(wire.length)), closes: true };
}

function changeBytes(draw: Draw, body: Buffer): Buffer {
  if (body.length === 0) return draw.noise(draw.below(64));
  const changed = Buffer.from(body);
  const at = draw.below(body.length);
  if (draw.chance(50)) {
    changed[at] = draw.below(256);
    return changed;
  }
  return draw.chance(50) ? changed.subarray(0, at) : Buffer.concat([changed, changed.subarray(at)]);
}

/** Replaces the text of one XML element, repeats the element, or removes it. */
function changeElement(draw: Draw, body: Buffer, text: () => string): Buffer {
  const xml = body.toString('latin1');
  const elements = [...xml.matchAll(/<(\w+)>([^<]*)<\/\1>/g)];
  if (elements.length === 0) return changeBytes(draw, body);
  const { 0: whole, 1: name, index } = draw.of(elements);
  const changed = draw.of([
    () => `<${name}>${text()}</${name}>`,
    () => whole + whole,
    () => '',
    () => `<${text()}>${whole}`,
    () => `<IsTruncated>true</IsTruncated><NextContinuationToken>${text()}</NextContinuationToken>${whole}`,
  ])();
  return Buffer.concat([
    Buffer.from(xml.slice(0, index), 'latin1'),
    Buffer.from(changed),
    Buffer.from(xml.slice(index + whole.length), 'latin1'),
  ]);
}
