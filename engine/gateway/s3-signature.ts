/**
 * Checks AWS Signature Version 4, of a header or of a presigned URL, as the S3 API reference describes it
 * ("Authenticating Requests"). The SDK's packages sign and cannot verify.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  ALGORITHM,
  deriveSigningKey,
  encodeKey,
  encodePairs,
  type SigningKey,
  signatureOf,
  UNSIGNED_PAYLOAD,
  withoutSpareSpaces,
} from '../remotes/s3/signature.ts';
import { S3Error, type S3ErrorCode } from './s3-error.ts';

export interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface SignedRequest {
  readonly method: string;
  /** As it was sent. */
  readonly path: string;
  /** As it was sent, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

const SKEW_MS = 15 * 60_000;
const PRESIGNED_SECONDS_MAX = 7 * 24 * 60 * 60;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** What a request says of its signature. */
interface Claim {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly time: string;
  readonly payloadHash: string;
  readonly isPresigned: boolean;
}

/** @param pairs Those of the query, if they are known. @throws S3Error */
export function checkSignature(
  request: SignedRequest,
  keys: KeyPair,
  nowMs: number,
  pairs: readonly Pair[] = queryPairs(request.query),
): void {
  const claim = claimOfHeader(request) ?? claimOfQuery(request, pairs, nowMs);
  if (!claim) throw new S3Error('AccessDenied', 'The request is not signed.');
  if (!claim.isPresigned && Math.abs(nowMs - timeOf(claim.time)) > SKEW_MS)
    throw new S3Error('RequestTimeTooSkewed', 'The time of the request differs too much from that here.');
  checkHeaders(request, claim);
  if (!isEqual(claim.accessKeyId, keys.accessKeyId))
    throw new S3Error('InvalidAccessKeyId', 'The access key id is not that of this gateway.');
  const expected = expectedSignature(request, pairs, claim, keys.secretAccessKey);
  if (isEqual(claim.signature, expected)) return;
  throw new S3Error('SignatureDoesNotMatch', 'The signature is not the one that the secret key makes.');
}

function claimOfHeader({ headers }: SignedRequest): Claim | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const [, algorithm, rest = ''] = /^(\S+)\s+(.*)$/s.exec(authorization) ?? [];
  if (algorithm !== ALGORITHM) throw new S3Error('InvalidRequest', `Sign requests with ${ALGORITHM}.`);
  const fields = new Map(
    rest.split(',').map((part) => {
      const [name = '', ...value] = part.trim().split('=');
      return [name, value.join('=')];
    }),
  );
  const payloadHash = headerOf(headers, 'x-amz-content-sha256');
  if (payloadHash === undefined)
    throw new S3Error('MissingSecurityHeader', 'The header x-amz-content-sha256 is missing.');
  const time = headerOf(headers, 'x-amz-date');
  if (time === undefined) throw new S3Error('AccessDenied', 'The header x-amz-date is missing.');
  const malformed = 'AuthorizationHeaderMalformed';
  return {
    ...scopeOf(fields.get('Credential'), time, malformed),
    ...signedOf(fields.get('SignedHeaders'), fields.get('Signature'), malformed),
    payloadHash,
    isPresigned: false,
  };
}

function claimOfQuery({ headers }: SignedRequest, pairs: readonly Pair[], nowMs: number): Claim | undefined {
  const parameters = new Map(pairs);
  if (parameters.has('AWSAccessKeyId'))
    throw new S3Error('InvalidRequest', `Sign URLs with ${ALGORITHM}: in boto3, signature_version='s3v4'.`);
  if (!parameters.has('X-Amz-Signature') && !parameters.has('X-Amz-Algorithm')) return undefined;
  const malformed = 'AuthorizationQueryParametersError';
  if (parameters.get('X-Amz-Algorithm') !== ALGORITHM)
    throw new S3Error(malformed, `X-Amz-Algorithm must be ${ALGORITHM}.`);
  const time = parameters.get('X-Amz-Date') ?? '';
  const scope = scopeOf(parameters.get('X-Amz-Credential'), time, malformed);
  const expires = parameters.get('X-Amz-Expires') ?? '';
  if (!/^\d{1,6}$/.test(expires) || Number(expires) > PRESIGNED_SECONDS_MAX || Number(expires) < 1)
    throw new S3Error(malformed, 'X-Amz-Expires must be a number of seconds, at most those of a week.');
  const signedMs = timeOf(time);
  if (nowMs > signedMs + Number(expires) * 1_000) throw new S3Error('AccessDenied', 'The URL has expired.');
  if (nowMs < signedMs - SKEW_MS) throw new S3Error('AccessDenied', 'The URL is not valid yet.');
  return {
    ...scope,
    ...signedOf(parameters.get('X-Amz-SignedHeaders'), parameters.get('X-Amz-Signature'), malformed),
    payloadHash:
      parameters.get('X-Amz-Content-Sha256') ?? headerOf(headers, 'x-amz-content-sha256') ?? UNSIGNED_PAYLOAD,
    isPresigned: true,
  };
}

function scopeOf(credential: string | undefined, time: string, code: S3ErrorCode) {
  const parts = credential?.split('/') ?? [];
  const [service, end] = parts.slice(-2);
  const [accessKeyId, date, region] = parts;
  if (parts.length !== 5 || service !== 's3' || end !== 'aws4_request')
    throw new S3Error(code, 'The credential must have the form KEY/DATE/REGION/s3/aws4_request.');
  if (!TIME.test(time) || !time.startsWith(date!))
    throw new S3Error(code, 'The time must have the form 20130524T000000Z, on the day of the credential.');
  return { accessKeyId: accessKeyId!, date: date!, region: region!, time };
}

function signedOf(headers: string | undefined, signature: string | undefined, code: S3ErrorCode) {
  if (!headers || !signature || !SIGNATURE.test(signature))
    throw new S3Error(code, 'The signed headers or the signature are missing.');
  return { signedHeaders: headers.split(';'), signature };
}

/** Otherwise somebody on the way could add a header or send the request elsewhere. */
function checkHeaders({ headers }: SignedRequest, { isPresigned, signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders);
  const needed = Object.keys(headers).filter((name) => name.startsWith('x-amz-'));
  const missing = ['host', ...(isPresigned ? [] : needed)].find((name) => !signed.has(name));
  if (missing !== undefined) throw new S3Error('AccessDenied', `The header ${missing} is not signed.`);
}

function expectedSignature(
  { headers, method, path }: SignedRequest,
  pairs: readonly Pair[],
  { date, payloadHash, region, signedHeaders, time }: Claim,
  secret: string,
): string {
  const query = encodePairs(pairs.filter(([name]) => name !== 'X-Amz-Signature'));
  const lines = signedHeaders.map((name) => `${name}:${withoutSpareSpaces(headerOf(headers, name) ?? '')}\n`);
  const canonical = {
    method,
    path: encodeKey(decodeUri(path)),
    query,
    headerLines: lines.join(''),
    signedNames: signedHeaders.join(';'),
    payloadHash,
    time,
  };
  return signatureOf(canonical, signingKey(secret, date, region));
}

let lastKey: { readonly id: string; readonly key: SigningKey } | undefined;

/** The same for all requests of a day to a region. */
function signingKey(secret: string, date: string, region: string): SigningKey {
  const id = [secret, date, region].join('\n');
  if (lastKey?.id !== id) lastKey = { id, key: deriveSigningKey(secret, date, region) };
  return lastKey.key;
}

type Pair = readonly [name: string, value: string];

/** The parameters in their order, decoded. A plus sign stands for itself. @throws S3Error `InvalidURI` */
export function queryPairs(query: string): Pair[] {
  if (query === '') return [];
  return query.split('&').map((part): Pair => {
    const [name = '', ...value] = part.split('=');
    return [decodeUri(name), decodeUri(value.join('='))];
  });
}

/** @throws S3Error `InvalidURI` */
export function decodeUri(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', 'The URI has a percent sign that begins no UTF-8 character.');
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return Array.isArray(value) ? value.join(',') : value;
}

function timeOf(text: string): number {
  const [, ...parts] = TIME.exec(text) ?? [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
