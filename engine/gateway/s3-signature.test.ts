/** The check of signatures against those that AWS has published, and against AWS's own signer. */
import { createHash } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sha256 } from '../remotes/s3/aws-sha256.fixture.ts';
import { encodeKey, encodePairs } from '../remotes/s3/signature.ts';
import { S3Error } from './s3-error.ts';
import { checkSignature, type KeyPair, queryPairs, type SignedRequest } from './s3-signature.ts';

const EMPTY_SHA256 = createHash('sha256').digest('hex');
const KEYS: KeyPair = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const NOW_MS = Date.UTC(2013, 4, 24);
const HOUR_MS = 3_600_000;
const HOST = 'examplebucket.s3.amazonaws.com';

/** The code of the refusal, or `undefined` if there is none. */
function refusalOf(request: SignedRequest, keys = KEYS, nowMs = NOW_MS): string | undefined {
  try {
    checkSignature(request, keys, nowMs);
    return undefined;
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

function authorization(signedHeaders: string, signature: string, scope = '20130524/us-east-1/s3'): string {
  const credential = `AKIAIOSFODNN7EXAMPLE/${scope}/aws4_request`;
  return `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${signedHeaders},Signature=${signature}`;
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const PUBLISHED: Readonly<Record<string, SignedRequest>> = {
  'GET Object': published('/test.txt', '', {
    range: 'bytes=0-9',
    authorization: authorization(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  }),
  'GET Bucket Lifecycle': published('/', 'lifecycle', {
    authorization: authorization(
      'host;x-amz-content-sha256;x-amz-date',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ),
  }),
  'List Objects': published('/', 'max-keys=2&prefix=J', {
    authorization: authorization(
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ),
  }),
};

function published(path: string, query: string, headers: Record<string, string>): SignedRequest {
  const common = { host: HOST, 'x-amz-content-sha256': EMPTY_SHA256, 'x-amz-date': '20130524T000000Z' };
  return { method: 'GET', path, query, headers: { ...common, ...headers } };
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
const PRESIGNED: SignedRequest = {
  method: 'GET',
  path: '/test.txt',
  query:
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  headers: { host: HOST },
};

describe('The published examples of Signature Version 4', () => {
  it.each(Object.entries(PUBLISHED))('%s is accepted, and refused once it is changed', (_name, request) => {
    expect(refusalOf(request)).toBeUndefined();
    const { headers, path, query } = request;
    const mismatch = 'SignatureDoesNotMatch';
    expect(refusalOf({ ...request, method: 'HEAD' })).toBe(mismatch);
    expect(refusalOf({ ...request, path: `${path}a` })).toBe(mismatch);
    expect(refusalOf({ ...request, query: `${query}&prefix=a` })).toBe(mismatch);
    expect(refusalOf({ ...request, headers: { ...headers, host: 'another' } })).toBe(mismatch);
    expect(refusalOf(request, { ...KEYS, secretAccessKey: 'another' })).toBe(mismatch);
    expect(refusalOf(request, { ...KEYS, accessKeyId: 'ANOTHER' })).toBe('InvalidAccessKeyId');
  });

  it('the presigned URL is accepted for a day, and refused once it is changed', () => {
    expect(refusalOf(PRESIGNED)).toBeUndefined();
    expect(refusalOf(PRESIGNED, KEYS, NOW_MS + 24 * HOUR_MS)).toBeUndefined();
    expect(refusalOf(PRESIGNED, KEYS, NOW_MS + 24 * HOUR_MS + 1_000)).toBe('AccessDenied');
    expect(refusalOf(PRESIGNED, KEYS, NOW_MS - HOUR_MS)).toBe('AccessDenied');
    const longer = PRESIGNED.query.replace('Expires=86400', 'Expires=86401');
    expect(refusalOf({ ...PRESIGNED, query: longer })).toBe('SignatureDoesNotMatch');
    const more = `${PRESIGNED.query}&response-content-type=text%2Fhtml`;
    expect(refusalOf({ ...PRESIGNED, query: more })).toBe('SignatureDoesNotMatch');
  });
});

describe('The check of signatures', () => {
  it('accepts what AWS signs, in a header and in a URL, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(request, keyPair, timeMs, fc.boolean(), async (asked, keys, nowMs, isPresigned) => {
        const signed = await signedByAws(asked, keys, nowMs, isPresigned);
        expect(refusalOf(signed, keys, nowMs)).toBeUndefined();
        expect(refusalOf(withQueryReversed(signed), keys, nowMs)).toBeUndefined();
        expect(refusalOf({ ...signed, path: `${signed.path}x` }, keys, nowMs)).toBe('SignatureDoesNotMatch');
        const secretAccessKey = `${keys.secretAccessKey}x`;
        expect(refusalOf(signed, { ...keys, secretAccessKey }, nowMs)).toBe('SignatureDoesNotMatch');
        expect(refusalOf(signed, keys, nowMs + 8 * 24 * HOUR_MS)).toBe(
          isPresigned ? 'AccessDenied' : 'RequestTimeTooSkewed',
        );
      }),
      { numRuns: 200, seed: 24 },
    );
  });

  it('sorts parameters by their names, of which one may begin another', async () => {
    const asked = {
      method: 'GET' as const,
      key: 'a',
      headers: {},
      query: { prefix: '1', 'prefix-a': '2', 'prefix.b': '3', prefix0: '4' },
    };
    const keys = { accessKeyId: 'KEY', secretAccessKey: 'secret' };
    expect(refusalOf(await signedByAws(asked, keys, NOW_MS, false), keys)).toBeUndefined();
  });

  it('names what is wrong with a signature as S3 does', () => {
    const request = PUBLISHED['GET Object']!;
    const signature = '0'.repeat(64);
    const withHeaders = (headers: Record<string, string | undefined>) =>
      refusalOf({ ...request, headers: { ...request.headers, ...headers } });
    const claimed = (text: string) => withHeaders({ authorization: text });
    expect(withHeaders({ authorization: undefined })).toBe('AccessDenied');
    expect(claimed('AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg=')).toBe('InvalidRequest');
    expect(claimed('Basic Zm9vOmJhcg==')).toBe('InvalidRequest');
    for (const malformed of [
      'AWS4-HMAC-SHA256 Credential',
      authorization('host', 'short'),
      authorization('host', signature, '20130524/us-east-1/ec2'),
      authorization('host', signature, '20130524/s3'),
      authorization('host', signature, '20130525/us-east-1/s3'),
    ])
      expect(claimed(malformed), malformed).toBe('AuthorizationHeaderMalformed');
    expect(withHeaders({ 'x-amz-content-sha256': undefined })).toBe('MissingSecurityHeader');
    expect(withHeaders({ 'x-amz-date': undefined })).toBe('AccessDenied');
    expect(withHeaders({ 'x-amz-date': '20130524T003000Z' })).toBe('RequestTimeTooSkewed');
    expect(claimed(authorization('range;x-amz-content-sha256;x-amz-date', signature))).toBe('AccessDenied');
    expect(claimed(authorization('host;x-amz-date', signature))).toBe('AccessDenied');
    expect(withHeaders({ 'x-amz-request-payer': 'requester' })).toBe('AccessDenied');
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(claimed(authorization(`host;x-amz-content-sha256;x-amz-date;${name}`, signature))).toBe(
        'SignatureDoesNotMatch',
      );
  });

  it('names what is wrong with a presigned URL as S3 does', () => {
    const changed = (from: string | RegExp, to: string) =>
      refusalOf({ ...PRESIGNED, query: PRESIGNED.query.replace(from, to) });
    const malformed = 'AuthorizationQueryParametersError';
    expect(changed('Expires=86400', 'Expires=604801')).toBe(malformed);
    expect(changed('Expires=86400', 'Expires=-1')).toBe(malformed);
    expect(changed('Expires=86400', 'Expires=0')).toBe(malformed);
    expect(changed('&X-Amz-Expires=86400', '')).toBe(malformed);
    expect(changed(/X-Amz-Signature=.*/, '')).toBe(malformed);
    expect(changed('AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA1')).toBe(malformed);
    expect(changed('%2Fs3%2F', '%2Fiam%2F')).toBe(malformed);
    expect(changed('SignedHeaders=host', 'SignedHeaders=range')).toBe('AccessDenied');
    expect(changed('AKIA', '%ff')).toBe('InvalidURI');
    const query = 'AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Expires=1175139620&Signature=NpgCjnDzrM%2B';
    expect(refusalOf({ ...PRESIGNED, query })).toBe('InvalidRequest');
    expect(refusalOf({ ...PRESIGNED, query: '' })).toBe('AccessDenied');
  });
});

interface Asked {
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.stringMatching(/^[ +~*'()!/%&=?#a-zA-Z0-9_.-]{0,12}$/),
);
const parameter = text.filter((name) => !/^(?:__proto__|x-amz-.*|AWSAccessKeyId)$/i.test(name));
const request: fc.Arbitrary<Asked> = fc.record({
  method: fc.constantFrom('GET', 'HEAD'),
  key: text,
  query: fc.dictionary(parameter, text, { maxKeys: 4 }),
  headers: fc.dictionary(
    fc.constantFrom('range', 'if-match', 'cache-control', 'x-amz-checksum-mode'),
    // Node has removed the spaces around a value.
    fc.stringMatching(/^[!-~]([ -~]{0,18}[!-~])?$/),
    { maxKeys: 4 },
  ),
});
const keyPair = fc.record({
  accessKeyId: fc.stringMatching(/^[A-Z0-9]{3,20}$/),
  secretAccessKey: fc.string({ minLength: 1, maxLength: 80 }),
});
const timeMs = fc
  .integer({ min: Date.UTC(2015, 0) / 1_000, max: Date.UTC(2050, 0) / 1_000 })
  .map((seconds) => seconds * 1_000);

async function signedByAws(
  { headers, key, method, query }: Asked,
  keys: KeyPair,
  nowMs: number,
  isPresigned: boolean,
): Promise<SignedRequest> {
  const signer = new SignatureV4({
    service: 's3',
    region: 'eu-west-1',
    credentials: keys,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const host = '127.0.0.1:9400';
  // As the SDK's own signer of URLs does.
  const payload: Record<string, string> = isPresigned
    ? { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
    : { 'x-amz-content-sha256': EMPTY_SHA256 };
  const path = `/bucket/${encodeKey(key)}`;
  const asked = {
    method,
    protocol: 'http:',
    hostname: host,
    path,
    query: { ...query },
    headers: { ...headers, host, ...payload },
  };
  const options = { signingDate: new Date(nowMs) };
  const signed = isPresigned
    ? await signer.presign(asked, { ...options, expiresIn: 600 })
    : await signer.sign(asked, options);
  const pairs = Object.entries(signed.query ?? {}).map(([name, value]) => [name, String(value)] as const);
  return { method, path, query: encodePairs(pairs), headers: signed.headers };
}

function withQueryReversed(signed: SignedRequest): SignedRequest {
  const pairs = queryPairs(signed.query).toReversed();
  const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  return { ...signed, query };
}
