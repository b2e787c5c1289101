/** Removal: 1,000 keys a request where the store has bulk delete, one by one where it has not. */
import pLimit from 'p-limit';
import { DrayError } from '../../api/error.ts';
import type { CallOptions } from '../object-store.ts';
import { isAbsentKey, translateFailure } from './s3-errors.ts';
import { callOf, type SdkCaller } from './sdk-caller.ts';

/** S3's limit of one DeleteObjects. */
const KEYS_PER_REQUEST = 1000;
const SINGLES_IN_FLIGHT = 16;
const KEYS_NAMED_IN_ERROR = 20;

export async function deleteMany(
  sdk: SdkCaller,
  keys: readonly string[],
  options: CallOptions,
): Promise<void> {
  for (let at = 0; at < keys.length; at += KEYS_PER_REQUEST) {
    await deletePage(sdk, keys.slice(at, at + KEYS_PER_REQUEST), options);
  }
}

async function deletePage(sdk: SdkCaller, keys: readonly string[], options: CallOptions): Promise<void> {
  if (keys.length === 1) return deleteOne(sdk, keys[0]!, options);
  const { place } = sdk.connection;
  const call = callOf(sdk, 'DeleteObjects');
  const Objects = keys.map((key) => ({ Key: place.keyPrefix + key }));
  const command = new sdk.module.DeleteObjectsCommand({
    Bucket: place.bucket,
    Delete: { Objects, Quiet: true },
  });
  const outcome = await sdk.attempt(call, command, options.signal);
  if (outcome.failure) {
    const error = translateFailure(outcome.failure, call, place);
    if (error.code !== 'unsupported') throw error;
    return deleteSingly(sdk, keys, options);
  }
  const failed = (outcome.output.Errors ?? []).filter(({ Code }) => Code !== 'NoSuchKey');
  const first = failed[0];
  if (!first) return;
  // The first one's code decides; all that failed are named, so that a caller can tell which are left.
  const failure = {
    status: first.Code === 'AccessDenied' ? 403 : 500,
    code: first.Code,
    message: first.Message,
    remoteTimeMs: undefined,
    signedTimeMs: Date.now(),
  };
  const error = translateFailure(failure, { operation: 'DELETE', key: first.Key }, place);
  const failedKeys = failed
    .slice(0, KEYS_NAMED_IN_ERROR)
    .map(({ Key }) => (Key ?? '').slice(place.keyPrefix.length));
  throw new DrayError(
    error.code,
    `${error.message} ${failed.length} of ${keys.length} objects were not removed.`,
    {
      retry: error.retry,
      data: { ...error.data, failedKeys, failedCount: failed.length },
    },
  );
}

async function deleteSingly(sdk: SdkCaller, keys: readonly string[], options: CallOptions): Promise<void> {
  const limit = pLimit(SINGLES_IN_FLIGHT);
  try {
    await Promise.all(keys.map((key) => limit(() => deleteOne(sdk, key, options))));
  } finally {
    limit.clearQueue();
  }
}

async function deleteOne(sdk: SdkCaller, key: string, { signal }: CallOptions): Promise<void> {
  const call = callOf(sdk, 'DELETE', key);
  const outcome = await sdk.attempt(call, new sdk.module.DeleteObjectCommand(sdk.object(key)), signal);
  if (outcome.failure && !isAbsentKey(outcome.failure)) {
    throw translateFailure(outcome.failure, call, sdk.connection.place);
  }
}
