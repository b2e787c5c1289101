/** The start of a stream, read into memory as far as it is asked for. Its end stops the stream. */
export class StreamStart implements AsyncDisposable {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #buffer = new Uint8Array(16 * 1024);
  #filled = 0;
  #isDone = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#iterator = body[Symbol.asyncIterator]();
  }

  /** Reads on until there are more bytes than this. True: the stream has ended. */
  async readTo(bytesMax: number): Promise<boolean> {
    while (!this.#isDone && this.#filled <= bytesMax) {
      const piece = await this.#next();
      if (!piece) break;
      const needed = this.#filled + piece.length;
      if (needed > this.#buffer.length)
        this.#grow(Math.max(needed, Math.min(2 * this.#buffer.length, bytesMax)));
      this.#buffer.set(piece, this.#filled);
      this.#filled = needed;
    }
    return this.#isDone;
  }

  /** What was read so far, in memory that the next read may change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#filled);
  }

  /** What was read, and then the rest. */
  async *all(): AsyncGenerator<Uint8Array> {
    yield this.bytes();
    this.#buffer = new Uint8Array(0);
    for (let piece = await this.#next(); piece; piece = await this.#next()) yield piece;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isDone) await this.#iterator.return?.();
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#iterator.next();
      this.#isDone = done === true;
      return done ? undefined : value;
    } catch (error) {
      // A stream that has failed has ended.
      this.#isDone = true;
      throw error;
    }
  }

  #grow(length: number): void {
    const larger = new Uint8Array(length);
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}
