/** Removing many objects, the same for both clients: by pages, one by one where the store has no bulk delete. */
import pLimit from 'p-limit';
import { DrayError } from '../../api/error.ts';
import { type S3Failure, translateFailure } from './answers/s3-errors.ts';
import { isWritableInXml } from './answers/s3-xml-requests.ts';
import type { RawRemovalError } from './answers/s3-xml-results.ts';
import type { S3Place } from './s3-options.ts';

/** S3's limit of one DeleteObjects. */
const KEYS_PER_REQUEST = 1000;
const SINGLES_IN_FLIGHT = 16;
const KEYS_NAMED_IN_ERROR = 20;

export interface Remover {
  readonly place: S3Place;
  removeOne(key: string): Promise<void>;
  /** One DeleteObjects. `errors`: what is still there. Keys as the caller's, without the remote's prefix. */
  removePage(
    keys: readonly string[],
  ): Promise<
    | { readonly errors: readonly RawRemovalError[]; readonly failure?: never }
    | { readonly failure: S3Failure }
  >;
}

export async function removeAll(remover: Remover, keys: readonly string[]): Promise<void> {
  if (keys.length === 1) return remover.removeOne(keys[0]!);
  const isWritable = (key: string) => isWritableInXml(remover.place.keyPrefix + key);
  const writable = keys.filter(isWritable);
  for (let at = 0; at < writable.length; at += KEYS_PER_REQUEST) {
    await removePage(remover, writable.slice(at, at + KEYS_PER_REQUEST));
  }
  const others = keys.filter((key) => !isWritable(key));
  await removeSingly(remover, others);
}

async function removePage(remover: Remover, keys: readonly string[]): Promise<void> {
  const { place } = remover;
  const page = await remover.removePage(keys);
  if (page.failure) {
    const error = translateFailure(page.failure, { operation: 'DeleteObjects' }, place);
    if (error.code !== 'unsupported') throw error;
    return removeSingly(remover, keys);
  }
  const failed = page.errors.filter(({ code }) => code !== 'NoSuchKey');
  if (failed.length > 0) throw removalError(failed, keys.length, place);
}

/** The first one's code decides; all that failed are named, so that a caller can tell which are left. */
function removalError(failed: readonly RawRemovalError[], keyCount: number, place: S3Place): DrayError {
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

async function removeSingly(remover: Remover, keys: readonly string[]): Promise<void> {
  const limit = pLimit(SINGLES_IN_FLIGHT);
  try {
    await Promise.all(keys.map((key) => limit(() => remover.removeOne(key))));
  } finally {
    limit.clearQueue();
  }
}
