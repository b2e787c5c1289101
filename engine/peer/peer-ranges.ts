/**
 * Bodies of large files on their way from the network to the disk: piece by piece, each summed while it lies in the processor's cache, in
 * memory that is used again and again. A body is never held whole, so few bytes wait, however large its range.
 */
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import { createLeasedMemory, type Lease } from '../base/leased-memory.ts';
import { bodyBytesOf, copyInto, freeOwn, type PeerCall, PeerRefusal, watchPace } from './peer-call.ts';

/** One write to the disk. */
const PIECE_BYTES = 1024 * 1024;
/** Pieces of one body that are being written while the next one fills. */
const PIECES_AHEAD = 2;
/** Of some 64 KiB each, as Node reads them. */
const CHUNKS_HELD_MAX = 4;

const EMPTY = Buffer.alloc(0);

export interface RangeReceiver {
  /**
   * Hands the body out in order, in pieces that are the callee's until it resolves; up to three are out at once.
   * @returns The sum of all of it, once every piece was taken.
   * @throws PeerRefusal 400 when it is cut short, 408 when it stalls; what `write` throws. None is out any more then.
   */
  receive(call: PeerCall, write: (offset: number, bytes: Uint8Array) => Promise<void>): Promise<bigint>;
}

/** @param budget Of all bodies together. Needs `loadCrc64`. */
export function createRangeReceiver(budget: Budget): RangeReceiver {
  const memory = createLeasedMemory({
    budget,
    largestBytes: PIECE_BYTES,
    open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
  });
  return {
    async receive(call, write) {
      const { request, signal } = call;
      const sizeBytes = bodyBytesOf(request);
      const writing = new Set<Promise<void>>();
      const watch = watchPace(call);
      const chunks = chunksOf(call);
      let rest: Buffer = EMPTY;
      let failure: { readonly error: unknown } | undefined;
      let sum = 0n;
      let received = 0;
      let lease: Lease | undefined;
      const hand = (piece: Lease, filledBytes: number, offset: number) => {
        const work: Promise<void> = write(offset, piece.bytes.subarray(0, filledBytes))
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => {
            piece.release();
            writing.delete(work);
          });
        writing.add(work);
      };
      try {
        while (received < sizeBytes && !failure) {
          const pieceBytes = Math.min(PIECE_BYTES, sizeBytes - received);
          while (writing.size >= PIECES_AHEAD) await Promise.race(writing);
          lease = await memory.take(pieceBytes, signal);
          for (let filled = 0; filled < pieceBytes; ) {
            if (rest.length === 0) {
              rest = await chunks.next();
              watch.took(rest.length);
              sum = crc64Nvme(rest, sum);
            }
            const taken = rest.subarray(0, pieceBytes - filled);
            rest = rest.subarray(taken.length);
            copyInto(lease.bytes, taken, filled);
            filled += taken.length;
            if (rest.length === 0) freeOwn(taken);
          }
          hand(lease, pieceBytes, received);
          lease = undefined;
          received += pieceBytes;
        }
      } finally {
        watch.end();
        chunks.close();
        lease?.release();
        await Promise.all(writing);
      }
      if (failure) throw failure.error;
      return sum;
    },
  };
}

interface Chunks {
  next(): Promise<Buffer>;
  close(): void;
}

/** A body as it comes: what an iterator of the stream would join, or copy, stays as it is. */
function chunksOf({ request, signal }: PeerCall): Chunks {
  const held: Buffer[] = [];
  let ended: { readonly error: unknown } | undefined;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    held.push(chunk);
    // Who takes them goes on when it is hungry again.
    if (held.length >= CHUNKS_HELD_MAX) request.pause();
    wake();
  };
  const end = (error: unknown) => {
    ended ??= { error };
    wake();
  };
  const onEnd = () => end(new PeerRefusal(400, 'usage', 'The body ended early.'));
  const onAbort = () => end(new DrayError('aborted', 'The client went away.'));
  request.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', end);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    async next() {
      for (;;) {
        const chunk = held.shift();
        if (chunk) return chunk;
        if (ended) throw ended.error;
        if (request.isPaused()) request.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close() {
      signal.removeEventListener('abort', onAbort);
      request.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', end);
    },
  };
}
