/**
 * A queue between a socket that pushes and a reader that pulls. It pauses the sender when the reader is slow.
 */

/** Above this the sender is paused; it continues when the queue is empty. */
const PAUSE_ABOVE_BYTES = 512 * 1024;

export interface QueueOptions {
  readonly pauseAboveBytes?: number;
  /** Bytes that arrived before a failure are read first, then the error. Default: they are dropped. */
  readonly keepsQueued?: boolean;
}

export interface Sender {
  pause(): void;
  resume(): void;
  /** Ends the exchange early; the connection is lost. */
  abort(reason: Error): void;
}

type Waiting = { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void };

export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #sender: Sender;
  readonly #pauseAboveBytes: number;
  readonly #keepsQueued: boolean;
  readonly #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #isPaused = false;
  #state: 'open' | 'ended' | 'failed' = 'open';
  #error: unknown;
  #waiting: Waiting | undefined;

  constructor(
    sender: Sender,
    { keepsQueued = false, pauseAboveBytes = PAUSE_ABOVE_BYTES }: QueueOptions = {},
  ) {
    this.#sender = sender;
    this.#pauseAboveBytes = pauseAboveBytes;
    this.#keepsQueued = keepsQueued;
  }

  push(chunk: Uint8Array): void {
    if (this.#state !== 'open') return;
    if (this.#waiting) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve({ value: chunk, done: false });
      return;
    }
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.byteLength;
    if (this.#queuedBytes > this.#pauseAboveBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#sender.pause();
    }
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  /**
   * Queued bytes are dropped, unless the reader resumes from there: half an object is useless if the rest
   * will not come.
   */
  fail(error: unknown): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#error = error;
    if (!this.#keepsQueued) this.#chunks.length = 0;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  /** Idempotent. Later reads see the end. */
  destroy(): void {
    const wasOpen = this.#state === 'open';
    this.end();
    this.#chunks.length = 0;
    if (wasOpen) this.#sender.abort(new DOMException('The body was dropped.', 'AbortError'));
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.destroy();
        return { value: undefined, done: true };
      },
    };
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#queuedBytes -= chunk.byteLength;
      if (this.#isPaused && this.#chunks.length === 0) {
        this.#isPaused = false;
        this.#sender.resume();
      }
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.#state === 'ended') return Promise.resolve({ value: undefined, done: true });
    if (this.#state === 'failed') return Promise.reject(this.#error);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }
}
