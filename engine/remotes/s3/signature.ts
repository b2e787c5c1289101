/**
 * What those who sign by AWS Signature Version 4 and those who check it compute alike
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export const ALGORITHM = 'AWS4-HMAC-SHA256';

/** A request whose body the signature does not cover. TLS, or a signed checksum header, does. */
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

/** The key for one day in one region, as a handle of Node's, which is set up once. */
export interface SigningKey {
  readonly scope: string;
  readonly key: KeyObject;
}

export function deriveSigningKey(secret: string, day: string, region: string): SigningKey {
  let key = Buffer.from(`AWS4${secret}`);
  for (const part of [day, region, 's3', 'aws4_request'])
    key = createHmac('sha256', key).update(part).digest();
  return { scope: `${day}/${region}/s3/aws4_request`, key: createSecretKey(key) };
}

export interface CanonicalRequest {
  readonly method: string;
  /** Encoded by `encodeKey`. */
  readonly path: string;
  /** Encoded by `encodeUri`, and sorted. */
  readonly query: string;
  /** `name:value`, each with its end, sorted. */
  readonly headerLines: string;
  /** Between semicolons. */
  readonly signedNames: string;
  readonly payloadHash: string;
  /** `20130524T000000Z` */
  readonly time: string;
}

/** In hex. */
export function signatureOf(request: CanonicalRequest, { key, scope }: SigningKey): string {
  const { headerLines, method, path, payloadHash, query, signedNames, time } = request;
  const canonical = `${method}\n${path}\n${query}\n${headerLines}\n${signedNames}\n${payloadHash}`;
  const toSign = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`;
  return createHmac('sha256', key).update(toSign).digest('hex');
}

/** A header's value as it is signed. */
export function withoutSpareSpaces(value: string): string {
  return /^\s|[\t\r\n]| {2}|\s$/.test(value)
    ? value
        .replace(/[\r\n]/g, ' ')
        .replace(/[ \t]+/g, ' ')
        .replace(/^ | $/g, '')
    : value;
}

/** Percent-encodes all but the unreserved characters of RFC 3986, as the signature wants it. */
export function encodeUri(text: string): string {
  if (/^[\w.~-]*$/.test(text)) return text;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A query, ordered by the encoded names as the signature needs it. '' without any. */
export function encodePairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  if (pairs.length === 0) return '';
  const encoded = pairs.map(([name, value]) => [encodeUri(name), encodeUri(value)] as const);
  if (encoded.length > 1)
    encoded.sort(([one, a], [other, b]) => (one < other || (one === other && a < b) ? -1 : 1));
  return encoded.map(([name, value]) => `${name}=${value}`).join('&');
}

/** A path: as `encodeUri`, but keeps slashes. */
export function encodeKey(key: string): string {
  return /^[\w.~/-]*$/.test(key) ? key : key.split('/').map(encodeUri).join('/');
}
