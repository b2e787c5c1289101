/**
 * The destinations of streamed bodies: memory that the caller lends, or fresh memory that the reader keeps.
 */
import type { BodyMemory } from '../object-store.ts';
import { ByteQueue, type Sender } from './byte-queue.ts';
import type { AnswerReceiver, HttpAnswer } from './http-message.ts';

/** A receiver whose pieces of the body are read from a queue. */
export interface BodyReceiver extends AnswerReceiver {
  /** The answer is over, with this error if there is one. */
  end(error?: unknown): void;
}

export interface StreamedAnswer {
  readonly answer: HttpAnswer;
  readonly body: ByteQueue;
}

/**
 * The start of an answer: its body goes to the lent memory, if there is one and the answer is not an error.
 */
export function createBodyReceiver(
  memory: BodyMemory | undefined,
  sender: () => Sender,
  over: (outcome: StreamedAnswer | { readonly error: unknown }) => void,
): BodyReceiver {
  let body: BodyReceiver | undefined;
  return {
    begin(answer, bodyBytes) {
      const isLent = memory !== undefined && answer.status >= 200 && answer.status < 300;
      const options = isLent ? { pauseAboveBytes: Number.POSITIVE_INFINITY, keepsQueued: true } : {};
      const queue = new ByteQueue(sender(), options);
      body = isLent ? new LentPieces(memory, queue, sender()) : new Slabs(queue);
      body.begin(answer, bodyBytes);
      over({ answer, body: queue });
    },
    place: (upToBytes) => body!.place(upToBytes),
    placed: (sizeBytes) => body!.placed(sizeBytes),
    end(error) {
      if (body) body.end(error);
      else over({ error });
    },
  };
}

const EMPTY = new Uint8Array(0);
const SLAB_BYTES = 256 * 1024;
/** A remainder of a slab below this is not worth a read of its own. */
const SLAB_REST_BYTES = 16 * 1024;

/** Hands out pieces of fresh memory, which the stream's reader may keep. */
class Slabs implements BodyReceiver {
  readonly #queue: ByteQueue;
  #slab: Uint8Array = EMPTY;

  constructor(queue: ByteQueue) {
    this.#queue = queue;
  }

  begin(): void {}

  place(upToBytes: number): Uint8Array {
    if (this.#slab.byteLength < Math.min(SLAB_REST_BYTES, upToBytes))
      this.#slab = allocate(Math.min(SLAB_BYTES, upToBytes));
    return this.#slab.subarray(0, upToBytes);
  }

  placed(sizeBytes: number): void {
    const piece = this.#slab.subarray(0, sizeBytes);
    this.#slab = this.#slab.subarray(sizeBytes);
    this.#queue.push(piece);
  }

  end(error: unknown): void {
    endQueue(this.#queue, error);
  }
}

/** Bytes that the kernel and TLS hold of a connection may still arrive after the sender is paused. */
const SPILL_BYTES = 64 * 1024;

/**
 * Fills the pieces of lent memory one after the other, and passes each on when it is full: few, large pieces
 * cost the reader little. Bytes before a failure are passed on too. Without room the sender waits; bytes that
 * still arrive go through memory of its own.
 */
class LentPieces implements BodyReceiver {
  readonly #memory: BodyMemory;
  readonly #queue: ByteQueue;
  readonly #sender: Sender;
  /** Infinite if it is unknown. */
  #remainingBytes = Number.POSITIVE_INFINITY;
  #piece: Uint8Array | undefined;
  #filledBytes = 0;
  #spill: Uint8Array | undefined;
  #isSpilling = false;

  constructor(memory: BodyMemory, queue: ByteQueue, sender: Sender) {
    this.#memory = memory;
    this.#queue = queue;
    this.#sender = sender;
  }

  begin(_answer: HttpAnswer, bodyBytes: number | undefined): void {
    this.#remainingBytes = bodyBytes ?? Number.POSITIVE_INFINITY;
  }

  place(upToBytes: number): Uint8Array {
    this.#piece ??= this.#memory.take();
    this.#isSpilling = this.#piece === undefined;
    if (this.#piece) return this.#piece.subarray(this.#filledBytes, this.#filledBytes + upToBytes);
    this.#spill ??= allocate(SPILL_BYTES);
    return this.#spill.subarray(0, upToBytes);
  }

  placed(sizeBytes: number): void {
    this.#remainingBytes -= sizeBytes;
    if (this.#isSpilling) this.#takeSpilled(this.#spill!.subarray(0, sizeBytes));
    else this.#filled(sizeBytes);
    if (this.#piece || this.#remainingBytes === 0) return;
    this.#piece = this.#memory.take();
    if (this.#piece) return;
    this.#sender.pause();
    this.#memory.onRoom(() => this.#sender.resume());
  }

  end(error: unknown): void {
    this.#pass();
    endQueue(this.#queue, error);
  }

  #filled(sizeBytes: number): void {
    this.#filledBytes += sizeBytes;
    if (this.#filledBytes === this.#piece!.byteLength) this.#pass();
  }

  #takeSpilled(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      this.#piece ??= this.#memory.take();
      if (!this.#piece) {
        // A copy, because the next bytes reuse the same memory.
        this.#queue.push(bytes.slice(at));
        return;
      }
      const room = this.#piece.byteLength - this.#filledBytes;
      const part = bytes.subarray(at, at + room);
      this.#piece.set(part, this.#filledBytes);
      at += part.byteLength;
      this.#filled(part.byteLength);
    }
  }

  #pass(): void {
    const piece = this.#piece;
    const sizeBytes = this.#filledBytes;
    this.#piece = undefined;
    this.#filledBytes = 0;
    if (!piece) return;
    // An empty piece is dropped: the reader would take it for a sign of life.
    if (sizeBytes === 0) this.#memory.giveBack(piece);
    else this.#queue.push(piece.subarray(0, sizeBytes));
  }
}

function endQueue(queue: ByteQueue, error: unknown): void {
  if (error === undefined) queue.end();
  else queue.fail(error);
}

/** Not zero-filled, and not from Node's shared pool: the caller may transfer it to a thread. */
export function allocate(sizeBytes: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(sizeBytes);
  return new Uint8Array(buffer.buffer, buffer.byteOffset, sizeBytes);
}
