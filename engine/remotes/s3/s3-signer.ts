/**
 * AWS Signature Version 4 for S3, for requests whose body's hash is known or left out
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). Of our own for its speed:
 * it derives the key once a day and hashes each request in one go. `s3-signer.test.ts` holds it against AWS's
 * published vectors and against AWS's own `@smithy/signature-v4`.
 */
import type { CredentialSource, Credentials } from './keys/credentials.ts';
import {
  ALGORITHM,
  deriveSigningKey,
  encodePairs,
  type SigningKey,
  signatureOf,
  withoutSpareSpaces,
} from './signature.ts';

export interface UnsignedRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Host and port, as the Host header has it. */
  readonly host: string;
  /** Encoded already (`encodeKey`), from the slash on. */
  readonly path: string;
  /** As `encodeQuery` makes it: what is signed is what is sent. */
  readonly query: string;
  /** Lower-case names. `x-amz-content-sha256` is needed: it says how the body is covered. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The headers of the signed request: those given, `host`, `x-amz-date`, `authorization` and any session
 * token.
 */
export type Signer = (request: UnsignedRequest, region: string) => Promise<Record<string, string>>;

export function createSigner(options: {
  readonly credentials: CredentialSource;
  readonly clockOffsetMs: number;
}): Signer {
  const timeOf = createTimeStamp();
  let derived: DerivedKey | undefined;
  return async ({ method, host, path, query, headers: given }, region) => {
    const credentials = await options.credentials();
    const time = timeOf(Date.now() + options.clockOffsetMs);
    const headers: Record<string, string> = { ...given, host, 'x-amz-date': time };
    if (credentials.sessionToken) headers['x-amz-security-token'] = credentials.sessionToken;
    const [headerLines, signedNames] = canonicalise(headers);
    const payloadHash = headers['x-amz-content-sha256']!;
    const day = time.slice(0, 8);
    if (!derived || !isFor(derived, credentials, day, region)) derived = deriveKey(credentials, day, region);
    const canonical = { method, path, query, headerLines, signedNames, payloadHash, time };
    const signature = signatureOf(canonical, derived);
    const credential = `${credentials.accessKeyId}/${derived.scope}`;
    headers.authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${signedNames}, Signature=${signature}`;
    return headers;
  };
}

/** Headers that a proxy may change or add on the way. The same as in `@smithy/signature-v4`. */
const UNSIGNED_HEADERS =
  /^(authorization|cache-control|connection|expect|from|keep-alive|max-forwards|pragma|referer|te|trailer|transfer-encoding|upgrade|user-agent|x-amzn-trace-id|proxy-.*|sec-.*)$/;

/** The lines `name:value`, each with its end, and the names between semicolons. */
function canonicalise(headers: Readonly<Record<string, string>>): readonly [lines: string, names: string] {
  let lines = '';
  let names = '';
  for (const name of Object.keys(headers).sort()) {
    if (UNSIGNED_HEADERS.test(name)) continue;
    lines += `${name}:${withoutSpareSpaces(headers[name] as string)}\n`;
    names += names === '' ? name : `;${name}`;
  }
  return [lines, names];
}

interface DerivedKey extends SigningKey {
  readonly credentials: Credentials;
  readonly day: string;
  readonly region: string;
}

function deriveKey(credentials: Credentials, day: string, region: string): DerivedKey {
  return { credentials, day, region, ...deriveSigningKey(credentials.secretAccessKey, day, region) };
}

function isFor(derived: DerivedKey, credentials: Credentials, day: string, region: string): boolean {
  // A source may return a new object each time, or new keys.
  const isSame =
    derived.credentials === credentials ||
    derived.credentials.secretAccessKey === credentials.secretAccessKey;
  return isSame && derived.day === day && derived.region === region;
}

/** `20130524T000000Z`, formatted once a second. */
function createTimeStamp(): (timeMs: number) => string {
  let lastSeconds = Number.NaN;
  let last = '';
  return (timeMs) => {
    const seconds = Math.floor(timeMs / 1000);
    if (seconds !== lastSeconds) {
      lastSeconds = seconds;
      last = `${new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    }
    return last;
  };
}

/** As it is signed. '' without any. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return encodePairs(Object.entries(query));
}
