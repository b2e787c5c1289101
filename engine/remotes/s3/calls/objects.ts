/** The hot calls: HEAD, GET, PUT and LIST. */

import type { HttpAnswer } from '../../http/http-message.ts';
import { advance, checkListed, positionFrom } from '../../listing-advance.ts';
import type {
  CallOptions,
  GetOptions,
  HeadOptions,
  ListPage,
  ListRequest,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  PutOptions,
  PutOutcome,
  ReadOptions,
} from '../../object-store.ts';
import { checkedBody, checkRange, rangeHeader } from '../answers/checked-body.ts';
import { isOfMinio } from '../answers/minio-answer.ts';
import {
  isAbsentKey,
  isStray,
  type S3Call,
  type S3Failure,
  tooLarge,
  unwrittenOr,
} from '../answers/s3-errors.ts';
import { checkCount, readListPage } from '../answers/s3-list-page.ts';
import {
  answeredEtag,
  checksumHeaders,
  conditionHeaders,
  descriptionHeaders,
  infoOfAnswer,
  lengthOf,
  storedLengthOf,
  wholeSizeOf,
} from '../object-headers.ts';
import { failedCall, type S3Connection, type S3Request } from '../s3-connection.ts';
import { listPageOf } from '../s3-values.ts';
import { noteVerified, payloadHashOf, requestFor, type S3Caller, writtenAs } from './s3-call.ts';

const CHECKSUM_MODE = { 'x-amz-checksum-mode': 'ENABLED' };
/** 1,000 keys of 1,024 bytes, each byte percent-encoded, and the XML around them. */
const LIST_PAGE_MAX_BYTES = 8 * 1024 * 1024;

export async function head(
  { client, connection }: S3Caller,
  key: string,
  options: HeadOptions,
): Promise<ObjectInfo | undefined> {
  const { partNumber } = options;
  const request: S3Request = {
    ...requestFor(connection, { operation: 'HEAD', method: 'HEAD', key }, options),
    headers: options.checksums ? CHECKSUM_MODE : {},
    ...(partNumber === undefined ? {} : { query: { partNumber: String(partNumber) } }),
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) {
    // Without a body, a missing bucket looks like a missing object. The first GET, LIST or PUT shows which it
    // is.
    if (answer.failure.status === 404) return undefined;
    throw failedCall(answer.failure, request.call, connection);
  }
  const checksums = options.checksums === true && partNumber === undefined;
  return infoOfAnswer(answer, key, { sizeBytes: lengthOf(answer) || storedLengthOf(answer), checksums });
}

export async function get(
  { client, connection }: S3Caller,
  key: string,
  options: GetOptions,
): Promise<ObjectRead | undefined> {
  const { memory } = options;
  const request = { ...getRequest(connection, key, options), ...(memory ? { memory } : {}) };
  const answer = await client.stream(request);
  if (answer.failure) return absentOr(answer.failure, request.call, connection);
  const { body } = answer;
  const sizeBytes = lengthOf(answer);
  try {
    checkRange({ status: answer.status, sizeBytes, range: options.range }, request.call, connection.place);
  } catch (error) {
    body.destroy();
    throw error;
  }
  const { signal } = options;
  return {
    sizeBytes,
    etag: answeredEtag(answer),
    body: checkedBody(body, { sizeBytes, call: request.call, connection, signal }),
    info: wholeInfo(answer, key, options),
  };
}

export async function read(
  { client, connection }: S3Caller,
  key: string,
  options: ReadOptions,
): Promise<ObjectBytes | undefined> {
  const { into } = options;
  const request = { ...getRequest(connection, key, options), ...(into ? { into } : {}) };
  const answer = await client.exchange(request, options.maxBytes);
  if (answer.failure) return absentOr(answer.failure, request.call, connection);
  const { bytes, status } = answer;
  // The sender's limit leaves room for an error's text, so a small limit is checked again here.
  if (bytes.byteLength > options.maxBytes) throw tooLarge(bytes.byteLength, request.call, connection.place);
  checkRange({ status, sizeBytes: bytes.byteLength, range: options.range }, request.call, connection.place);
  return { bytes, etag: answeredEtag(answer), info: wholeInfo(answer, key, options) };
}

export async function put(
  caller: S3Caller,
  key: string,
  bytes: Uint8Array,
  options: PutOptions,
): Promise<PutOutcome> {
  const { client, connection } = caller;
  const request: S3Request = {
    ...requestFor(connection, { operation: 'PUT', method: 'PUT', key }, options),
    headers: { ...checksumHeaders(options), ...conditionHeaders(options), ...descriptionHeaders(options) },
    payloadHash: payloadHashOf(bytes, options, caller),
    body: bytes,
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) return unwrittenOr(answer.failure, options, request.call, connection.place);
  noteVerified(answer, options, caller);
  return writtenAs(answer);
}

export async function list(caller: S3Caller, request: ListRequest, options: CallOptions): Promise<ListPage> {
  const position = positionFrom(request.continuation);
  const { continuation: _, ...asked } = request;
  const { token } = position;
  const page = await listFrom(
    caller,
    token === undefined ? asked : { ...asked, continuation: token },
    options,
  );
  return advance(page, position);
}

async function listFrom(caller: S3Caller, request: ListRequest, options: CallOptions): Promise<ListPage> {
  const { keyPrefix } = caller.connection.place;
  const { isMinio, page } = await listOnce(caller, request, options);
  const { continuation, prefix, startAfter } = request;
  const isOver = page.continuation === undefined;
  // A `startAfter` outside the prefix comes before all its keys or after all.
  const isByKey = continuation === undefined && startAfter?.startsWith(prefix);
  if (!isMinio || !isOver || !isByKey || startAfter === '') return page;
  return (await listOnce(caller, { ...request, continuation: minioToken(keyPrefix + startAfter) }, options))
    .page;
}

/**
 * MinIO's continuation token for the keys after one. With `start-after`, MinIO's disks stop after a number of
 * keys and count some before that key, such as all below `a-b/` on the way to `a/x`. Then the page is too
 * short or empty, and MinIO calls it the last. With its own tokens it lists correctly, so Dray asks for that
 * end once more by token. Other servers take the token for a key.
 */
function minioToken(key: string): string {
  return Buffer.from(`${key}[minio_cache:v2,return:]`).toString('base64');
}

async function listOnce(
  { client, connection }: S3Caller,
  request: ListRequest,
  options: CallOptions,
): Promise<{ readonly page: ListPage; readonly isMinio: boolean }> {
  const { keyPrefix } = connection.place;
  const { startAfter, delimiter, limit = 1000, continuation } = request;
  const query = {
    ...(continuation === undefined ? {} : { 'continuation-token': continuation }),
    ...(delimiter === undefined ? {} : { delimiter }),
    'encoding-type': 'url',
    'list-type': '2',
    'max-keys': String(limit),
    prefix: keyPrefix + request.prefix,
    ...(startAfter === undefined || continuation !== undefined
      ? {}
      : { 'start-after': keyPrefix + startAfter }),
  };
  const sent = { ...requestFor(connection, { operation: 'LIST', method: 'GET' }, options), query };
  const answer = await client.exchange(sent, LIST_PAGE_MAX_BYTES);
  if (answer.failure) throw failedCall(answer.failure, sent.call, connection);
  const xml = new TextDecoder().decode(answer.bytes);
  const raw = await readListPage(xml, options.signal);
  checkCount(xml, raw);
  const isAsked = startsWith(keyPrefix + request.prefix);
  checkListed(keysOf(raw.objects), isAsked);
  checkListed(raw.folders, isAsked);
  return { page: listPageOf(raw, keyPrefix), isMinio: isOfMinio(answer) };
}

function* keysOf(objects: readonly { readonly key: string }[]): Generator<string> {
  for (const { key } of objects) yield key;
}

/** Some servers say that they encoded their keys, and did not: a plus then arrives as a space. */
function startsWith(prefix: string): (key: string) => boolean {
  const misread = prefix.replaceAll('+', ' ');
  return (key) => key.startsWith(prefix) || key.startsWith(misread);
}

function getRequest(connection: S3Connection, key: string, options: GetOptions): S3Request {
  const headers = {
    ...(options.range ? { range: rangeHeader(options.range) } : {}),
    ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
    ...(options.checksums && !options.range ? CHECKSUM_MODE : {}),
  };
  const request = { ...requestFor(connection, { operation: 'GET', method: 'GET', key }, options), headers };
  const { versionId } = options;
  return versionId === undefined ? request : { ...request, query: { versionId } };
}

function wholeInfo(answer: HttpAnswer, key: string, options: GetOptions): ObjectInfo {
  const checksums = options.checksums === true && !options.range;
  return infoOfAnswer(answer, key, { sizeBytes: wholeSizeOf(answer), checksums });
}

function absentOr(failure: S3Failure, call: S3Call, connection: S3Connection): undefined {
  if (isAbsentKey(failure) && !isStray(failure, call)) return undefined;
  throw failedCall(failure, call, connection);
}
