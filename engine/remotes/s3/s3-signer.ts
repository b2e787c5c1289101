/** AWS Signature Version 4 for S3, by AWS's own `@smithy/signature-v4` (which also caches the derived key). */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { CredentialSource } from './s3-credentials.ts';

export interface UnsignedRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Host and port, as the Host header has it. */
  readonly host: string;
  /** Encoded already (`encodeKey`), from the slash on. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Lower-case names. `x-amz-content-sha256` is needed: it says how the body is covered. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The headers of the signed request: those given, `host`, `x-amz-date`, `authorization` and any session token. */
export type Signer = (request: UnsignedRequest, region: string) => Promise<Record<string, string>>;

/** A request whose body the signature does not cover. TLS, or a signed checksum header, does. */
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

export async function createSigner(options: {
  readonly credentials: CredentialSource;
  readonly clockOffsetMs: number;
}): Promise<Signer> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const signer = new SignatureV4({
    service: 's3',
    // Given anew with each request: the region may change once.
    region: 'us-east-1',
    credentials: options.credentials,
    sha256: NodeSha256,
    // S3 alone among the services signs the path as it is sent.
    uriEscapePath: false,
  });
  return async ({ method, host, path, query, headers }, region) => {
    const request = {
      method,
      protocol: '',
      hostname: host,
      path,
      query: { ...query },
      headers: { ...headers, host },
    };
    const signingDate = new Date(Date.now() + options.clockOffsetMs);
    return (await signer.sign(request, { signingDate, signingRegion: region })).headers;
  };
}

/** Percent-encodes all but the unreserved characters of RFC 3986, as the signature wants it. */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The same, with slashes left as they are. */
export function encodeKey(key: string): string {
  return /^[\w.~/-]*$/.test(key) ? key : key.split('/').map(encodeUri).join('/');
}

export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
    .join('&');
}

/** The shape that the signer wants its hash in. */
class NodeSha256 {
  readonly #secret: Uint8Array | string | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : asBytes(secret);
    this.#hash = this.#start();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : asBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#start();
  }

  #start(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function asBytes(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
