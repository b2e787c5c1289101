import { expect, it } from 'vitest';
import type { S3Request } from '../s3-connection.ts';
import { resolvePlace } from '../s3-options.ts';
import { copy } from './copy.ts';
import { createMultipart } from './multipart.ts';
import { put } from './objects.ts';
import type { S3Caller } from './s3-call.ts';

it('calls for which the store moves bytes by itself may take longer than those that send them', async () => {
  const asked = new Map<string, S3Request>();
  const failure = { status: 500, code: 'Any', message: '', remoteTimeMs: undefined, signedTimeMs: 0 };
  const answer = async (request: S3Request) => {
    asked.set(request.call.operation, request);
    return { failure };
  };
  const place = resolvePlace({ bucket: 'data', prefix: '', environment: {} }, { name: 'd', settings: {} });
  const credentials = async () => ({ accessKeyId: 'key', secretAccessKey: 'secret' });
  const caller: S3Caller = {
    client: { exchange: answer, stream: answer, close: async () => {} },
    connection: { place, credentials, maxConnections: 1, clockOffsetMs: 0 },
    verified: new Set(),
    siblingOf: () => ({ head: async () => undefined }),
  };
  const multipart = createMultipart(caller);
  const upload = { key: 'k', uploadId: 'u' };
  await Promise.allSettled([
    copy(caller, multipart, { from: 'a', to: 'b' }, {}),
    multipart.uploadPartCopy(upload, 1, { key: 'a', range: { start: 0, end: 1 } }),
    multipart.complete(upload, [{ number: 1, etag: 'e', sizeBytes: 1 }]),
    multipart.uploadPart(upload, 1, new Uint8Array(1)),
    put(caller, 'k', new Uint8Array(1), {}),
  ]);
  const quietMinutes = [...asked].map(([operation, { quietMs = 0 }]) => [operation, quietMs / 60_000]);
  expect(Object.fromEntries(quietMinutes)).toEqual({
    COPY: 15,
    UploadPartCopy: 15,
    CompleteMultipartUpload: 15,
    UploadPart: 0,
    PUT: 0,
  });
});
