/** Streams of unknown or large length, by the SDK's own multipart uploader. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { checkAborted } from '../../../base/abort.ts';
import type { PutOutcome, PutStreamOptions } from '../../object-store.ts';
import { receiveChecksum } from '../../received-checksum.ts';
import { translateThrown, unwrittenOr } from '../answers/s3-errors.ts';
import { callOf, failureOfSdk, type SdkCaller } from './sdk-caller.ts';
import { conditionFields, descriptionFields, writtenAs } from './sdk-fields.ts';

/** S3's limits: at most 10,000 parts, each of at least 5 MiB but the last. */
const PARTS_MAX = 10_000;
const PART_MIN_BYTES = 5 * 1024 * 1024;
/** Of a length that is not known: room for 156 GiB. */
const PART_DEFAULT_BYTES = 16 * 1024 * 1024;
/** Parts in memory at once, beside the one that is being filled. */
const PARTS_IN_FLIGHT = 4;

export async function putStream(
  sdk: SdkCaller,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
): Promise<PutOutcome> {
  checkAborted(options.signal);
  const call = callOf(sdk, 'PUT', key);
  const { Upload } = await import('@aws-sdk/lib-storage');
  const upload = new Upload({
    client: uploadClient(sdk, options.signal),
    params: {
      ...sdk.object(key),
      Body: Readable.from(watched(body, key, options), { objectMode: true, highWaterMark: 1 }),
      // The uploader checksums each part with it, so the store verifies all that it takes.
      ChecksumAlgorithm: 'CRC32',
      ...conditionFields(options),
      ...descriptionFields(options),
    },
    partSize: partSizeOf(options),
    queueSize: PARTS_IN_FLIGHT,
  });
  try {
    const output = await upload.done();
    return writtenAs(output);
  } catch (error) {
    const failure = failureOfSdk(error, sdk.connection);
    if (failure && !options.signal?.aborted) return unwrittenOr(failure, options, call, sdk.connection.place);
    throw translateThrown(error, call, sdk.connection.place, options.signal);
  }
}

function partSizeOf({ sizeBytes, partSizeBytes }: PutStreamOptions): number {
  const needed = sizeBytes === undefined ? PART_MIN_BYTES : Math.ceil(sizeBytes / PARTS_MAX);
  return Math.max(partSizeBytes ?? PART_DEFAULT_BYTES, needed, PART_MIN_BYTES);
}

/**
 * The SDK's client as the uploader sees it: every request obeys the signal, so that a stop is prompt, except the one
 * that frees the parts, which the uploader then sends and awaits.
 */
function uploadClient(sdk: SdkCaller, signal: AbortSignal | undefined): S3Client {
  const client: S3Client = Object.create(sdk.client());
  const send = (command: Parameters<SdkCaller['sendRaw']>[0]) =>
    sdk.sendRaw(command, command instanceof sdk.module.AbortMultipartUploadCommand ? undefined : signal);
  return Object.assign(client, { send });
}

/** The source, stopped by the signal, and checked as a whole: S3 itself verifies parts only. */
async function* watched(
  body: AsyncIterable<Uint8Array>,
  key: string,
  { checksum, signal }: PutStreamOptions,
): AsyncGenerator<Uint8Array> {
  const received = await receiveChecksum(checksum);
  for await (const piece of body) {
    checkAborted(signal);
    // An empty piece would end the SDK's reading early.
    if (piece.byteLength === 0) continue;
    received.update(piece);
    yield piece;
  }
  checkAborted(signal);
  received.verify(key);
}
