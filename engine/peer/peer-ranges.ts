/**
 * Bodies of large files on their way from the network to the disk: each chunk is summed while it lies in the processor's cache, and some
 * of them at a time are written from where Node has put them. A body is never held whole, so few bytes wait, however large its range.
 */
import { DrayError } from '../api/error.ts';
import type { Budget, Permit } from '../base/budget.ts';
import { crc64Nvme } from '../checksums/crc64-nvme.ts';
import { bodyBytesOf, freeOwn, type PeerCall, PeerRefusal, watchPace } from './peer-call.ts';

/** One write to the disk, or a chunk more. */
const PIECE_BYTES = 1024 * 1024;
/** A client that sends few bytes at a time makes many chunks of them, each with a cost of its own in memory. */
const PIECE_CHUNKS_MAX = 256;
/** Pieces of one body that are being written while the next one fills. */
const PIECES_AHEAD = 2;
/** Of some 64 KiB each, as Node reads them, while nobody takes them. */
const CHUNKS_HELD_MAX = 4;

export interface RangeReceiver {
  /**
   * Hands the body out in order, in pieces of several chunks that are the callee's until it resolves; up to three are out at once.
   * @returns The sum of all of it, once every piece was taken.
   * @throws PeerRefusal 400 when it is cut short, 408 when it stalls; what `write` throws. None is out any more then.
   */
  receive(
    call: PeerCall,
    write: (offset: number, chunks: readonly Uint8Array[]) => Promise<void>,
  ): Promise<bigint>;
}

/** @param budget Of all bodies together. Needs `loadCrc64`. */
export function createRangeReceiver(budget: Budget): RangeReceiver {
  return {
    async receive(call, write) {
      const sizeBytes = bodyBytesOf(call.request);
      const writing = new Set<Promise<void>>();
      const gathering = gatherPieces(call);
      let failure: { readonly error: unknown } | undefined;
      let received = 0;
      let permit: Permit | undefined;
      const hand = (held: Permit, { chunks }: Piece, offset: number) => {
        const work: Promise<void> = write(offset, chunks)
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => {
            for (const chunk of chunks) freeOwn(chunk);
            held.release();
            writing.delete(work);
          });
        writing.add(work);
      };
      try {
        while (received < sizeBytes && !failure) {
          while (writing.size >= PIECES_AHEAD) await Promise.race(writing);
          const wantedBytes = Math.min(PIECE_BYTES, sizeBytes - received);
          permit = await budget.acquire(wantedBytes, call.signal);
          const piece = await gathering.next(wantedBytes);
          hand(permit, piece, received);
          permit = undefined;
          received += piece.sizeBytes;
        }
      } finally {
        gathering.close();
        permit?.release();
        await Promise.all(writing);
      }
      if (failure) throw failure.error;
      return gathering.sum();
    },
  };
}

interface Piece {
  readonly chunks: Buffer[];
  sizeBytes: number;
}

interface Gathering {
  /** At least so many bytes, or many chunks. The next call waits for this one. */
  next(wantedBytes: number): Promise<Piece>;
  /** Of all that came. */
  sum(): bigint;
  close(): void;
}

/** A body as it comes: what an iterator of the stream would join, or copy, stays as it is, and a chunk costs no promise. */
function gatherPieces(call: PeerCall): Gathering {
  const { request, signal } = call;
  let piece: Piece = { chunks: [], sizeBytes: 0 };
  let sum = 0n;
  let wantedBytes = Number.POSITIVE_INFINITY;
  let ended: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  /** While the client is waited for: it cannot help it when the disk or other clients hold this one up. */
  let watch: ReturnType<typeof watchPace> | undefined;
  const isFull = () => piece.sizeBytes >= wantedBytes || piece.chunks.length >= PIECE_CHUNKS_MAX;
  const onData = (chunk: Buffer) => {
    watch?.took(chunk.length);
    sum = crc64Nvme(chunk, sum);
    piece.chunks.push(chunk);
    piece.sizeBytes += chunk.length;
    // Who takes them goes on when it is hungry again.
    if (!wake) {
      if (piece.chunks.length >= CHUNKS_HELD_MAX) request.pause();
    } else if (isFull()) rouse();
  };
  /** Nobody waits from here on: what comes before it has taken the piece makes no larger one. */
  const rouse = () => {
    watch?.end();
    watch = undefined;
    wake?.();
    wake = undefined;
  };
  const end = (error: unknown) => {
    ended ??= { error };
    rouse();
  };
  const onEnd = () => end(new PeerRefusal(400, 'usage', 'The body ended early.'));
  const onAbort = () => end(new DrayError('aborted', 'The client went away.'));
  request.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', end);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    async next(bytes) {
      wantedBytes = bytes;
      if (!isFull() && !ended)
        await new Promise<void>((resolve) => {
          wake = resolve;
          watch = watchPace(call);
          if (request.isPaused()) request.resume();
        });
      if (!isFull()) throw ended?.error;
      const taken = piece;
      piece = { chunks: [], sizeBytes: 0 };
      wantedBytes = Number.POSITIVE_INFINITY;
      return taken;
    },
    sum: () => sum,
    close() {
      watch?.end();
      signal.removeEventListener('abort', onAbort);
      request.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', end);
    },
  };
}
