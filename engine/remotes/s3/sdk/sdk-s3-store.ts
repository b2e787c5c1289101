/** S3 through the AWS SDK alone, for `client: 'sdk'`: whatever the lean client may get wrong, this has another try at. */

import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type {
  CallOptions,
  GetOptions,
  HeadOptions,
  ListPage,
  ListRequest,
  MultipartStore,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  PutOptions,
  PutOutcome,
  PutStreamOptions,
  StorePlace,
} from '../../object-store.ts';
import { checkedBody, checkRange, rangeHeader } from '../answers/checked-body.ts';
import {
  isAbsentKey,
  isStray,
  type S3Call,
  tooLarge,
  translateFailure,
  unwrittenOr,
} from '../answers/s3-errors.ts';
import { continuationOf } from '../answers/s3-list-page.ts';
import { unquote } from '../answers/s3-xml.ts';
import { isRefusedBeforehand, writeOrSeeRefusal } from '../condition-preview.ts';
import type { S3Connection } from '../s3-connection.ts';
import { listPageOf } from '../s3-values.ts';
import { callOf, createSdkCaller, type SdkCaller } from './sdk-caller.ts';
import { copyInStore } from './sdk-copy.ts';
import { deleteMany } from './sdk-delete.ts';
import { checksumFields, conditionFields, descriptionFields, infoOfOutput, writtenAs } from './sdk-fields.ts';
import { createSdkMultipart, partsOf } from './sdk-multipart.ts';
import { putStream } from './sdk-put-stream.ts';

export type SdkS3Store = ObjectStore & { readonly multipart: MultipartStore };

export async function createSdkS3Store(
  connection: S3Connection,
  storePlace?: StorePlace,
): Promise<SdkS3Store> {
  const sdk = await createSdkCaller(connection);
  return {
    address: connection.place.address,
    provider: connection.place.provider,
    ...(storePlace ? { place: storePlace } : {}),
    head: (key, options = {}) => head(sdk, key, options),
    get: (key, options = {}) => get(sdk, key, options),
    read: (key, options) => read(sdk, key, options),
    put: (key, bytes, options = {}) =>
      writeOrSeeRefusal({ bytes, options, head: () => head(sdk, key, options) }, () =>
        put(sdk, key, bytes, options),
      ),
    putStream: (key, body, options = {}) => putStreamUnder(sdk, key, body, options),
    list: (request, options = {}) => list(sdk, request, options),
    delete: (keys, options = {}) => deleteMany(sdk, keys, options),
    copy: (from, to, options = {}) => copyInStore(sdk, from, to, options),
    parts: (key, options = {}) => partsOf(sdk, key, options),
    multipart: createSdkMultipart(sdk),
    close: async () => sdk.close(),
  };
}

async function head(sdk: SdkCaller, key: string, options: HeadOptions): Promise<ObjectInfo | undefined> {
  const call = callOf(sdk, 'HEAD', key);
  const { partNumber, signal } = options;
  const command = new sdk.module.HeadObjectCommand({
    ...sdk.object(key),
    ...(options.checksums ? { ChecksumMode: 'ENABLED' } : {}),
    ...(partNumber === undefined ? {} : { PartNumber: partNumber }),
  });
  const outcome = await sdk.attempt(call, command, signal);
  if (outcome.failure) {
    // Without a body, a missing bucket looks like a missing object; the first GET, LIST or PUT tells them apart.
    if (outcome.failure.status === 404) return undefined;
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
  const { output, remoteTimeMs } = outcome;
  const checksums = options.checksums === true && partNumber === undefined;
  return infoOfOutput(output, key, { sizeBytes: output.ContentLength ?? 0, checksums, remoteTimeMs });
}

async function get(sdk: SdkCaller, key: string, options: GetOptions): Promise<ObjectRead | undefined> {
  const call = callOf(sdk, 'GET', key);
  const found = await getObject(sdk, call, key, options);
  if (!found) return undefined;
  const { output, remoteTimeMs } = found;
  const { connection } = sdk;
  const { signal } = options;
  const sizeBytes = output.ContentLength ?? Number.NaN;
  const source = stopWith(output.Body as Readable, signal);
  return {
    sizeBytes,
    etag: unquote(output.ETag ?? ''),
    body: checkedBody(source, { sizeBytes, call, connection, signal }),
    info: infoOfOutput(output, key, {
      sizeBytes: Number(/\/(\d+)$/.exec(output.ContentRange ?? '')?.[1] ?? sizeBytes),
      checksums: options.checksums === true && !options.range,
      remoteTimeMs,
    }),
  };
}

async function read(
  sdk: SdkCaller,
  key: string,
  options: GetOptions & { readonly maxBytes: number },
): Promise<ObjectBytes | undefined> {
  const read = await get(sdk, key, options);
  if (!read) return undefined;
  const call = callOf(sdk, 'GET', key);
  if (read.sizeBytes > options.maxBytes) {
    read.body.destroy();
    throw tooLarge(read.sizeBytes, call, sdk.connection.place);
  }
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of read.body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > options.maxBytes) throw tooLarge(sizeBytes, call, sdk.connection.place);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return { bytes, etag: read.etag, info: read.info };
}

async function getObject(
  sdk: SdkCaller,
  call: S3Call,
  key: string,
  { range, ifMatch, checksums, signal }: GetOptions,
): Promise<
  { readonly output: GetObjectCommandOutput; readonly remoteTimeMs: number | undefined } | undefined
> {
  const command = new sdk.module.GetObjectCommand({
    ...sdk.object(key),
    ...(range ? { Range: rangeHeader(range) } : {}),
    ...(ifMatch === undefined ? {} : { IfMatch: `"${ifMatch}"` }),
    ...(checksums && !range ? { ChecksumMode: 'ENABLED' } : {}),
  });
  const outcome = await sdk.attempt(call, command, signal);
  if (outcome.failure) {
    if (isAbsentKey(outcome.failure) && !isStray(outcome.failure, call)) return undefined;
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
  const { output, remoteTimeMs } = outcome;
  const status = output.$metadata.httpStatusCode;
  try {
    checkRange({ status, sizeBytes: output.ContentLength ?? Number.NaN, range }, call, sdk.connection.place);
  } catch (error) {
    (output.Body as Readable).destroy();
    throw error;
  }
  return { output, remoteTimeMs };
}

async function put(sdk: SdkCaller, key: string, bytes: Uint8Array, options: PutOptions): Promise<PutOutcome> {
  const call = callOf(sdk, 'PUT', key);
  const command = new sdk.module.PutObjectCommand({
    ...sdk.object(key),
    Body: bytes,
    ...checksumFields(options),
    ...conditionFields(options),
    ...descriptionFields(options),
  });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (outcome.failure) return unwrittenOr(outcome.failure, options, call, sdk.connection.place);
  return writtenAs(outcome.output);
}

async function putStreamUnder(
  sdk: SdkCaller,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
): Promise<PutOutcome> {
  if (await isRefusedBeforehand(options, () => head(sdk, key, options))) return { written: false };
  return putStream(sdk, key, body, options);
}

async function list(sdk: SdkCaller, request: ListRequest, { signal }: CallOptions): Promise<ListPage> {
  const { bucket, keyPrefix } = sdk.connection.place;
  const { startAfter, delimiter, limit = 1000, continuation } = request;
  const command = new sdk.module.ListObjectsV2Command({
    Bucket: bucket,
    Prefix: keyPrefix + request.prefix,
    MaxKeys: limit,
    ...(delimiter === undefined ? {} : { Delimiter: delimiter }),
    ...(continuation === undefined ? {} : { ContinuationToken: continuation }),
    ...(startAfter === undefined || continuation !== undefined ? {} : { StartAfter: keyPrefix + startAfter }),
  });
  const output = await sdk.send(callOf(sdk, 'LIST'), command, signal);
  const objects = (output.Contents ?? []).map((object) => ({
    key: object.Key ?? '',
    sizeBytes: object.Size ?? 0,
    etag: unquote(object.ETag ?? ''),
    modifiedMs: object.LastModified?.getTime() ?? 0,
    ...(object.StorageClass ? { storageClass: object.StorageClass } : {}),
  }));
  const folders = (output.CommonPrefixes ?? []).map(({ Prefix }) => Prefix ?? '');
  const next = continuationOf({
    isTruncated: output.IsTruncated ?? false,
    token: output.NextContinuationToken,
  });
  return listPageOf({ objects, folders, continuation: next }, keyPrefix);
}

/** The SDK lets go of the signal when the headers are in; the body still has to stop. */
function stopWith(body: Readable, signal: AbortSignal | undefined): Readable {
  const onAbort = () => body.destroy(new DOMException('Stopped on request.', 'AbortError'));
  // A body that nobody reads may fail as well, and must not end the process.
  body.on('error', () => {});
  body.once('close', () => signal?.removeEventListener('abort', onAbort));
  signal?.addEventListener('abort', onAbort, { once: true });
  return body;
}
