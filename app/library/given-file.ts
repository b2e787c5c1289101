/** A file that a program gives for a commit: checked at once, and read when its turn comes. */
import { Readable } from 'node:stream';
import { isDate, isUint8Array } from 'node:util/types';
import { DrayError, type ErrorCode, quotedExcerpt, toDrayError } from '../../engine/api/error.ts';
import { checkAborted, orAborted } from '../../engine/base/abort.ts';
import type { ContentStream } from '../../engine/jobs/versions/content-writer.ts';
import { checkEntryPath } from '../../engine/model/safe-path.ts';

/** Pieces of bytes, or of text as UTF-8. The readable streams of Node and of the web are such. */
export type ContentPieces = AsyncIterable<Uint8Array | string>;

/**
 * The content of a file: bytes, text as UTF-8, a stream, or a function that opens a stream. A stream is read
 * once, for one file, and is stopped if the commit fails. A function is called when its turn comes, so that
 * ten thousand of them need few open files. It is called again in the rare case that the content is needed
 * once more.
 */
export type Content = Uint8Array | string | ContentPieces | ContentOpener;

/** Opens a new stream at each call. */
export type ContentOpener = () => ContentPieces | Promise<ContentPieces>;

/** What a file is besides its content. */
export interface FileOptions {
  /**
   * The size of the content in bytes. If it has another one, the commit fails with `damaged`. Default: found
   * out. A repository without chunks (`dray init --layout objects`) takes a stream above 64 MiB only with its
   * size, and from a function.
   */
  readonly sizeBytes?: number;
  /** When the content was last changed. Default: now. */
  readonly modified?: Date;
  /** Whether a workspace makes it executable. Default: no. */
  readonly executable?: boolean;
}

/** Streams that belong to a file. */
const taken = new WeakSet<object>();

export class GivenFile {
  readonly path: string;
  readonly modified: Date;
  readonly executable: boolean;
  readonly #content: Content;
  readonly #sizeBytes: number | undefined;
  #isOpened = false;
  #isEnded = false;

  /** @throws DrayError `unsafePath`, `usage` */
  constructor(path: string, content: Content, options: FileOptions) {
    const { executable = false, modified = new Date(), sizeBytes } = options;
    this.path = checkedPath(path);
    const isPlain = typeof content === 'string' || isUint8Array(content);
    if (!isPlain && typeof content !== 'function' && !isStream(content))
      throw this.#refuse('usage', 'the content is no bytes, no text, no stream and no function.');
    if (sizeBytes !== undefined && !(Number.isSafeInteger(sizeBytes) && sizeBytes >= 0))
      throw this.#refuse('usage', 'the size is no number of bytes.');
    if (!isDate(modified) || Number.isNaN(modified.getTime()))
      throw this.#refuse('usage', 'the time is no valid date.');
    if (isStream(content)) this.#take(content);
    this.modified = modified;
    this.executable = executable;
    this.#content = content;
    this.#sizeBytes = sizeBytes;
  }

  /** @throws DrayError `usage`: the rest of a stream would be stored as the whole */
  #take(stream: ContentPieces): void {
    if (taken.has(stream) || Readable.isDisturbed(stream as Readable))
      throw this.#refuse('usage', 'its stream is read elsewhere. Give each file one of its own.');
    taken.add(stream);
    // A stream that fails before its turn would end the process. Reading it fails again.
    if ('on' in stream && typeof stream.on === 'function') stream.on('error', () => {});
  }

  /** A stream that was opened cannot be read again. */
  get isGone(): boolean {
    return this.#isOpened && isStream(this.#content);
  }

  /** The signal ends it even while a stream gives nothing. */
  open(signal: AbortSignal): ContentStream {
    if (this.isGone)
      throw this.#refuse('usage', 'its stream is needed again. Give a function that opens it.');
    this.#isOpened = true;
    const content = this.#content;
    if (typeof content === 'function' || isStream(content))
      return { sizeBytes: this.#sizeBytes, body: this.#piecesOf(content, signal) };
    const bytes = this.#bytesOf(content);
    const { length } = bytes;
    if (this.#sizeBytes !== undefined && this.#sizeBytes !== length)
      throw this.#refuse('damaged', `the content has ${length} bytes, not ${this.#sizeBytes}.`);
    return { sizeBytes: length, body: inOnePiece(bytes) };
  }

  /** Frees what a stream holds that nobody reads to its end. */
  discard(): void {
    if (!this.#isEnded && isStream(this.#content)) stop(this.#content).catch(() => {});
  }

  async *#piecesOf(content: ContentPieces | ContentOpener, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let stream: ContentPieces | undefined;
    let iterator: AsyncIterator<Uint8Array | string> | undefined;
    let isAwaited = false;
    let isEnded = false;
    try {
      checkAborted(signal);
      if (typeof content === 'function') {
        const opening: Promise<unknown> = Promise.resolve(content());
        // One that comes after the end is not read.
        opening.then((late) => (signal.aborted && isStream(late) ? stop(late) : undefined)).catch(() => {});
        const opened = await orAborted(opening, signal);
        if (!isStream(opened)) throw this.#refuse('usage', 'its function opens no stream.');
        this.#take(opened);
        stream = opened;
      } else stream = content;
      iterator = stream[Symbol.asyncIterator]();
      for (;;) {
        checkAborted(signal);
        isAwaited = true;
        const { done, value } = await orAborted(iterator.next(), signal);
        isAwaited = false;
        isEnded = done === true;
        if (done) return;
        yield this.#bytesOf(value);
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      if (isStream(content)) this.#isEnded = true;
      const stopped = !isEnded && stream && stop(stream, iterator).catch(() => {});
      // A stream that gives nothing may not stop either.
      if (!isAwaited) await stopped;
    }
  }

  /** @throws DrayError `usage`: the numbers of other arrays would be taken for bytes */
  #bytesOf(piece: unknown): Uint8Array {
    if (isUint8Array(piece)) return piece;
    if (typeof piece === 'string' && piece.isWellFormed()) return Buffer.from(piece);
    throw this.#refuse('usage', 'the content has a piece that is neither a Uint8Array nor Unicode text.');
  }

  #failure(cause: unknown): DrayError {
    const known = toDrayError(cause);
    if (known.code !== 'internal') return known;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return this.#refuse('io', `its stream failed: ${reason}`, cause);
  }

  #refuse(code: ErrorCode, fault: string, cause?: unknown): DrayError {
    return new DrayError(code, `${this.path}: ${fault}`, { cause, data: { path: this.path } });
  }
}

/** @throws DrayError `unsafePath`, `usage` */
function checkedPath(path: unknown): string {
  if (typeof path !== 'string') throw new DrayError('usage', 'The path of a file is text.');
  const fault = checkEntryPath(path, { kind: 'file' });
  if (fault === undefined) return path;
  throw new DrayError('unsafePath', `${quotedExcerpt(path)} cannot be a file: ${fault}.`, {
    data: { path },
  });
}

function isStream(content: unknown): content is ContentPieces {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content;
}

async function stop(stream: ContentPieces, iterator?: AsyncIterator<Uint8Array | string>): Promise<void> {
  const known: { destroy?(): void; cancel?(): Promise<void>; readonly locked?: boolean } = stream as object;
  if (typeof known.destroy === 'function') known.destroy();
  else if (typeof known.cancel === 'function' && !known.locked) await known.cancel();
  else await (iterator ?? stream[Symbol.asyncIterator]()).return?.();
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
