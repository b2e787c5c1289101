/** The body of a GET: its reader gets all of it, or an error. */
import assert from 'node:assert';
import { DrayError } from '../../../api/error.ts';
import type { ByteRange, ObjectRead } from '../../object-store.ts';
import type { S3Connection } from '../s3-connection.ts';
import type { S3Place } from '../s3-options.ts';
import { nameOf, type S3Call, translateThrown } from './s3-errors.ts';

/** HTTP's ranges include the last byte. */
export function rangeHeader({ start, end }: ByteRange): string {
  // An empty range cannot be written in HTTP, and a store would answer it with the whole object.
  assert(Number.isSafeInteger(start) && start >= 0 && end > start, `${start} to ${end} is no range`);
  return `bytes=${start}-${end - 1}`;
}

/** @throws `unsupported` when the store ignored the range and sent the whole object. */
export function checkRange(
  answer: {
    readonly status: number | undefined;
    readonly sizeBytes: number;
    readonly range: ByteRange | undefined;
  },
  call: S3Call,
  place: S3Place,
): void {
  const { status, sizeBytes, range } = answer;
  if (!range || status === 206 || (range.start === 0 && sizeBytes <= range.end)) return;
  throw new DrayError(
    'unsupported',
    `The store sent all of ${nameOf(call, place)} when asked for a range of it.`,
    {
      data: { bucket: place.bucket, key: call.key },
    },
  );
}

type Source = AsyncIterable<Uint8Array> & { destroy(): void };

/**
 * Counts the bytes, and translates errors. `sizeBytes` is NaN when the store did not announce it.
 */
export function checkedBody(
  source: Source,
  context: {
    readonly sizeBytes: number;
    readonly call: S3Call;
    readonly connection: S3Connection;
    readonly signal: AbortSignal | undefined;
  },
): ObjectRead['body'] {
  const { sizeBytes, call, connection, signal } = context;
  async function* checked(): AsyncGenerator<Uint8Array> {
    let passedBytes = 0;
    try {
      for await (const chunk of source) {
        passedBytes += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      throw translateThrown(error, call, connection.place, signal);
    }
    if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.', { cause: signal.reason });
    if (passedBytes < sizeBytes && !isDestroyed) throw endedEarly(passedBytes);
  }
  const endedEarly = (passedBytes: number) =>
    new DrayError(
      'unreachable',
      `The connection ended after ${passedBytes} of ${sizeBytes} bytes of ${nameOf(call, connection.place)}.`,
      { retry: 'retry', data: { bucket: connection.place.bucket, key: call.key, passedBytes, sizeBytes } },
    );
  let isDestroyed = false;
  const chunks = checked();
  return {
    [Symbol.asyncIterator]: () => chunks,
    destroy: () => {
      isDestroyed = true;
      source.destroy();
    },
  };
}
