/** The steps that all calls share: beginning a request, signing its body, and learning from the answers. */
import { createHash } from 'node:crypto';
import type { HttpAnswer } from '../../http/http-message.ts';
import type { CallOptions, ChecksumKind, ObjectStore, PutOptions, PutOutcome } from '../../object-store.ts';
import { checksumKindOf } from '../../received-checksum.ts';
import { isOfMinio } from '../answers/minio-answer.ts';
import type { S3Failure } from '../answers/s3-errors.ts';
import { type ErrorBody, readResult } from '../answers/s3-xml.ts';
import { answeredEtag, checksumHeaderOf, checksumsOfAnswer } from '../object-headers.ts';
import type { S3Connection, S3Request, S3Sender } from '../s3-connection.ts';
import { endpointOf } from '../s3-options.ts';
import { checksumPair } from '../s3-values.ts';
import { UNSIGNED_PAYLOAD } from '../signature.ts';

export interface S3Caller {
  readonly client: S3Sender;
  readonly connection: S3Connection;
  /** Checksums that the store verifies: an answer had the checksum that the store computed. */
  readonly verified: Set<ChecksumKind>;
  /** A store for another bucket of the same endpoint. Closing this one closes it. */
  siblingOf(bucket: string): Pick<ObjectStore, 'head'>;
}

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export function requestFor(
  connection: S3Connection,
  what: { readonly operation: string; readonly method: S3Request['method']; readonly key?: string },
  { signal }: CallOptions,
): S3Request {
  const key = what.key === undefined ? undefined : connection.place.keyPrefix + what.key;
  const call = { operation: what.operation, key };
  return {
    call,
    method: what.method,
    payloadHash: EMPTY_SHA256,
    signal,
    ...(key === undefined ? {} : { key }),
  };
}

/** The body of a request with XML. It is small, so it is always hashed. */
export function xmlBody(body: Uint8Array): Pick<S3Request, 'body' | 'payloadHash'> {
  return { body, payloadHash: createHash('sha256').update(body).digest('hex') };
}

/**
 * How the signature covers the body. If the store verifies checksum headers, those are signed and the body
 * need not be hashed again. Before that is known, a known SHA-256 is signed as the body's, which every store
 * verifies. Otherwise it is as in the SDK: unsigned over TLS, hashed here without.
 */
export function payloadHashOf(
  bytes: Uint8Array,
  { checksum }: PutOptions,
  { connection, verified }: S3Caller,
): string {
  if (checksum && verified.has(checksumKindOf(checksum))) return UNSIGNED_PAYLOAD;
  if (checksum && 'sha256' in checksum) return checksum.sha256;
  if (endpointOf(connection.place).protocol === 'https:') return UNSIGNED_PAYLOAD;
  return createHash('sha256').update(bytes).digest('hex');
}

export function noteVerified(answer: HttpAnswer, { checksum }: PutOptions, { verified }: S3Caller): void {
  if (!checksum) return;
  const kind = checksumKindOf(checksum);
  if (!verified.has(kind) && checksumHeaderOf(answer, kind) === checksumPair(checksum)[1]) verified.add(kind);
}

/** The outcome of a write, from the answer's headers. */
export function writtenAs(answer: HttpAnswer): PutOutcome {
  const checksums = checksumsOfAnswer(answer);
  return { written: true, etag: answeredEtag(answer), ...(checksums ? { checksums } : {}) };
}

/** Enough for a page of 1,000 parts or uploads. */
const RESULT_MAX_BYTES = 8 * 1024 * 1024;

/**
 * How long the store may stay silent while it copies or joins parts, up to 5 GiB on its disks. Amazon sends
 * white space meanwhile. Others, such as MinIO during a copy, send nothing before the end.
 */
export const STORE_WORK_QUIET_MS = 15 * 60_000;

export type XmlAnswer =
  | { readonly xml: string; readonly isMinio: boolean; readonly failure?: never }
  | { readonly failure: S3Failure; readonly xml?: never };

/**
 * Sends a request whose result is XML. An error comes back as `failure`, also one in an answer of status 200.
 * @param rootName Absent where a success has no content.
 */
export async function exchangeXml(
  { client, connection }: S3Caller,
  request: S3Request,
  rootName: string | undefined,
): Promise<XmlAnswer> {
  const answer = await client.exchange(request, RESULT_MAX_BYTES);
  if (answer.failure) return { failure: answer.failure };
  if (rootName === undefined) return { xml: '', isMinio: isOfMinio(answer) };
  const result = readResult(answer.bytes, rootName);
  if (result.error) return { failure: lateFailure(result.error, connection) };
  return { xml: result.xml, isMinio: isOfMinio(answer) };
}

/** The statuses that these errors have when they come in time. */
const LATE_STATUSES: Readonly<Record<string, number>> = {
  PreconditionFailed: 412,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  AccessDenied: 403,
  BadDigest: 400,
  InvalidPart: 400,
  InvalidRequest: 400,
};

function lateFailure(error: ErrorBody, connection: S3Connection): S3Failure {
  return {
    status: LATE_STATUSES[error.code ?? ''] ?? 500,
    code: error.code,
    message: error.message,
    remoteTimeMs: undefined,
    signedTimeMs: Date.now() + connection.clockOffsetMs,
  };
}
