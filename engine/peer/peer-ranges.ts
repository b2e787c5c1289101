/**
 * Bodies of large files on their way from the network to the disk: each chunk is hashed while it is in the
 * processor's cache, and a few at a time are written from the memory where Node put them. A body is never
 * held whole, so few bytes wait, however large its range.
 */
import { DrayError } from '../api/error.ts';
import type { Budget, Permit } from '../base/budget.ts';
import { crc64Nvme } from '../checksums/crc64-nvme.ts';
import { bodyBytesOf, freeOwn, type PeerCall, PeerRefusal, watchPace } from './peer-call.ts';

/** One write to the disk, or up to a chunk more. */
const PIECE_BYTES = 1024 * 1024;
/** A client that sends few bytes at a time makes many chunks, each with a memory cost of its own. */
const PIECE_CHUNKS_MAX = 256;
/** Pieces of one body that are being written while the next one fills. */
const PIECES_AHEAD = 2;
/** Chunks of some 64 KiB, as Node reads them, that wait to be taken. */
const CHUNKS_HELD_MAX = 4;

export interface RangeReceiver {
  /**
   * Hands the body out in order, in pieces of several chunks that the callee owns until it resolves; up to
   * three are out at once. @returns The checksum of the body, once every piece was taken. @throws PeerRefusal
   * 400 if it is cut short, 408 if it stalls; errors of `write`. No piece is out any more then.
   */
  receive(
    call: PeerCall,
    write: (offset: number, chunks: readonly Uint8Array[]) => Promise<void>,
  ): Promise<bigint>;
}

/** @param budget Shared by all bodies. Needs `loadCrc64`. */
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
  /** At least this many bytes, or many chunks. The next call waits for this one. */
  next(wantedBytes: number): Promise<Piece>;
  /** The checksum of everything that arrived. */
  sum(): bigint;
  close(): void;
}

/**
 * Reads a body without an iterator of the stream, which would join or copy chunks, and without a promise per
 * chunk.
 */
function gatherPieces(call: PeerCall): Gathering {
  const { request, signal } = call;
  let piece: Piece = { chunks: [], sizeBytes: 0 };
  let sum = 0n;
  let wantedBytes = Number.POSITIVE_INFINITY;
  let ended: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  /** Counts only while the client is awaited: it cannot help delays of the disk or of other clients. */
  let watch: ReturnType<typeof watchPace> | undefined;
  const isFull = () => piece.sizeBytes >= wantedBytes || piece.chunks.length >= PIECE_CHUNKS_MAX;
  const onData = (chunk: Buffer) => {
    watch?.took(chunk.length);
    sum = crc64Nvme(chunk, sum);
    piece.chunks.push(chunk);
    piece.sizeBytes += chunk.length;
    // The taker continues when it wants more.
    if (!wake) {
      if (piece.chunks.length >= CHUNKS_HELD_MAX) request.pause();
    } else if (isFull()) rouse();
  };
  /** No await from here on: chunks that arrive before the piece is taken do not enlarge it. */
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
  const onAbort = () => end(new DrayError('aborted', 'The client disconnected.'));
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
