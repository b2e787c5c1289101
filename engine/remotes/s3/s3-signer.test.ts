/** Signatures against those that AWS has published, and against AWS's own implementation. */
import { createHash } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sha256 } from './aws-sha256.fixture.ts';
import type { Credentials } from './keys/credentials.ts';
import { createSigner, encodeQuery, type UnsignedRequest } from './s3-signer.ts';
import { encodeKey, UNSIGNED_PAYLOAD } from './signature.ts';

const EMPTY_SHA256 = sha256('');

describe('The published examples of Signature Version 4', () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2013, 4, 24) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const examples: readonly (readonly [string, Partial<UnsignedRequest>, string])[] = [
    [
      'GET Object',
      {
        path: '/test.txt',
        headers: { range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY_SHA256 },
      },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT Object',
      {
        method: 'PUT',
        path: `/${encodeKey('test$file.text')}`,
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
          'x-amz-content-sha256': sha256('Welcome to Amazon S3.'),
        },
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET Bucket Lifecycle',
      { path: '/', query: encodeQuery({ lifecycle: '' }) },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'List Objects',
      { path: '/', query: encodeQuery({ prefix: 'J', 'max-keys': '2' }) },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ];

  it.each(examples)('%s', async (_name, request, signature) => {
    const sign = createSigner({ credentials: async () => credentials, clockOffsetMs: 0 });
    const signed = await sign(
      {
        method: 'GET',
        host: 'examplebucket.s3.amazonaws.com',
        path: '/',
        query: '',
        headers: { 'x-amz-content-sha256': EMPTY_SHA256 },
        ...request,
      },
      'us-east-1',
    );
    expect(signed.authorization).toMatch(new RegExp(`Signature=${signature}$`));
    expect(signed['x-amz-date']).toBe('20130524T000000Z');
  });
});

describe('The signer', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('signs requests of every form as AWS does', async () => {
    vi.useFakeTimers({ now: 0 });
    let current: Credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
    // One for all requests, so that what it keeps from one to the next is tried as well.
    const sign = createSigner({ credentials: async () => current, clockOffsetMs: 7000 });
    await fc.assert(
      fc.asyncProperty(request, credentials, region, timeMs, async (asked, keys, where, nowMs) => {
        current = keys;
        vi.setSystemTime(nowMs);
        const { key, query, headers, host, method } = asked;
        const signed = await sign(
          { method, host, path: `/bucket/${encodeKey(key)}`, query: encodeQuery(query), headers },
          where,
        );
        expect(signed).toEqual(await signedByAws(asked, keys, where, nowMs + 7000));
      }),
      { numRuns: 300, seed: 9 },
    );
  });

  it('writes a query in the order and the form that is signed', () => {
    fc.assert(
      fc.property(fc.dictionary(parameter, text), (query) => {
        const written = encodeQuery(query);
        const read = Object.fromEntries(new URLSearchParams(written));
        expect(read).toEqual({ ...query });
        expect(written).toMatch(/^[\w.~%&=-]*$/);
        const names = written.split('&').map((pair) => pair.split('=')[0] as string);
        expect(names).toEqual([...names].sort());
      }),
    );
  });

  it('uses refreshed keys, and the date of a new day', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 23, 59, 59) });
    let keys: Credentials = { accessKeyId: 'one', secretAccessKey: 'secret' };
    const sign = createSigner({ credentials: async () => keys, clockOffsetMs: 0 });
    const asked = { method: 'GET', host: 'h', path: '/', query: '' } as const;
    const signed = () => sign({ ...asked, headers: { 'x-amz-content-sha256': EMPTY_SHA256 } }, 'eu-west-1');
    expect((await signed()).authorization).toContain('Credential=one/20260101/eu-west-1/s3/aws4_request,');
    keys = { accessKeyId: 'two', secretAccessKey: 'other', sessionToken: 'token' };
    vi.advanceTimersByTime(1000);
    const later = await signed();
    expect(later.authorization).toContain('Credential=two/20260102/eu-west-1/s3/aws4_request,');
    expect(later['x-amz-security-token']).toBe('token');
    expect(later.authorization).toContain('x-amz-security-token');
  });
});

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.stringMatching(/^[ +~*'()!/%&=?#a-zA-Z0-9_.-]{0,12}$/),
);
const headerValue = fc.stringMatching(/^[\t -~]{0,20}$/);
const headerName = fc.oneof(
  fc.stringMatching(/^x-amz-meta-[a-z0-9-]{1,8}$/),
  fc.constantFrom('range', 'if-match', 'content-type', 'cache-control', 'user-agent', 'x-amzn-trace-id'),
);
// As a field of a plain object, which the reference takes queries as, this name means something else.
const parameter = text.filter((name) => name !== '__proto__');
const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE'),
  host: fc.constantFrom('bucket.s3.amazonaws.com', '127.0.0.1:9000', '[::1]:7070'),
  key: text,
  query: fc.dictionary(parameter, text, { maxKeys: 4 }),
  headers: fc
    .tuple(
      fc.dictionary(headerName, headerValue, { maxKeys: 5 }),
      fc.constantFrom(UNSIGNED_PAYLOAD, EMPTY_SHA256),
    )
    .map(([headers, payloadHash]) => ({ ...headers, 'x-amz-content-sha256': payloadHash })),
});
const credentials = fc.record(
  {
    accessKeyId: fc.stringMatching(/^[A-Z0-9]{3,20}$/),
    secretAccessKey: fc.string({ minLength: 1, maxLength: 80 }),
    sessionToken: fc.stringMatching(/^[A-Za-z0-9+/=]{1,80}$/),
  },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);
const region = fc.constantFrom('us-east-1', 'eu-central-1', 'auto');
const timeMs = fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2050, 0) });

async function signedByAws(
  asked: { method: string; host: string; key: string; query: object; headers: Record<string, string> },
  keys: Credentials,
  signingRegion: string,
  nowMs: number,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    service: 's3',
    region: signingRegion,
    credentials: keys,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const { method, host, key, query, headers } = asked;
  const signed = await signer.sign(
    {
      method,
      protocol: '',
      hostname: host,
      path: `/bucket/${encodeKey(key)}`,
      query: { ...query },
      headers: { ...headers, host },
    },
    { signingDate: new Date(nowMs), signingRegion },
  );
  return signed.headers;
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
