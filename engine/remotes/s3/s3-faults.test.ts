/** The errors of an S3 remote that is set up wrongly or goes away: each has one code, and says what to do. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../e2e/servers/tools.ts';
import { type BadNetwork, startToxiproxy } from '../../../e2e/servers/toxiproxy.ts';
import { type S3Server, startVersitygw } from '../../../e2e/servers/versitygw.ts';
import { DrayError } from '../../api/error.ts';
import type { ObjectStore } from '../object-store.ts';
import { openS3Store } from './open-s3-store.ts';
import type { S3Options } from './s3-options.ts';

const MIB = 1024 * 1024;
/** Below the home folder of the test: no profile of the developer's may be found. */
let home: string;
let server: S3Server;
let proxy: BadNetwork;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'dray-s3-faults-'));
  // Read by the SDK's chain from the process itself; a test must not ask a network for credentials.
  process.env.AWS_EC2_METADATA_DISABLED = 'true';
  server = await startVersitygw();
  proxy = await startToxiproxy({ upstream: server.endpoint });
});

afterAll(async () => {
  await proxy?.stop();
  await server?.stop();
  await rm(home, { recursive: true, force: true });
});

describe('an S3 remote', () => {
  const opened: ObjectStore[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
  });
  const open = async (changes: Partial<S3Options> = {}): Promise<ObjectStore> => {
    const { bucket, environment } = server;
    const store = await openS3Store({ bucket, prefix: randomUUID(), environment, ...changes });
    opened.push(store);
    return store;
  };
  const through = () => open({ endpoint: proxy.endpoint });

  it('says which variables to set when there are no credentials', async () => {
    const { AWS_ACCESS_KEY_ID: _, AWS_SECRET_ACCESS_KEY: __, ...environment } = server.environment;
    const store = await open({ environment: { ...environment, HOME: home } });
    const error = await failure(store.put('key', text('x')));
    expect(error).toMatchObject({ code: 'noCredentials', retry: 'no' });
    expect(error.message).toContain('AWS_ACCESS_KEY_ID');
    expect(error.message).toContain(server.bucket);
  });

  it('distinguishes a wrong secret key from an unknown access key, without showing either', async () => {
    const wrong = { ...server.environment, AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' };
    const wrongError = await failure((await open({ environment: wrong })).list({ prefix: '' }));
    expect(wrongError).toMatchObject({
      code: 'accessDenied',
      retry: 'no',
      data: { remoteCode: 'SignatureDoesNotMatch' },
    });
    expect(JSON.stringify([wrongError.message, wrongError.data])).not.toContain('a-wrong-secret');

    const unknown = { ...server.environment, AWS_ACCESS_KEY_ID: 'nobody-knows-me' };
    const unknownError = await failure((await open({ environment: unknown })).put('key', text('x')));
    expect(unknownError).toMatchObject({ code: 'accessDenied', retry: 'no' });
    expect(unknownError.message).toContain('AWS_ACCESS_KEY_ID');
    expect(unknownError.message).not.toContain('nobody-knows-me');
    const headError = await failure((await open({ environment: wrong })).head('key'));
    expect(headError.code).toBe('accessDenied');
  });

  it('says that the bucket is missing, for every call', async () => {
    const store = await open({ bucket: 'no-such-bucket' });
    const calls = [
      () => store.get('key'),
      () => store.read('key', { maxBytes: 1 }),
      () => store.put('key', text('x')),
      () => store.put('key', text('x'), { condition: { etag: 'abc' } }),
      () => store.list({ prefix: '' }),
      () => store.delete(['one', 'two']),
      () => store.copy('key', 'other'),
      () => store.multipart!.create('key'),
    ];
    for (const call of calls) {
      const error = await failure(call());
      expect(error).toMatchObject({ code: 'bucketMissing', retry: 'no', data: { bucket: 'no-such-bucket' } });
      expect(error.message).toContain('no-such-bucket');
    }
  });

  it('says that nothing listens at the endpoint, and lets the call be repeated', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const store = await open({ endpoint });
    for (const call of [
      () => store.head('key'),
      () => store.put('key', text('x')),
      () => store.list({ prefix: '' }),
    ]) {
      const error = await failure(call());
      expect(error).toMatchObject({ code: 'unreachable', retry: 'retry', data: { endpoint } });
      expect(error.message).toContain(endpoint);
    }
  });

  it('says by how much the clock is off, with both times', async () => {
    const behind = await open({ clockOffsetMs: -3 * 3600_000 });
    for (const call of [
      () => behind.list({ prefix: '' }),
      () => behind.put('key', text('x')),
      () => behind.head('key'),
    ]) {
      const error = await failure(call());
      expect(error).toMatchObject({ code: 'clockSkew', retry: 'no' });
      expect(error.message).toMatch(/180 minutes|3 hours/);
      expect(error.message).toContain('behind');
      expect(Number(error.data.remoteTimeMs) - Number(error.data.localTimeMs)).toBeGreaterThan(
        2.9 * 3600_000,
      );
    }
    const ahead = await failure((await open({ clockOffsetMs: 72 * 3600_000 })).list({ prefix: '' }));
    expect(ahead.message).toContain('3 days ahead of');
  });

  it('fails a body that ends half-way, and one that is read whole', async () => {
    const direct = await open();
    const bytes = new Uint8Array(4 * MIB).fill(7);
    await direct.put('long', bytes);
    const store = await open({ prefix: direct.address.split('/').at(-1)!, endpoint: proxy.endpoint });
    await proxy.cutAfter(MIB);
    try {
      expect(await failure(drain(store, 'long'))).toMatchObject({ code: 'unreachable', retry: 'retry' });
      const whole = await failure(store.read('long', { maxBytes: 4 * MIB }));
      expect(whole).toMatchObject({ code: 'unreachable', retry: 'retry' });
    } finally {
      await proxy.restore();
    }
    expect(await drain(store, 'long')).toBe(4 * MIB);
  });

  it('fails an upload that is cut half-way, and leaves no part of it', async () => {
    const store = await through();
    await proxy.cutRequestsAfter(MIB);
    try {
      const error = await failure(store.put('cut', new Uint8Array(4 * MIB)));
      expect(error).toMatchObject({ code: 'unreachable', retry: 'retry' });
    } finally {
      await proxy.restore();
    }
    expect(await store.head('cut')).toBeUndefined();
    expect(await store.put('cut', new Uint8Array(4 * MIB))).toMatchObject({ written: true });
  });

  it('recovers on new connections after all old ones were cut', async () => {
    const store = await through();
    await store.put('key', text('x'));
    await proxy.cut();
    expect(await failure(store.head('key'))).toMatchObject({ code: 'unreachable', retry: 'retry' });
    await proxy.restore();
    // A connection that died while idle may still fail the first call; the retry wrapper exists for it.
    const found = await store.head('key').catch(() => store.head('key'));
    expect(found).toMatchObject({ sizeBytes: 1 });
  });

  it('stops at once when asked to, though the server does not answer', async () => {
    const store = await through();
    await proxy.hang();
    try {
      const control = new AbortController();
      const call = failure(store.head('key', { signal: control.signal }));
      setTimeout(() => control.abort(), 50);
      expect((await call).code).toBe('aborted');
    } finally {
      await proxy.restore();
    }
  });

  it('follows the store to the region that the bucket is in', async () => {
    await using elsewhere = await startVersitygw({ region: 'eu-central-1' });
    const { environment, bucket } = elsewhere;
    const store = await open({ bucket, environment: { ...environment, AWS_REGION: 'us-east-1' } });
    const outcome = await store.put('key', text('x')).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ written: true });
    await elsewhere.resetRequests();
    await store.list({ prefix: '' });
    expect(await elsewhere.requests()).toMatchObject([{ operation: 'ListObjectsV2', status: 200 }]);
  });

  it('follows it with all the requests that were under way when the store named it', async () => {
    await using elsewhere = await startVersitygw({ region: 'eu-central-1' });
    const { environment, bucket } = elsewhere;
    const store = await open({ bucket, environment: { ...environment, AWS_REGION: 'us-east-1' } });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const outcomes = await Promise.allSettled(keys.map((key) => store.put(key, text('x'))));
    expect(outcomes).toMatchObject(keys.map(() => ({ status: 'fulfilled', value: { written: true } })));
  });

  it('takes keys, endpoint and region from a profile', async () => {
    const files = {
      AWS_CONFIG_FILE: join(home, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials'),
    };
    await writeFile(
      files.AWS_CONFIG_FILE,
      `[profile lab]\nregion = us-east-1\nendpoint_url = ${server.endpoint}\n`,
    );
    const keys = `aws_access_key_id = ${server.accessKeyId}\naws_secret_access_key = ${server.secretAccessKey}\n`;
    await writeFile(files.AWS_SHARED_CREDENTIALS_FILE, `[lab]\n${keys}`);
    const store = await open({ profile: 'lab', environment: files });
    expect(await store.put('key', text('x'))).toMatchObject({ written: true });
    const error = await failure(open({ profile: 'nowhere', environment: files }));
    expect(error).toMatchObject({ code: 'usage', data: { profile: 'nowhere' } });
  });

  it('sends one request for each hot call', async () => {
    const store = await open();
    await store.put('one', text('x'));
    await server.resetRequests();
    await store.put('two', text('y'), { condition: { absent: true } });
    await store.head('two');
    await store.head('absent');
    await store.read('two', { maxBytes: 10 });
    await store.list({ prefix: '' });
    await store.delete(['two']);
    await store.delete(['one', 'absent']);
    const sent = (await server.requests()).map(
      ({ method, operation, status }) => `${method} ${operation} ${status}`,
    );
    expect(sent).toEqual([
      'PUT PutObject 200',
      'HEAD HeadObject 200',
      'HEAD HeadObject 404',
      'GET GetObject 200',
      'GET ListObjectsV2 200',
      'DELETE DeleteObject 200',
      'POST DeleteObjects 200',
    ]);
  });

  it('leaves no multipart upload behind when a stream is stopped', async () => {
    const store = await open();
    const control = new AbortController();
    const operations = async () => (await server.requests()).map(({ operation }) => operation);
    async function* source() {
      for (let sent = 0; ; sent += 1) {
        // Only once the server has begun it is there anything to leave behind.
        if (sent > 40 && (await operations()).includes('CreateMultipartUpload')) control.abort();
        yield new Uint8Array(MIB);
      }
    }
    await server.resetRequests();
    const error = await failure(store.putStream('stopped', source(), { signal: control.signal }));
    expect(error.code).toBe('aborted');
    const sent = await operations();
    expect(sent.filter((name) => name === 'CreateMultipartUpload')).toHaveLength(1);
    expect(sent.filter((name) => name === 'AbortMultipartUpload')).toHaveLength(1);
  });
});

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

async function drain(store: ObjectStore, key: string): Promise<number> {
  let sizeBytes = 0;
  for await (const chunk of (await store.get(key))!.body) sizeBytes += chunk.byteLength;
  return sizeBytes;
}

async function failure(call: Promise<unknown>): Promise<DrayError> {
  const outcome = await call.then(
    (value) => value,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(DrayError);
  return outcome as DrayError;
}
