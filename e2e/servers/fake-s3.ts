/**
 * A small S3 server that misbehaves on demand: it keeps objects in memory under any key, and a test can
 * change every answer. It checks no signature. It exists for cases that no real server can produce: keys that
 * no file system accepts, false lengths, listings out of order.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createS3Environment } from './s3-environment.ts';

export interface FakeRequest {
  /** `COPY` stands for a PUT that copies bytes in the store. */
  readonly method: string;
  /** '' for the bucket itself. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** The number of requests with this method and key so far, including this one. */
  readonly times: number;
}

export type Fault =
  /** An S3 error. */
  | { readonly status: number; readonly code: string; readonly headers?: Readonly<Record<string, string>> }
  /** Sends this many bytes of the body, then closes the connection. */
  | { readonly cutAfter: number }
  /** Announces a false body length. */
  | { readonly announced: number }
  /** Answers a PUT or COPY with success and stores nothing. */
  | { readonly lost: true }
  /** Sends other bytes of the same length. */
  | { readonly spoiled: true }
  /** Answers 200 with this document, whatever the request. */
  | { readonly document: string }
  /** Replaces the object before the answer. */
  | { readonly replacedBy: string };

export interface FakeS3 extends AsyncDisposable {
  readonly endpoint: string;
  readonly bucket: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly objects: Map<string, Uint8Array>;
  /** Called before each answer. */
  fault: (request: FakeRequest) => Fault | undefined;
  /** The order of listings, and whether answers have etags. */
  listing: 'inOrder' | 'shuffled';
  etags: boolean;
  /** Method and key of each request. */
  readonly log: string[];
}

const BUCKET = 'fake-bucket';

export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, Uint8Array>();
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    void answer(fake, counts, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeS3 = {
    endpoint,
    bucket: BUCKET,
    objects,
    fault: () => undefined,
    listing: 'inOrder',
    etags: true,
    log: [],
    environment: createS3Environment({
      endpoint,
      region: 'us-east-1',
      accessKeyId: 'fake',
      secretAccessKey: 'fake',
      home: '/',
    }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

async function answer(
  fake: FakeS3,
  counts: Map<string, number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? '/';
  // The raw path: a URL object would remove `..` and `//`.
  const [path = '', query = ''] = url.split('?', 2);
  const key = decodeURIComponent(path.slice(BUCKET.length + 2));
  const copySource = request.headers['x-amz-copy-source'];
  const method = typeof copySource === 'string' ? 'COPY' : (request.method ?? 'GET');
  const body = await bodyOf(request);
  const name = `${method} ${key}`;
  fake.log.push(name);
  counts.set(name, (counts.get(name) ?? 0) + 1);
  const asked: FakeRequest = { method, key, query: new URLSearchParams(query), times: counts.get(name)! };
  const fault = fake.fault(asked);
  if (fault && 'status' in fault) return fail(response, fault);
  if (fault && 'document' in fault) return void response.end(fault.document);
  if (fault && 'replacedBy' in fault) fake.objects.set(key, Buffer.from(fault.replacedBy));
  if (key === '' && method === 'POST') {
    let deleted = '';
    for (const [, gone = ''] of Buffer.from(body)
      .toString()
      .matchAll(/<Key>(.*?)<\/Key>/g))
      if (fault && 'lost' in fault) deleted = '';
      else {
        fake.objects.delete(gone);
        deleted += `<Deleted><Key>${gone}</Key></Deleted>`;
      }
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><DeleteResult>${deleted}</DeleteResult>`);
    return;
  }
  if (key === '') return list(fake, asked, response);
  if (method === 'COPY') {
    const isLost = fault !== undefined && 'lost' in fault;
    copy(fake, { from: decodeURIComponent(String(copySource)), to: key, isLost }, response);
    return;
  }
  if (method === 'PUT') {
    if (!fault || !('lost' in fault)) fake.objects.set(key, body);
    response.writeHead(200, etagHeader(fake, body)).end();
    return;
  }
  if (method === 'DELETE') {
    fake.objects.delete(key);
    response.writeHead(204).end();
    return;
  }
  read(fake, { asked, fault, request, response });
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function etagHeader(fake: FakeS3, bytes: Uint8Array): Record<string, string> {
  return fake.etags ? { etag: `"${md5Of(bytes)}"` } : {};
}

const md5Of = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

function fail(
  response: ServerResponse,
  { code, headers = {}, status }: Extract<Fault, { status: number }>,
): void {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>A fault on demand.</Message></Error>`,
  );
}

/** @param keys The source with its bucket, then the destination. */
function copy(
  fake: FakeS3,
  keys: { readonly from: string; readonly to: string; readonly isLost: boolean },
  response: ServerResponse,
): void {
  const bytes = fake.objects.get(keys.from.slice(keys.from.indexOf('/', 1) + 1));
  if (!bytes) {
    fail(response, { status: 404, code: 'NoSuchKey' });
    return;
  }
  if (!keys.isLost) fake.objects.set(keys.to, bytes);
  const etag = fake.etags ? `<ETag>&quot;${md5Of(bytes)}&quot;</ETag>` : '';
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><CopyObjectResult>${etag}</CopyObjectResult>`);
}

function read(
  fake: FakeS3,
  {
    asked,
    fault,
    request,
    response,
  }: {
    readonly asked: FakeRequest;
    readonly fault: Fault | undefined;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  },
): void {
  const whole = fake.objects.get(asked.key);
  if (!whole) {
    fail(response, { status: 404, code: 'NoSuchKey' });
    return;
  }
  const etag = md5Of(whole);
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== `"${etag}"`) {
    fail(response, { status: 412, code: 'PreconditionFailed' });
    return;
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = range ? Math.min(Number(range[2]) + 1, whole.length) : whole.length;
  let bytes: Uint8Array = whole.subarray(start, end);
  if (fault && 'spoiled' in fault) bytes = Buffer.alloc(bytes.length, '?');
  const announced = fault && 'announced' in fault ? fault.announced : bytes.length;
  response.writeHead(range ? 206 : 200, {
    'content-length': announced,
    'last-modified': 'Fri, 13 Nov 2026 10:00:00 GMT',
    ...(range ? { 'content-range': `bytes ${start}-${end - 1}/${whole.length}` } : {}),
    ...etagHeader(fake, whole),
  });
  if (asked.method === 'HEAD') return void response.end();
  if (fault && 'cutAfter' in fault) {
    response.write(bytes.subarray(0, fault.cutAfter), () => response.destroy());
    return;
  }
  response.end(bytes.subarray(0, announced));
}

function list(fake: FakeS3, { query }: FakeRequest, response: ServerResponse): void {
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const most = Number(query.get('max-keys') ?? 1_000);
  const keys = [...fake.objects.keys()].filter((key) => key.startsWith(prefix));
  const sorted = keys.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const due = sorted.filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0);
  const page = due.slice(0, most);
  const shown = fake.listing === 'shuffled' ? page.toReversed() : page;
  const contents = shown.map((key) => {
    const bytes = fake.objects.get(key)!;
    const etag = fake.etags ? `<ETag>&quot;${md5Of(bytes)}&quot;</ETag>` : '';
    return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>2026-11-13T10:00:00.000Z</LastModified>${etag}<Size>${bytes.length}</Size></Contents>`;
  });
  const isTruncated = due.length > page.length;
  const next = isTruncated
    ? `<NextContinuationToken>${Buffer.from(page.at(-1)!).toString('base64url')}</NextContinuationToken>`
    : '';
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><Name>${BUCKET}</Name><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
  );
}
