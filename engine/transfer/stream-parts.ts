/** A stream that can be read once, as the parts of an upload. */
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import type {
  MultipartStore,
  MultipartUpload,
  ObjectDescription,
  PartInfo,
  RemoteKey,
} from '../remotes/object-store.ts';
import { PARTS_MAX } from './part-size.ts';
import { joinSums } from './part-sums.ts';

/** Parts in memory at once, beside the one that is being filled. */
const PARTS_IN_FLIGHT = 4;

export interface StreamPart {
  readonly bytes: Uint8Array;
  /** The memory may be filled anew. */
  release(): void;
}

/** Parts of this size, the last one shorter but not empty; none of an empty stream. */
export async function* cutStream(
  body: AsyncIterable<Uint8Array>,
  partSizeBytes: number,
): AsyncGenerator<StreamPart, undefined> {
  const free: Uint8Array[] = [];
  let memory: Uint8Array | undefined;
  let filled = 0;
  const partOf = (whole: Uint8Array, sizeBytes: number): StreamPart => ({
    bytes: whole.subarray(0, sizeBytes),
    release: () => free.push(whole),
  });
  for await (const piece of body) {
    for (let taken = 0; taken < piece.byteLength; ) {
      memory ??= free.pop() ?? new Uint8Array(Buffer.allocUnsafeSlow(partSizeBytes).buffer);
      const some = piece.subarray(taken, taken + partSizeBytes - filled);
      memory.set(some, filled);
      filled += some.byteLength;
      taken += some.byteLength;
      if (filled < partSizeBytes) continue;
      yield partOf(memory, filled);
      memory = undefined;
      filled = 0;
    }
  }
  if (memory !== undefined) yield partOf(memory, filled);
}

export interface StreamTarget {
  readonly multipart: MultipartStore;
  readonly key: RemoteKey;
  readonly description?: ObjectDescription;
  readonly signal?: AbortSignal | undefined;
}

export interface StreamSent {
  readonly etag: string;
  readonly sizeBytes: number;
  readonly sum: { readonly crc64nvme: bigint };
  readonly parts: readonly PartInfo[];
}

interface SentPart {
  readonly info: PartInfo;
  readonly sum: { readonly crc64nvme: bigint };
  readonly sizeBytes: number;
}

/** Sends the parts that were read already and then the rest. Frees the parts at the store when it fails. */
export async function sendStream(
  begun: readonly StreamPart[],
  rest: AsyncIterable<StreamPart>,
  target: StreamTarget,
): Promise<StreamSent> {
  const { description, key, multipart, signal } = target;
  const call = signal ? { signal } : {};
  const uploadId = await multipart.create(key, { ...description, checksum: 'crc64nvme', ...call });
  const upload = { key, uploadId };
  try {
    const sent = await sendAll(inTurn(begun, rest), target, upload);
    checkAborted(signal);
    const sum = joinSums(sent) as { readonly crc64nvme: bigint };
    const parts = sent.map(({ info }) => info);
    const outcome = await multipart.complete(upload, parts, { checksum: sum, ...call });
    const sizeBytes = sent.reduce((total, part) => total + part.sizeBytes, 0);
    return { etag: outcome.written ? outcome.etag : '', sizeBytes, sum, parts };
  } catch (error) {
    // Not under the signal, which may be what stopped it. That this fails too is less to tell than why.
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}

async function* inTurn(
  begun: readonly StreamPart[],
  rest: AsyncIterable<StreamPart>,
): AsyncGenerator<StreamPart> {
  yield* begun;
  yield* rest;
}

/** The first failure stops the others; all have ended when this returns or throws. */
async function sendAll(
  parts: AsyncIterable<StreamPart>,
  { key, multipart, signal: outer }: StreamTarget,
  upload: MultipartUpload,
): Promise<readonly SentPart[]> {
  const stop = new AbortController();
  const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal;
  const sent: SentPart[] = [];
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    stop.abort();
  };
  const send = async (number: number, { bytes }: StreamPart) => {
    const sum = { crc64nvme: crc64Nvme(bytes) };
    const info = await multipart.uploadPart(upload, number, bytes, { checksum: sum, signal });
    sent[number - 1] = { info: { ...info, ...sum }, sum, sizeBytes: bytes.byteLength };
  };
  try {
    let number = 0;
    for await (const part of parts) {
      number += 1;
      if (number > PARTS_MAX) throw tooLong(key);
      while (running.size >= PARTS_IN_FLIGHT) await Promise.race(running);
      checkAborted(signal);
      const sending: Promise<void> = send(number, part)
        .catch(fail)
        .finally(() => {
          part.release();
          running.delete(sending);
        });
      running.add(sending);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
  return sent;
}

function tooLong(key: RemoteKey): DrayError {
  const message = `${key} has more than ${PARTS_MAX} parts. Give a larger --part-size for a stream of this length.`;
  return new DrayError('unsupported', message, { data: { key } });
}
