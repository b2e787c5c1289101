/**
 * Writes a stream by calls that can each be retried: one put if it is short, a multipart upload otherwise.
 */
import assert from 'node:assert';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { combineCrc64 } from '../checksums/crc-combine.ts';
import { crc64Nvme, loadCrc64 } from '../checksums/crc64-nvme.ts';
import type { MultipartUpload, PartInfo, PutOutcome, PutStreamOptions, StreamStore } from './object-store.ts';
import { receiveChecksum } from './received-checksum.ts';
import { streamPartBytes } from './stream-part-size.ts';

/** Parts in memory at once, besides the one being filled and the one waiting for it. */
const PARTS_IN_FLIGHT = 4;

/**
 * Every part is sent with its CRC64NVME, and the completion with the joined one, so the store verifies all.
 */
export async function putStreamInParts(
  store: StreamStore,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
): Promise<PutOutcome> {
  checkAborted(options.signal);
  const partBytes = streamPartBytes(options, store.multipart.partBytesMax);
  const parts = cutInParts(body, key, { ...options, partBytes });
  try {
    const first = (await parts.next()).value ?? new Uint8Array();
    const second = await parts.next();
    await loadCrc64();
    if (second.done) {
      const checksum = options.checksum ?? { crc64nvme: crc64Nvme(first) };
      return await store.put(key, first, { ...options, checksum });
    }
    if (await isRefused(store, key, options)) return { written: false };
    const ready = [first, second.value];
    return await uploadParts(store, { key, partBytes, ready, rest: parts }, options);
  } finally {
    // Closes the source, even if it was not read to its end.
    await parts.return(undefined);
  }
}

async function uploadParts(
  { multipart }: StreamStore,
  what: {
    readonly key: string;
    readonly partBytes: number;
    readonly ready: readonly Uint8Array[];
    readonly rest: AsyncIterable<Uint8Array>;
  },
  options: PutStreamOptions,
): Promise<PutOutcome> {
  const { signal, condition } = options;
  const call = signal ? { signal } : {};
  const uploadId = await multipart.create(what.key, {
    ...options,
    checksum: 'crc64nvme',
    partSizeBytes: what.partBytes,
  });
  const upload: MultipartUpload = { key: what.key, uploadId };
  const sums: { readonly crc64nvme: bigint; readonly sizeBytes: number }[] = [];
  const sent: PartInfo[] = [];
  const sending = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const send = (bytes: Uint8Array): void => {
    const crc64nvme = crc64Nvme(bytes);
    const number = sums.push({ crc64nvme, sizeBytes: bytes.byteLength });
    const task = multipart
      .uploadPart(upload, number, bytes, { ...call, checksum: { crc64nvme } })
      .then((part) => void sent.push(part))
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => sending.delete(task));
    sending.add(task);
  };
  try {
    for (const bytes of what.ready) send(bytes);
    for await (const bytes of what.rest) {
      while (sending.size >= PARTS_IN_FLIGHT && !failure) await Promise.race(sending);
      if (failure) break;
      send(bytes);
    }
    await Promise.all(sending);
    if (failure) throw failure.error;
    const checksum = { crc64nvme: joined(sums) };
    const outcome = await multipart.complete(upload, sent, {
      ...call,
      checksum,
      ...(condition ? { condition } : {}),
    });
    if (!outcome.written) await multipart.abort(upload);
    return outcome;
  } catch (error) {
    await Promise.all(sending);
    // Without the signal, which may have stopped the stream. A failed clean-up is ignored in favour of the
    // first error.
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}

async function isRefused(store: StreamStore, key: string, options: PutStreamOptions): Promise<boolean> {
  const { condition, signal } = options;
  if (!condition) return false;
  const found = await store.head(key, signal ? { signal } : {});
  return 'absent' in condition ? found !== undefined : found?.etag !== condition.etag;
}

function joined(sums: readonly { readonly crc64nvme: bigint; readonly sizeBytes: number }[]): bigint {
  assert(sums.length > 0);
  return sums.reduce((sum, part) => combineCrc64(sum, part.crc64nvme, part.sizeBytes), 0n);
}

/**
 * Each part in memory of its own. Fails with `checksumRefused` at the end if the bytes are not the announced
 * ones.
 */
async function* cutInParts(
  body: AsyncIterable<Uint8Array>,
  key: string,
  { partBytes, ...options }: PutStreamOptions & { readonly partBytes: number },
): AsyncGenerator<Uint8Array, undefined> {
  const received = await receiveChecksum(options.checksum);
  const bufferBytes = Math.min(partBytes, options.sizeBytes ?? partBytes);
  let part = Buffer.allocUnsafeSlow(bufferBytes);
  let filled = 0;
  for await (const piece of stoppable(body, options.signal)) {
    received.update(piece);
    for (let at = 0; at < piece.byteLength; ) {
      // The stream is longer than announced.
      if (filled === part.byteLength && filled < partBytes) part = enlarged(part, partBytes);
      if (filled === partBytes) {
        yield part;
        part = Buffer.allocUnsafeSlow(partBytes);
        filled = 0;
      }
      const taken = Math.min(piece.byteLength - at, part.byteLength - filled);
      part.set(piece.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
    }
  }
  checkAborted(options.signal);
  received.verify(key);
  if (filled > 0) yield part.subarray(0, filled);
  return undefined;
}

/** The source, closed as soon as the signal fires, even while it gives nothing (an idle pipe). */
export async function* stoppable(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  let isWaiting = false;
  try {
    for (;;) {
      checkAborted(signal);
      isWaiting = true;
      const step = await nextOrStop(source, signal);
      isWaiting = false;
      if (step.done) return;
      yield step.value;
    }
  } finally {
    // A pending read would end only with the next data.
    const leaving = source.return?.();
    if (isWaiting) leaving?.catch(() => {});
    else await leaving;
  }
}

function nextOrStop(
  source: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Uint8Array>> {
  if (!signal) return source.next();
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new DrayError('aborted', 'Stopped on request.', { cause: signal.reason }));
    signal.addEventListener('abort', onAbort, { once: true });
    source
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function enlarged(part: Buffer<ArrayBuffer>, bytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(bytes);
  larger.set(part);
  return larger;
}
