import { expect, it } from 'vitest';
import type { LeanRequest } from '../s3-connection.ts';
import { resolvePlace } from '../s3-options.ts';
import type { Lean } from './lean-call.ts';
import { copy } from './lean-copy.ts';
import { createLeanMultipart } from './lean-multipart.ts';
import { put } from './lean-objects.ts';

it('Calls for which the store moves bytes by itself are waited for longer than those that send them', async () => {
  const asked = new Map<string, LeanRequest>();
  const failure = { status: 500, code: 'Any', message: '', remoteTimeMs: undefined, signedTimeMs: 0 };
  const answer = async (request: LeanRequest) => {
    asked.set(request.call.operation, request);
    return { failure };
  };
  const place = resolvePlace({ bucket: 'data', prefix: '', environment: {} }, { name: 'd', settings: {} });
  const credentials = async () => ({ accessKeyId: 'key', secretAccessKey: 'secret' });
  const lean: Lean = {
    client: { exchange: answer, stream: answer, close: async () => {} },
    connection: { place, credentials, maxConnections: 1, clockOffsetMs: 0 },
    verified: new Set(),
    siblingOf: () => ({ head: async () => undefined }),
  };
  const multipart = createLeanMultipart(lean);
  const upload = { key: 'k', uploadId: 'u' };
  await Promise.allSettled([
    copy(lean, multipart, { from: 'a', to: 'b' }, {}),
    multipart.uploadPartCopy(upload, 1, { key: 'a', range: { start: 0, end: 1 } }),
    multipart.complete(upload, [{ number: 1, etag: 'e', sizeBytes: 1 }]),
    multipart.uploadPart(upload, 1, new Uint8Array(1)),
    put(lean, 'k', new Uint8Array(1), {}),
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
