/**
 * The hot calls of S3 (HEAD, GET, PUT, LIST, UploadPart and DELETE of one key) without the SDK's middleware:
 * signed by `s3-signer.ts`, sent by `http-exchange.ts`. On a local server this is about three times the SDK's
 * requests for each second of CPU. All other calls go to an SDK store, loaded when the first of them comes.
 */
import { createHash } from 'node:crypto';
import type {
  CallOptions,
  ChecksumKind,
  GetOptions,
  HeadOptions,
  ListPage,
  ListRequest,
  MultipartStore,
  MultipartUpload,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  PartInfo,
  PutOptions,
  PutOutcome,
  ReadOptions,
} from '../object-store.ts';
import { checksumKindOf } from '../received-checksum.ts';
import { checkedBody, checkRange, rangeHeader } from './checked-body.ts';
import { writeOrSeeRefusal } from './condition-preview.ts';
import type { HttpAnswer } from './http-exchange.ts';
import {
  checksumHeaderOf,
  checksumHeaders,
  checksumsOfAnswer,
  conditionHeaders,
  descriptionHeaders,
  etagOf,
  infoOfAnswer,
  lengthOf,
  wholeSizeOf,
} from './object-headers.ts';
import {
  createLeanClient,
  failedCall,
  type LeanClient,
  type LeanRequest,
  type S3Connection,
} from './s3-connection.ts';
import { isAbsentKey, type S3Call, type S3Failure, tooLarge, unwrittenOr } from './s3-errors.ts';
import { endpointOf } from './s3-options.ts';
import { UNSIGNED_PAYLOAD } from './s3-signer.ts';
import { checksumPair, listPageOf, partChecksumOf } from './s3-values.ts';
import { parseListPage } from './s3-xml.ts';

const CHECKSUM_MODE = { 'x-amz-checksum-mode': 'ENABLED' };
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** 1,000 keys of 1,024 bytes, each byte percent-encoded, and what stands around them. */
const LIST_PAGE_MAX_BYTES = 8 * 1024 * 1024;

type OpenSdkStore = () => Promise<ObjectStore & { readonly multipart: MultipartStore }>;

export function createLeanS3Store(connection: S3Connection, openSdkStore: OpenSdkStore): ObjectStore {
  const client = createLeanClient(connection);
  let sdkStore: ReturnType<OpenSdkStore> | undefined;
  const sdk = () => {
    sdkStore ??= openSdkStore();
    return sdkStore;
  };
  const hot: Hot = { client, connection, verified: new Set() };
  return {
    address: connection.place.address,
    provider: connection.place.provider,
    head: (key, options = {}) => head(hot, key, options),
    get: (key, options = {}) => get(hot, key, options),
    read: (key, options) => read(hot, key, options),
    put: (key, bytes, options = {}) =>
      writeOrSeeRefusal({ bytes, options, head: () => head(hot, key, options) }, () =>
        put(hot, key, bytes, options),
      ),
    list: (request, options = {}) => list(hot, request, options),
    delete: async (keys, options = {}) => {
      if (keys.length === 1) await deleteOne(hot, keys[0]!, options);
      else if (keys.length > 1) await (await sdk()).delete(keys, options);
    },
    putStream: async (key, body, options) => (await sdk()).putStream(key, body, options),
    copy: async (from, to, options) => (await sdk()).copy(from, to, options),
    multipart: {
      uploadPart: (upload, number, bytes, options = {}) =>
        uploadPart(hot, upload, { number, bytes, options }),
      create: async (key, options) => (await sdk()).multipart.create(key, options),
      uploadPartCopy: async (upload, number, source, options) =>
        (await sdk()).multipart.uploadPartCopy(upload, number, source, options),
      listParts: async (upload, options) => (await sdk()).multipart.listParts(upload, options),
      complete: async (upload, parts, options) => (await sdk()).multipart.complete(upload, parts, options),
      abort: async (upload, options) => (await sdk()).multipart.abort(upload, options),
      listUploads: async (request, options) => (await sdk()).multipart.listUploads(request, options),
    },
    close: async () => {
      const open = sdkStore;
      sdkStore = undefined;
      await Promise.all([client.close(), open?.then((store) => store.close())]);
    },
  };
}

interface Hot {
  readonly client: LeanClient;
  readonly connection: S3Connection;
  /** Checksums that the store was seen to verify: it answers with the checksum that it computed. */
  readonly verified: Set<ChecksumKind>;
}

async function head(
  { client, connection }: Hot,
  key: string,
  options: HeadOptions,
): Promise<ObjectInfo | undefined> {
  const { partNumber } = options;
  const request: LeanRequest = {
    ...requestFor(connection, { operation: 'HEAD', method: 'HEAD', key }, options),
    headers: options.checksums ? CHECKSUM_MODE : {},
    ...(partNumber === undefined ? {} : { query: { partNumber: String(partNumber) } }),
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) {
    // Without a body, a missing bucket looks like a missing object; the first GET, LIST or PUT tells them apart.
    if (answer.failure.status === 404) return undefined;
    throw failedCall(answer.failure, request.call, connection);
  }
  const checksums = options.checksums === true && partNumber === undefined;
  return infoOfAnswer(answer, key, { sizeBytes: lengthOf(answer) || 0, checksums });
}

async function get(
  { client, connection }: Hot,
  key: string,
  options: GetOptions,
): Promise<ObjectRead | undefined> {
  const request = getRequest(connection, key, options);
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
    etag: etagOf(answer),
    body: checkedBody(body, { sizeBytes, call: request.call, connection, signal }),
    info: wholeInfo(answer, key, options),
  };
}

async function read(
  { client, connection }: Hot,
  key: string,
  options: ReadOptions,
): Promise<ObjectBytes | undefined> {
  const { into } = options;
  const request = { ...getRequest(connection, key, options), ...(into ? { into } : {}) };
  const answer = await client.exchange(request, options.maxBytes);
  if (answer.failure) return absentOr(answer.failure, request.call, connection);
  const { bytes, status } = answer;
  // The client reads a little more than a small limit, so that an error's text fits; hence once more here.
  if (bytes.byteLength > options.maxBytes) throw tooLarge(bytes.byteLength, request.call, connection.place);
  checkRange({ status, sizeBytes: bytes.byteLength, range: options.range }, request.call, connection.place);
  return { bytes, etag: etagOf(answer), info: wholeInfo(answer, key, options) };
}

function wholeInfo(answer: HttpAnswer, key: string, options: GetOptions): ObjectInfo {
  const checksums = options.checksums === true && !options.range;
  return infoOfAnswer(answer, key, { sizeBytes: wholeSizeOf(answer), checksums });
}

async function put(hot: Hot, key: string, bytes: Uint8Array, options: PutOptions): Promise<PutOutcome> {
  const { client, connection } = hot;
  const request: LeanRequest = {
    ...requestFor(connection, { operation: 'PUT', method: 'PUT', key }, options),
    headers: { ...checksumHeaders(options), ...conditionHeaders(options), ...descriptionHeaders(options) },
    payloadHash: payloadHashOf(bytes, options, hot),
    body: bytes,
  };
  const answer = await client.exchange(request, 0);
  if (!answer.failure) {
    noteVerified(answer, options, hot);
    return writtenAs(answer);
  }
  return unwrittenOr(answer.failure, options, request.call, connection.place);
}

async function list(
  { client, connection }: Hot,
  request: ListRequest,
  options: CallOptions,
): Promise<ListPage> {
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
  return listPageOf(parseListPage(new TextDecoder().decode(answer.bytes)), keyPrefix);
}

async function deleteOne({ client, connection }: Hot, key: string, options: CallOptions): Promise<void> {
  const request = requestFor(connection, { operation: 'DELETE', method: 'DELETE', key }, options);
  const { failure } = await client.exchange(request, 0);
  if (failure && !isAbsentKey(failure)) throw failedCall(failure, request.call, connection);
}

async function uploadPart(
  hot: Hot,
  upload: MultipartUpload,
  part: { readonly number: number; readonly bytes: Uint8Array; readonly options: PutOptions },
): Promise<PartInfo> {
  const { client, connection } = hot;
  const { number, bytes, options } = part;
  const request: LeanRequest = {
    ...requestFor(connection, { operation: 'UploadPart', method: 'PUT', key: upload.key }, options),
    query: { partNumber: String(number), uploadId: upload.uploadId },
    headers: checksumHeaders(options),
    payloadHash: payloadHashOf(bytes, options, hot),
    body: bytes,
  };
  const answer = await client.exchange(request, 0);
  if (answer.failure) throw failedCall(answer.failure, request.call, connection);
  noteVerified(answer, options, hot);
  return { number, etag: etagOf(answer), sizeBytes: bytes.byteLength, ...partChecksumOf(options) };
}

function requestFor(
  connection: S3Connection,
  what: { readonly operation: string; readonly method: LeanRequest['method']; readonly key?: string },
  { signal }: CallOptions,
): LeanRequest {
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

function getRequest(connection: S3Connection, key: string, options: GetOptions): LeanRequest {
  const headers = {
    ...(options.range ? { range: rangeHeader(options.range) } : {}),
    ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
    ...(options.checksums && !options.range ? CHECKSUM_MODE : {}),
  };
  return { ...requestFor(connection, { operation: 'GET', method: 'GET', key }, options), headers };
}

/**
 * How the signature covers the body. A store that verifies checksum headers need not hash the body once more; they are
 * signed. Until it is seen to do so, a known SHA-256 is signed as the body's too, which every store verifies.
 * Otherwise as the SDK has it: unsigned over TLS, hashed here without.
 */
function payloadHashOf(bytes: Uint8Array, { checksum }: PutOptions, { connection, verified }: Hot): string {
  if (checksum && verified.has(checksumKindOf(checksum))) return UNSIGNED_PAYLOAD;
  if (checksum && 'sha256' in checksum) return checksum.sha256;
  if (endpointOf(connection.place).protocol === 'https:') return UNSIGNED_PAYLOAD;
  return createHash('sha256').update(bytes).digest('hex');
}

function noteVerified(answer: HttpAnswer, { checksum }: PutOptions, { verified }: Hot): void {
  if (!checksum) return;
  const kind = checksumKindOf(checksum);
  if (!verified.has(kind) && checksumHeaderOf(answer, kind) === checksumPair(checksum)[1]) verified.add(kind);
}

function writtenAs(answer: HttpAnswer): PutOutcome {
  const checksums = checksumsOfAnswer(answer);
  return { written: true, etag: etagOf(answer), ...(checksums ? { checksums } : {}) };
}

function absentOr(failure: S3Failure, call: S3Call, connection: S3Connection): undefined {
  if (isAbsentKey(failure)) return undefined;
  throw failedCall(failure, call, connection);
}
