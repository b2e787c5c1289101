/** The parts of an HTTP exchange, and the errors that end one early. */
import type { BodyMemory } from '../object-store.ts';

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** `host` and `content-length` are added. Text is sent as UTF-8. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sent before the body, which saves copying both into one buffer. */
  readonly lead?: Uint8Array;
  /** For the answer of an `exchange`, if it fits; not used after that has ended. */
  readonly into?: Uint8Array;
  /** For the body of a `stream` whose status is not an error. */
  readonly memory?: BodyMemory;
  /** Replaces the transport's quiet time, for requests that the server works on without sending a byte. */
  readonly quietMs?: number;
  readonly signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. A list if a header came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Receives the answer to one request. An error thrown here ends the exchange. */
export interface AnswerReceiver {
  /** @param bodyBytes Undefined if it is unknown before the end. */
  begin(answer: HttpAnswer, bodyBytes: number | undefined): void;
  /**
   * Memory for the next bytes of the body: at least one byte of it, at most `upToBytes`. Those bytes will
   * arrive, or the exchange fails.
   */
  place(upToBytes: number): Uint8Array;
  /** This many bytes are at the beginning of the last `place`. */
  placed(sizeBytes: number): void;
}

/**
 * Node's own codes (ECONNREFUSED, ENOTFOUND, certificates) pass unchanged; these cover what Node does not
 * report.
 */
export type HttpErrorCode =
  | 'HTTP_CONNECT_TIMEOUT'
  | 'HTTP_ANSWER_TIMEOUT'
  | 'HTTP_BODY_TIMEOUT'
  | 'HTTP_CUT_SHORT'
  | 'HTTP_MALFORMED'
  /** An `https:` origin whose server speaks no TLS. */
  | 'HTTP_NO_TLS'
  /** An `http:` origin whose server uses TLS. */
  | 'HTTP_WANTS_TLS';

export class HttpError extends Error {
  readonly code: HttpErrorCode | 'ECONNRESET';
  constructor(code: HttpErrorCode | 'ECONNRESET', message: string) {
    super(message);
    this.code = code;
  }
}

export class AnswerTooLarge extends Error {
  readonly sizeBytes: number;
  constructor(sizeBytes: number) {
    super('The answer is larger than allowed.');
    this.sizeBytes = sizeBytes;
  }
}
