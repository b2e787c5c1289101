/** Streams of unknown or large length, by the SDK's own multipart uploader. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { PutOutcome, PutStreamOptions } from '../object-store.ts';
import { nameOf, type S3Call, translateThrown, unwrittenOr } from './s3-errors.ts';
import { unquote } from './s3-xml.ts';
import { callOf, failureOfSdk, type SdkCaller } from './sdk-caller.ts';
import { conditionFields, descriptionFields } from './sdk-fields.ts';

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
      Body: Readable.from(watched(body, call, sdk, options), { objectMode: true, highWaterMark: 1 }),
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
    return { written: true, etag: unquote(output.ETag ?? '') };
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
  call: S3Call,
  sdk: SdkCaller,
  { checksum, signal }: PutStreamOptions,
): AsyncGenerator<Uint8Array> {
  const sha256 = checksum && 'sha256' in checksum ? createHash('sha256') : undefined;
  let crc = 0;
  for await (const piece of body) {
    checkAborted(signal);
    // An empty piece would end the SDK's reading early.
    if (piece.byteLength === 0) continue;
    sha256?.update(piece);
    if (checksum && 'crc32' in checksum) crc = crc32(piece, crc);
    yield piece;
  }
  checkAborted(signal);
  if (!checksum) return;
  const isRight = 'sha256' in checksum ? sha256?.digest('hex') === checksum.sha256 : crc === checksum.crc32;
  if (isRight) return;
  throw new DrayError(
    'checksumRefused',
    `The bytes for ${nameOf(call, sdk.connection.place)} are not those announced.`,
    {
      retry: 'retry',
      data: { key: call.key },
    },
  );
}
