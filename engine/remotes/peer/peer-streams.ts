/** Streams to a peer: what fits goes in one piece, more in parts, whose number is known only at the end. */
import { DrayError } from '../../api/error.ts';
import type { ObjectStore, PutOutcome, PutStreamOptions } from '../object-store.ts';

const WHOLE_BYTES_MAX = 8 * 1024 * 1024;
const PART_BYTES = 8 * 1024 * 1024;

export type StreamTarget = Pick<ObjectStore, 'put' | 'multipart'>;

/** A file at a peer has its size before its bytes: a stream of unknown length is bounded by what memory may hold. */
export async function streamToPeer(
  target: StreamTarget,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
): Promise<PutOutcome> {
  const { multipart } = target;
  const { sizeBytes } = options;
  if (!multipart) throw new Error('a peer has uploads in parts');
  if (sizeBytes === undefined || sizeBytes <= WHOLE_BYTES_MAX)
    return target.put(key, await collect(body, sizeBytes ?? WHOLE_BYTES_MAX), options);
  const partSizeBytes = options.partSizeBytes ?? PART_BYTES;
  const { checksum: _, ...description } = options;
  const uploadId = await multipart.create(key, { ...description, sizeBytes, partSizeBytes });
  const upload = { key, uploadId };
  try {
    const parts = [];
    for await (const bytes of inParts(body, partSizeBytes))
      parts.push(
        await multipart.uploadPart(
          upload,
          parts.length + 1,
          bytes,
          options.signal ? { signal: options.signal } : {},
        ),
      );
    return await multipart.complete(upload, parts, options);
  } catch (error) {
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}

async function collect(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > bytesMax)
      throw new DrayError(
        'unsupported',
        `A peer takes streams of unknown length up to ${bytesMax} bytes. Write to a file first.`,
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function* inParts(body: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const piece of body) {
    held.push(piece);
    heldBytes += piece.byteLength;
    if (heldBytes < partBytes) continue;
    const whole = Buffer.concat(held);
    let at = 0;
    for (; whole.length - at >= partBytes; at += partBytes) yield whole.subarray(at, at + partBytes);
    held = [whole.subarray(at)];
    heldBytes = whole.length - at;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}
