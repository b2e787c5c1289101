/** Answers that a healthy test server does not give, from a server that plays them from a script. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { ObjectStore } from '../object-store.ts';
import { openS3Store } from './open-s3-store.ts';

const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
};

describe('An S3 store', () => {
  let server: Server;
  let store: ObjectStore;
  let asked: string[];
  let script: (response: ServerResponse, asked: string, headers: Readonly<Record<string, unknown>>) => void;

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      const line = `${request.method} ${request.url?.replace(/[?&]x-id=\w+/, '')}`;
      asked.push(line);
      request.resume().on('end', () => script(response, line, request.headers));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    store = await openS3Store({ bucket: 'data', prefix: 'p', endpoint, environment: ENVIRONMENT });
  });
  afterEach(async () => {
    await store.close();
    server.closeAllConnections();
    server.close();
  });

  const refuse = (status: number, code: string, headers = {}) => {
    script = (response) =>
      response.writeHead(status, headers).end(`<Error><Code>${code}</Code><Message>why</Message></Error>`);
  };

  it('asks for a pause on SlowDown, and says how long the server wants it', async () => {
    refuse(503, 'SlowDown', { 'retry-after': '7' });
    const error = await failure(store.put('k', new Uint8Array(1)));
    expect(error).toMatchObject({
      code: 'slowDown',
      retry: 'backoff',
      data: { retryAfterMs: 7000, key: 'p/k' },
    });
    refuse(429, 'TooManyRequests');
    expect(await failure(store.list({ prefix: '' }))).toMatchObject({ code: 'slowDown', retry: 'backoff' });
    expect(asked).toHaveLength(2);
  });

  it('calls failures of the server repeatable, and never repeats them itself', async () => {
    for (const [status, code] of [
      [500, 'InternalError'],
      [502, 'BadGateway'],
      [409, 'ConditionalRequestConflict'],
    ] as const) {
      refuse(status, code);
      const write = () => store.put('k', new Uint8Array(1), { condition: { absent: true } });
      expect(await failure(write())).toMatchObject({ code: 'remoteFailed', retry: 'retry' });
    }
    refuse(400, 'RequestTimeout');
    expect(await failure(store.put('k', new Uint8Array(1)))).toMatchObject({
      code: 'unreachable',
      retry: 'retry',
    });
    refuse(501, 'NotImplemented');
    expect(await failure(store.put('k', new Uint8Array(1)))).toMatchObject({
      code: 'unsupported',
      retry: 'no',
    });
    expect(asked).toHaveLength(5);
  });

  it('understands a proxy that answers without XML', async () => {
    script = (response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
    expect(await failure(store.read('k', { maxBytes: 10 }))).toMatchObject({
      code: 'remoteFailed',
      retry: 'retry',
    });
  });

  it('takes a 404 for an absent object only when the store sent it, and otherwise allows a retry', async () => {
    const { multipart } = store;
    const bytes = new Uint8Array(1);
    const absent = { condition: { absent: true } } as const;
    const same = { condition: { etag: 'e' } } as const;
    const bodies = ['404 page not found', '<html><h1>Not found</h1></html>', ''];
    let answered = 0;
    script = (response) => response.writeHead(404).end(bodies[answered++ % bodies.length]);
    for (const call of [
      () => store.put('k', bytes),
      () => store.put('k', bytes),
      () => store.put('k', bytes),
      () => store.put('k', bytes, absent),
      () => store.put('k', bytes, same),
      () => store.get('k'),
      () => store.get('k'),
      () => store.get('k'),
      () => store.read('k', { maxBytes: 1 }),
      () => store.copy('k', 'l'),
      () => store.copy('k', 'l', absent),
      () => store.list({ prefix: '' }),
      () => store.delete(['k']),
      () => store.delete(['k', 'l']),
      () => multipart!.create('k'),
      () => multipart!.uploadPart(upload, 1, bytes),
      () => multipart!.uploadPartCopy(upload, 1, { key: 'a', range: { start: 0, end: 1 } }),
      () => multipart!.listParts(upload),
      () => multipart!.complete(upload, [part], absent),
      () => multipart!.complete(upload, [part], same),
      () => multipart!.abort(upload),
    ])
      expect(await failure(call())).toMatchObject({
        code: 'remoteFailed',
        retry: 'retry',
        message: expect.stringContaining('does not come from S3'),
      });
    expect(await store.head('k')).toBeUndefined();
    refuse(404, 'NoSuchKey');
    expect(await store.put('k', bytes, same)).toEqual({ written: false });
    expect(await store.read('k', { maxBytes: 1 })).toBeUndefined();
    await store.delete(['k']);
    refuse(404, 'NoSuchUpload');
    expect(await failure(multipart!.listParts(upload))).toMatchObject({ code: 'notFound', retry: 'no' });
    await multipart!.abort(upload);
  });

  it('does not take a whole object for the range that it asked for', async () => {
    script = (response) => response.writeHead(200, { etag: '"e"', 'content-length': 10 }).end('0123456789');
    const range = { start: 2, end: 4 };
    expect(await failure(store.read('k', { range, maxBytes: 100 }))).toMatchObject({ code: 'unsupported' });
    expect(await failure(store.get('k', { range }))).toMatchObject({ code: 'unsupported' });
    const whole = await store.read('k', { range: { start: 0, end: 100 }, maxBytes: 100 });
    expect(whole?.bytes.byteLength).toBe(10);
  });

  it('sees the error inside a successful answer to a completed upload', async () => {
    script = (response) =>
      response.writeHead(200).end('<Error><Code>InternalError</Code><Message>late</Message></Error>');
    const complete = store.multipart!.complete({ key: 'k', uploadId: 'u' }, [
      { number: 1, etag: 'e', sizeBytes: 1 },
    ]);
    expect(await failure(complete)).toMatchObject({ code: 'remoteFailed', retry: 'retry' });
  });

  const part = { number: 1, etag: 'e', sizeBytes: 1 };
  const upload = { key: 'k', uploadId: 'u' };
  const late = (code: string) => {
    // White space first: the store keeps the connection open with it while it works.
    const error = `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>late</Message></Error>`;
    script = (response) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).write('   \n ');
      setTimeout(() => response.end(error), 5);
    };
  };

  it('recognises late errors of completions and copies by their code', async () => {
    const condition = { absent: true } as const;
    late('SlowDown');
    expect(await failure(store.copy('a', 'b'))).toMatchObject({ code: 'slowDown', retry: 'backoff' });
    expect(await failure(store.multipart!.uploadPartCopy(upload, 1, { key: 'a' }))).toMatchObject({
      code: 'slowDown',
    });
    late('BadDigest');
    const wrongSum = store.multipart!.complete(upload, [part], { checksum: { crc64nvme: 1n } });
    expect(await failure(wrongSum)).toMatchObject({ code: 'checksumRefused', retry: 'no' });
    late('NoSuchUpload');
    const gone = store.multipart!.complete(upload, [part], { condition });
    expect(await failure(gone)).toMatchObject({ code: 'notFound' });
    late('PreconditionFailed');
    expect(await store.multipart!.complete(upload, [part], { condition })).toEqual({ written: false });
  });

  it('reads a late result after the white space before it', async () => {
    script = (response) => {
      response.writeHead(200).write('<?xml version="1.0" encoding="UTF-8"?>\n  ');
      const sum = '<ChecksumCRC64NVME>rosUhgp5mIg=</ChecksumCRC64NVME>';
      const result = `<ETag>&quot;abc-2&quot;</ETag>${sum}<ChecksumType>FULL_OBJECT</ChecksumType>`;
      setTimeout(
        () =>
          response.end(`<CompleteMultipartUploadResult xmlns="x">${result}</CompleteMultipartUploadResult>`),
        5,
      );
    };
    expect(await store.multipart!.complete(upload, [part])).toEqual({
      written: true,
      etag: 'abc-2',
      checksums: { covers: 'whole', crc64nvme: 0xae8b14860a799888n },
    });
  });

  it('works without etags where the store sends none', async () => {
    script = (response, line) => {
      const listed = '<Contents><Key>p/a</Key><Size>3</Size></Contents>';
      const xml = `<ListBucketResult>${listed}<IsTruncated>false</IsTruncated></ListBucketResult>`;
      if (line.startsWith('GET') && line.includes('list-type')) response.writeHead(200).end(xml);
      else response.writeHead(200, { 'content-length': 0 }).end();
    };
    expect((await store.list({ prefix: '' })).objects).toEqual([
      { key: 'a', sizeBytes: 3, etag: '', modifiedMs: 0 },
    ]);
    expect(await store.put('a', new Uint8Array(3))).toEqual({ written: true, etag: '' });
    expect(await store.head('a')).toMatchObject({ etag: '' });
  });

  it('knows that an etag is no MD5 where the store encrypts with its own keys', async () => {
    for (const [headers, etagIsOpaque] of [
      [{ 'x-amz-server-side-encryption': 'aws:kms' }, true],
      [{ 'x-amz-server-side-encryption': 'aws:kms:dsse' }, true],
      [{ 'x-amz-server-side-encryption-customer-algorithm': 'AES256' }, true],
      [{ 'x-amz-server-side-encryption': 'AES256' }, undefined],
      [{}, undefined],
    ] as const) {
      script = (response, line) => {
        response.writeHead(200, { etag: '"e"', 'content-length': 1, ...headers });
        response.end(line.startsWith('GET') ? 'x' : '');
      };
      expect((await store.head('k'))?.etagIsOpaque).toBe(etagIsOpaque);
      expect((await store.read('k', { maxBytes: 1 }))?.info.etagIsOpaque).toBe(etagIsOpaque);
    }
  });

  it('names the source when a copy finds none, or another than expected', async () => {
    refuse(404, 'NoSuchKey');
    const error = await failure(store.copy({ bucket: 'other', key: 'from' }, 'to'));
    expect(error).toMatchObject({ code: 'notFound', data: { key: 'from' } });
    refuse(412, 'PreconditionFailed');
    expect(await failure(store.copy('from', 'to', { ifMatch: 'e' }))).toMatchObject({ code: 'conflict' });
    expect(asked).toHaveLength(2);
  });

  it('distinguishes an archived object from a forbidden copy', async () => {
    for (const code of ['InvalidObjectState', 'ObjectNotInActiveTierError']) {
      refuse(403, code);
      for (const call of [() => store.copy('k', 'l'), () => store.read('k', { maxBytes: 1 })]) {
        const error = await failure(call());
        expect(error).toMatchObject({ code: 'accessDenied', data: { reason: 'archived', key: 'p/k' } });
        expect(error.message).toContain('Restore it');
      }
    }
    refuse(403, 'AccessDenied');
    expect((await failure(store.copy('k', 'l'))).data.reason).toBeUndefined();
  });

  it('requests a copy by signed headers', async () => {
    const seen: Record<string, unknown> = {};
    script = (response, _line, headers) => {
      Object.assign(seen, headers);
      response.writeHead(200).end('<CopyObjectResult><ETag>"e"</ETag></CopyObjectResult>');
    };
    await store.copy({ bucket: 'other', key: 'a b/+\u00e9' }, 'to', {
      ifMatch: 'abc',
      storageClass: 'STANDARD_IA',
      description: { contentType: 'text/plain', metadata: { mtime: '1.5' }, cacheControl: 'no-store' },
    });
    expect(seen).toMatchObject({
      'x-amz-copy-source': 'other/a%20b/%2B%C3%A9',
      'x-amz-copy-source-if-match': '"abc"',
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-storage-class': 'STANDARD_IA',
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'x-amz-meta-mtime': '1.5',
    });
  });

  it('signs nothing when it is anonymous, looks for no keys, and says so where it is refused', async () => {
    await store.close();
    const { AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } = ENVIRONMENT;
    const environment = { AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE };
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    store = await openS3Store({
      bucket: 'data',
      prefix: 'p',
      endpoint,
      environment,
      anonymous: true,
    });
    const names = new Set<string>();
    script = (response, _line, headers) => {
      for (const name of Object.keys(headers)) names.add(name);
      response.writeHead(200, { etag: '"e"', 'content-length': '3' }).end('abc');
    };
    expect(Buffer.from((await store.read('k', { maxBytes: 3 }))!.bytes).toString()).toBe('abc');
    await store.head('k');
    for (const name of ['authorization', 'x-amz-content-sha256', 'x-amz-date'])
      expect([...names]).not.toContain(name);
    refuse(403, 'AccessDenied');
    const error = await failure(store.list({ prefix: '' }));
    expect(error).toMatchObject({ code: 'accessDenied', message: expect.stringContaining('without keys') });
  });

  it.each([
    [501, 'NotImplemented'],
    [403, 'AccessDenied'],
    [403, 'ExpiredToken'],
  ])(
    'returns no parts where the store does not know the request or refuses it to these keys (%i %s)',
    async (status, code) => {
      script = (response, line) => {
        if (line.startsWith('HEAD')) response.writeHead(200, { etag: '"e-2"' }).end();
        else response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
      };
      if (code === 'ExpiredToken')
        await expect(store.parts!('k')).rejects.toMatchObject({ code: 'accessDenied' });
      else expect(await store.parts!('k')).toBeUndefined();
    },
  );

  it('goes through all pages of parts', async () => {
    const partXml = (number: number) => `<Part><PartNumber>${number}</PartNumber><Size>7</Size></Part>`;
    const markers: unknown[] = [];
    script = (response, line, headers) => {
      if (line.startsWith('HEAD')) {
        response.writeHead(200, { etag: '"e-2"' }).end();
        return;
      }
      const marker = headers['x-amz-part-number-marker'];
      markers.push(marker);
      const more = marker === undefined ? '<NextPartNumberMarker>1</NextPartNumberMarker>' : '';
      const parts = `<IsTruncated>${more !== ''}</IsTruncated>${more}${partXml(markers.length)}`;
      response
        .writeHead(200)
        .end(
          `<GetObjectAttributesResponse><ObjectParts>${parts}</ObjectParts></GetObjectAttributesResponse>`,
        );
    };
    const parts = [
      { number: 1, sizeBytes: 7 },
      { number: 2, sizeBytes: 7 },
    ];
    expect(await store.parts!('k')).toEqual({ etag: 'e-2', parts });
    expect(markers).toEqual([undefined, '1']);
  });

  it('goes through all pages of uploads', async () => {
    const uploadXml = (key: string, id: string) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>`;
    script = (response, line) => {
      const asking = new URL(line.slice(4), 'http://x').searchParams;
      const isEncoded = asking.get('encoding-type') === 'url';
      const key = isEncoded ? 'p/a+b%25' : 'p/a b%';
      const next = `<NextKeyMarker>${key}</NextKeyMarker><NextUploadIdMarker>u1</NextUploadIdMarker>`;
      const page = asking.has('key-marker')
        ? uploadXml('p/c', 'u2')
        : `<IsTruncated>true</IsTruncated>${next}${uploadXml(key, 'u1')}`;
      const encoding = isEncoded ? '<EncodingType>url</EncodingType>' : '';
      const result = `<ListMultipartUploadsResult>${encoding}${page}</ListMultipartUploadsResult>`;
      response.writeHead(200).end(result);
    };
    const startedMs = Date.UTC(2026, 0, 1);
    const first = await store.multipart!.listUploads({ prefix: '' });
    expect(first.uploads).toEqual([{ key: 'a b%', uploadId: 'u1', startedMs }]);
    const second = await store.multipart!.listUploads({ prefix: '', continuation: first.continuation! });
    expect(second).toEqual({ uploads: [{ key: 'c', uploadId: 'u2', startedMs }] });
    expect(asked[1]).toContain('key-marker=p%2Fa%20b%25');
    expect(asked[1]).toContain('upload-id-marker=u1');
  });

  it('removes keys that XML cannot hold by requests of their own', async () => {
    const removed = ['p/a', 'p/c&#10;'].map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join('');
    script = (response, line) => {
      if (line.startsWith('POST')) response.writeHead(200).end(`<DeleteResult>${removed}</DeleteResult>`);
      else response.writeHead(204).end();
    };
    await store.delete(['a', 'b\u0001', 'c\n']);
    expect(asked.slice(1)).toEqual(['DELETE /data/p/b%01']);
    expect(asked[0]).toMatch(/^POST /);
  });

  it('removes one by one where the store has no bulk delete', async () => {
    script = (response, line) => {
      if (line.startsWith('POST')) response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
      else response.writeHead(204).end();
    };
    await store.delete(['a', 'b b', 'c']);
    expect(asked.slice(1).sort()).toEqual(['DELETE /data/p/a', 'DELETE /data/p/b%20b', 'DELETE /data/p/c']);
  });

  it('names the objects that a bulk delete left', async () => {
    const left = '<Error><Key>p/b</Key><Code>AccessDenied</Code><Message>no</Message></Error>';
    script = (response) => response.writeHead(200).end(`<DeleteResult>${left}</DeleteResult>`);
    const error = await failure(store.delete(['a', 'b', 'c']));
    expect(error).toMatchObject({ code: 'accessDenied', data: { failedKeys: ['b'], failedCount: 1 } });
    expect(error.message).toContain('1 of 3');
  });

  it('signs the bytes themselves until the store is seen to verify the checksum', async () => {
    const sha256 = '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a';
    const seen: unknown[] = [];
    let echo: Record<string, string> = {};
    script = (response, _line, headers) => {
      seen.push(headers['x-amz-content-sha256']);
      response.writeHead(200, { etag: '"e"', ...echo }).end();
    };
    const put = () => store.put('k', new Uint8Array([1]), { checksum: { sha256 } });
    await put();
    echo = { 'x-amz-checksum-sha256': 'S/USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPHeFRZo=' };
    await put();
    await put();
    expect(seen).toEqual([sha256, sha256, 'UNSIGNED-PAYLOAD']);
  });
});

async function failure(call: Promise<unknown>): Promise<DrayError> {
  const outcome = await call.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(DrayError);
  return outcome as DrayError;
}
