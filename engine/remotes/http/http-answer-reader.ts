/**
 * Reads one answer from the bytes of a connection, however they are split. Bodies go straight to the
 * receiver's memory: during a body, `window` is the place for the next bytes.
 */
import { type AnswerHead, framingOf, isKeptAlive, malformed, parseHead } from './http-answer-head.ts';
import { type AnswerReceiver, HttpError } from './http-message.ts';

/**
 * The limit of all heads before a body, including informational ones, and of the trailer after the last
 * chunk.
 */
const HEAD_MAX_BYTES = 64 * 1024;
const CHUNK_LINE_MAX_BYTES = 4096;
/** Smaller rests of a chunk are read together with what follows. */
const WINDOW_MIN_BYTES = 16 * 1024;

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');

type State = 'head' | 'body' | 'chunkLine' | 'chunkEnd' | 'trailers' | 'done';

export class AnswerReader {
  readonly #method: string;
  readonly #receiver: AnswerReceiver;
  #state: State = 'head';
  /** The beginning of a head or of a line whose end has not arrived. */
  #held: Buffer | undefined;
  #heldBytes = 0;
  #headBytes = 0;
  /** Bytes left of the body or the chunk. Infinite if only the connection's end ends it. */
  #remainingBytes = 0;
  #isChunked = false;
  #isKeptAlive = false;
  #hasHead = false;

  constructor(method: string, receiver: AnswerReceiver) {
    this.#method = method;
    this.#receiver = receiver;
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** The final head was read. */
  get hasHead(): boolean {
    return this.#hasHead;
  }

  /** Valid after the answer is done. */
  get isKeptAlive(): boolean {
    return this.#isKeptAlive;
  }

  /** Undefined if bytes go to `read`. */
  window(): Uint8Array | undefined {
    const wanted = this.#remainingBytes;
    if (this.#state !== 'body' || wanted === Number.POSITIVE_INFINITY) return undefined;
    if (this.#isChunked && wanted < WINDOW_MIN_BYTES) return undefined;
    return this.#receiver.place(wanted);
  }

  /** This many bytes were written to `window`. */
  filled(sizeBytes: number): void {
    this.#receiver.placed(sizeBytes);
    this.#passed(sizeBytes);
  }

  /**
   * Takes the bytes of this answer; the rest belongs to no request. `bytes` may be reused afterwards.
   * @returns How many bytes were taken.
   */
  read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.byteLength && this.#state !== 'done') {
      if (this.#state === 'body') at += this.#readBody(bytes, at);
      else if (this.#state === 'head') at += this.#readHead(bytes.subarray(at));
      else at += this.#readLine(bytes.subarray(at));
    }
    return at;
  }

  /** The connection ended. Throws if the answer is not complete. */
  close(): void {
    if (this.#state === 'done') return;
    if (this.#state === 'body' && this.#remainingBytes === Number.POSITIVE_INFINITY) this.#state = 'done';
    else if (this.#state === 'head' && this.#headBytes === 0 && this.#held === undefined)
      throw new HttpError('ECONNRESET', 'The connection was closed before an answer came.');
    else throw new HttpError('HTTP_CUT_SHORT', 'The connection was closed before the end of the answer.');
  }

  #readBody(bytes: Buffer, at: number): number {
    const wantedBytes = Math.min(bytes.byteLength - at, this.#remainingBytes);
    const place = this.#receiver.place(wantedBytes);
    const sizeBytes = Math.min(place.byteLength, wantedBytes);
    place.set(bytes.subarray(at, at + sizeBytes));
    this.filled(sizeBytes);
    return sizeBytes;
  }

  #passed(sizeBytes: number): void {
    this.#remainingBytes -= sizeBytes;
    if (this.#remainingBytes === 0) this.#state = this.#isChunked ? 'chunkEnd' : 'done';
  }

  #readHead(bytes: Buffer): number {
    const found = this.#upTo(END_OF_HEAD, bytes, HEAD_MAX_BYTES - this.#headBytes);
    if (!found) return bytes.byteLength;
    this.#headBytes += found.text.length + END_OF_HEAD.length;
    const head = parseHead(found.text);
    if (head.status === 101 || head.status < 100) throw malformed(`its status is ${head.status}`);
    if (head.status >= 200) this.#begin(head);
    return found.takenBytes;
  }

  #begin(head: AnswerHead): void {
    const framing = framingOf(head, this.#method);
    this.#hasHead = true;
    this.#isKeptAlive = framing.kind !== 'untilClose' && isKeptAlive(head);
    const isKnown = framing.kind === 'length';
    this.#receiver.begin(
      { status: head.status, headers: head.headers },
      isKnown ? framing.sizeBytes : undefined,
    );
    this.#isChunked = framing.kind === 'chunked';
    this.#remainingBytes = isKnown ? framing.sizeBytes : Number.POSITIVE_INFINITY;
    if (this.#isChunked) this.#state = 'chunkLine';
    else this.#state = this.#remainingBytes === 0 ? 'done' : 'body';
  }

  /** Chunks are framed by lines (RFC 9112, section 7.1). */
  #readLine(bytes: Buffer): number {
    const maxBytes = this.#state === 'trailers' ? HEAD_MAX_BYTES - this.#headBytes : CHUNK_LINE_MAX_BYTES;
    const found = this.#upTo(END_OF_LINE, bytes, maxBytes);
    if (!found) return bytes.byteLength;
    const { text, takenBytes } = found;
    if (this.#state === 'chunkEnd') {
      if (text !== '') throw malformed('a chunk is longer than announced');
      this.#state = 'chunkLine';
    } else if (this.#state === 'trailers') {
      this.#headBytes += takenBytes;
      if (text === '') this.#state = 'done';
    } else {
      const size = /^([\da-f]{1,13})[ \t]*(?:;|$)/i.exec(text)?.[1];
      if (size === undefined) throw malformed('the size of a chunk is invalid');
      this.#remainingBytes = Number.parseInt(size, 16);
      this.#state = this.#remainingBytes === 0 ? 'trailers' : 'body';
    }
    return takenBytes;
  }

  /**
   * The text before `mark`, with the held bytes. Undefined while the mark is missing: then all of `bytes` is
   * held.
   */
  #upTo(
    mark: Buffer,
    bytes: Buffer,
    maxBytes: number,
  ): { readonly text: string; readonly takenBytes: number } | undefined {
    const heldBytes = this.#heldBytes;
    // The mark may have begun in the held bytes. No byte beyond the limit is held.
    const all = this.#held ? this.#hold(bytes.subarray(0, maxBytes + mark.length)) : bytes;
    const end = all.indexOf(mark, Math.max(0, heldBytes - mark.length + 1));
    if ((end < 0 ? all.byteLength : end) > maxBytes) throw malformed('its head has no end');
    if (end < 0) {
      // The bytes may be in memory that is reused.
      if (!this.#held) this.#hold(bytes);
      return undefined;
    }
    this.#held = undefined;
    this.#heldBytes = 0;
    return { text: all.toString('utf8', 0, end), takenBytes: end + mark.length - heldBytes };
  }

  /**
   * Adds to the held bytes and returns all of them. The buffer doubles, so a head that arrives byte by byte
   * is not copied each time.
   */
  #hold(bytes: Buffer): Buffer {
    const sizeBytes = this.#heldBytes + bytes.byteLength;
    if (!this.#held || this.#held.byteLength < sizeBytes) {
      const larger = Buffer.allocUnsafe(Math.max(sizeBytes, 2 * this.#heldBytes));
      this.#held?.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldBytes);
    this.#heldBytes = sizeBytes;
    return this.#held.subarray(0, sizeBytes);
  }
}
