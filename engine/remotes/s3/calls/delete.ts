/**
 * Removal: one DELETE for one key, DeleteObjects for more, and one by one where the store has no bulk delete.
 */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { DrayError, excerpt } from '../../../api/error.ts';
import type { CallOptions, DeleteOptions } from '../../object-store.ts';
import { isAbsentKey, isStray, type S3Failure, translateFailure } from '../answers/s3-errors.ts';
import { isWritableInXml } from '../answers/s3-xml-requests.ts';
import { failedCall } from '../s3-connection.ts';
import type { S3Place } from '../s3-options.ts';
import { requestFor, type S3Caller } from './s3-call.ts';
import { attemptBySdk, UNUSED_PLACE } from './sdk-call.ts';

/** S3's limit for one DeleteObjects. */
const KEYS_PER_REQUEST = 1000;
const SINGLES_IN_FLIGHT = 16;
const KEYS_NAMED_IN_ERROR = 20;

export async function deleteKeys(
  caller: S3Caller,
  keys: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  if (keys.length === 1) return deleteOne(caller, keys[0]!, options);
  const { keyPrefix } = caller.connection.place;
  const isWritable = (key: string) => isWritableInXml(keyPrefix + key);
  const writable = keys.filter(isWritable);
  for (let at = 0; at < writable.length; at += KEYS_PER_REQUEST)
    await deletePage(caller, writable.slice(at, at + KEYS_PER_REQUEST), options);
  const others = keys.filter((key) => !isWritable(key));
  await deleteSingly(caller, others, options);
}

async function deleteOne(caller: S3Caller, key: string, options: DeleteOptions): Promise<void> {
  const { client, connection } = caller;
  const { ifMatch, ...plain } = options;
  const request = requestFor(connection, { operation: 'DELETE', method: 'DELETE', key }, options);
  const headers = ifMatch === undefined ? {} : { headers: { 'if-match': `"${ifMatch}"` } };
  const { failure } = await client.exchange({ ...request, ...headers }, 0);
  // The store refuses conditional removal. Other stores without it ignore the header.
  if (ifMatch !== undefined && failure?.status === 501) return deleteOne(caller, key, plain);
  if (failure && (!isAbsentKey(failure) || isStray(failure, request.call)))
    throw failedCall(failure, request.call, connection);
}

async function deletePage(caller: S3Caller, keys: readonly string[], options: CallOptions): Promise<void> {
  const { place } = caller.connection;
  const Objects = keys.map((key) => ({ Key: place.keyPrefix + key }));
  // S3 wants a checksum, and every S3-compatible store takes this one.
  const headersOf = (body: Uint8Array) => ({
    'content-md5': createHash('md5').update(body).digest('base64'),
  });
  const page = await attemptBySdk(
    caller,
    { operation: 'DeleteObjects', root: 'DeleteResult', headersOf },
    ({ DeleteObjectsCommand }) =>
      new DeleteObjectsCommand({ ...UNUSED_PLACE, Delete: { Objects, Quiet: true } }),
    options,
  );
  if (page.failure) {
    const error = translateFailure(page.failure, { operation: 'DeleteObjects' }, place);
    if (error.code !== 'unsupported') throw error;
    return deleteSingly(caller, keys, options);
  }
  const left = (page.output.Errors ?? []).filter(({ Code }) => Code !== 'NoSuchKey');
  const failed = left.map(({ Key = '', Code, Message }) => ({
    key: Key,
    code: Code === undefined ? undefined : excerpt(Code),
    message: Message === undefined ? undefined : excerpt(Message),
  }));
  if (failed.length > 0) throw removalError(failed, keys.length, place);
}

interface Left {
  /** In full, with the remote's prefix. */
  readonly key: string;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/**
 * The code is that of the first failure. The error names every failed key, so that the caller knows which
 * objects are left.
 */
function removalError(failed: readonly Left[], keyCount: number, place: S3Place): DrayError {
  const first = failed[0]!;
  const failure: S3Failure = {
    status: first.code === 'AccessDenied' ? 403 : 500,
    code: first.code,
    message: first.message,
    remoteTimeMs: undefined,
    signedTimeMs: Date.now(),
  };
  const error = translateFailure(failure, { operation: 'DELETE', key: first.key }, place);
  const failedKeys = failed.slice(0, KEYS_NAMED_IN_ERROR).map(({ key }) => key.slice(place.keyPrefix.length));
  return new DrayError(
    error.code,
    `${error.message} ${failed.length} of ${keyCount} objects were not removed.`,
    { retry: error.retry, data: { ...error.data, failedKeys, failedCount: failed.length } },
  );
}

async function deleteSingly(caller: S3Caller, keys: readonly string[], options: CallOptions): Promise<void> {
  const limit = pLimit(SINGLES_IN_FLIGHT);
  try {
    await Promise.all(keys.map((key) => limit(() => deleteOne(caller, key, options))));
  } finally {
    limit.clearQueue();
  }
}
