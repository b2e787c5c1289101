/** Reads and writes the bytes of files; a signal can stop it between pieces. */

import type { FileHandle } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { ASYNC_WRITE_BYTES_MAX } from '../../base/write-fully.ts';
import type { ByteRange, ObjectRead, RemoteKey } from '../object-store.ts';
import { toFileError } from './file-errors.ts';

/** Large enough that a call's cost does not show, small enough to stop promptly. */
const PIECE_BYTES = 1024 * 1024;

export interface FileSlice {
  readonly file: FileHandle;
  readonly path: string;
  readonly key: RemoteKey;
  readonly range: ByteRange;
  readonly signal?: AbortSignal | undefined;
}

/** The body of a read. It owns the handle and closes it at the end, on failure and on `destroy`. */
export function bodyOf(slice: FileSlice): ObjectRead['body'] {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= slice.file.close();
    return closing;
  };
  return {
    destroy() {
      // Nobody waits for it, and a failed close after reading does no harm.
      close().catch(() => {});
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (let at = slice.range.start; at < slice.range.end; ) {
          const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, slice.range.end - at));
          await readFully(slice, piece, at, () => closing !== undefined);
          at += piece.byteLength;
          yield piece;
        }
      } finally {
        await close();
      }
    },
  };
}

/** The range in one buffer. The handle stays open. */
export async function bytesOf(slice: FileSlice): Promise<Uint8Array> {
  const { start, end } = slice.range;
  const bytes = new Uint8Array(end - start);
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    await readFully(slice, bytes.subarray(at, at + PIECE_BYTES), start + at);
  }
  return bytes;
}

async function readFully(
  slice: FileSlice,
  into: Uint8Array,
  position: number,
  isClosed?: () => boolean,
): Promise<void> {
  for (let filled = 0; filled < into.byteLength; ) {
    checkAborted(slice.signal);
    if (isClosed?.()) throw new DrayError('aborted', 'The body was dropped.');
    const { bytesRead } = await slice.file
      .read(into, filled, into.byteLength - filled, position + filled)
      .catch((error) => {
        throw toFileError(error, slice.path);
      });
    if (bytesRead === 0) {
      throw new DrayError('unreachable', `${slice.path} became shorter while it was read.`, {
        retry: 'retry',
        data: { path: slice.path, key: slice.key },
      });
    }
    filled += bytesRead;
  }
  checkAborted(slice.signal);
}

/** Writes the output of `pieces` into a new file, which stays open. */
export async function fillFile(
  file: FileHandle,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal | undefined,
  onPiece?: (piece: Uint8Array) => void,
): Promise<void> {
  for await (const piece of pieces) {
    checkAborted(signal);
    onPiece?.(piece);
    await writeFully(file, piece);
  }
  checkAborted(signal);
}

async function writeFully(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, Math.min(bytes.byteLength - written, ASYNC_WRITE_BYTES_MAX)))
      .bytesWritten;
  }
}

/** Bytes in memory as pieces, so that writing them can be stopped. */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
