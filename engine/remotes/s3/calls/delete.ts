/**
 * Removal: one DELETE for one key, DeleteObjects for more, and one by one where the store has no bulk delete.
 */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { DrayError } from '../../../api/error.ts';
import { type CallOptions, type DeleteOptions, STILL_THERE } from '../../object-store.ts';
import { isAbsentKey, isStray, type S3Failure, translateFailure } from '../answers/s3-errors.ts';
import { isWritableInXml, removalXml } from '../answers/s3-xml-requests.ts';
import { parseRemoval, type RemovalFailure } from '../answers/s3-xml-results.ts';
import { failedCall } from '../s3-connection.ts';
import type { S3Place } from '../s3-options.ts';
import { head } from './objects.ts';
import { exchangeXml, requestFor, type S3Caller, xmlBody } from './s3-call.ts';

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
  const body = removalXml(keys.map((key) => place.keyPrefix + key));
  const request = {
    ...requestFor(caller.connection, { operation: 'DeleteObjects', method: 'POST' }, options),
    query: { delete: '' },
    headers: {
      'content-type': 'application/xml',
      // S3 wants a checksum, and every S3-compatible store takes this one.
      'content-md5': createHash('md5').update(body).digest('base64'),
    },
    ...xmlBody(body),
  };
  const { failure, xml } = await exchangeXml(caller, request, 'DeleteResult');
  if (failure) {
    const error = translateFailure(failure, request.call, place);
    if (error.code !== 'unsupported') throw error;
    return deleteSingly(caller, keys, options);
  }
  const { failed, removed } = parseRemoval(xml);
  if (failed.length > 0) throw removalError(failed, keys.length, place);
  const unknown = keys.filter((key) => !removed.has(place.keyPrefix + key));
  if (unknown.length > 0) await confirmAbsent(caller, unknown, options);
}

/** Asks for the keys that the answer left out. @throws `remoteFailed` for those that are still there */
async function confirmAbsent(caller: S3Caller, keys: readonly string[], options: CallOptions): Promise<void> {
  const left: string[] = [];
  await each(keys, async (key) => {
    if (await head(caller, key, options)) left.push(key);
  });
  if (left.length === 0) return;
  const [first = ''] = left;
  const others = left.length > 1 ? ` and ${left.length - 1} others are` : ' is';
  throw new DrayError(
    'remoteFailed',
    `${first}${others} still there, although the store was asked to remove them and named no error.`,
    {
      retry: 'no',
      data: {
        reason: STILL_THERE,
        failedKeys: left.slice(0, KEYS_NAMED_IN_ERROR),
        failedCount: left.length,
      },
    },
  );
}

/**
 * The code is that of the first failure. The error names every failed key, so that the caller knows which
 * objects are left.
 */
function removalError(failed: readonly RemovalFailure[], keyCount: number, place: S3Place): DrayError {
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

function deleteSingly(caller: S3Caller, keys: readonly string[], options: CallOptions): Promise<void> {
  return each(keys, (key) => deleteOne(caller, key, options));
}

async function each(keys: readonly string[], call: (key: string) => Promise<void>): Promise<void> {
  const limit = pLimit(SINGLES_IN_FLIGHT);
  try {
    await Promise.all(keys.map((key) => limit(() => call(key))));
  } finally {
    limit.clearQueue();
  }
}
