/** What an HTTP exchange is made of, and what ends one early. */
import type { BodyMemory } from '../object-store.ts';

export interface HttpRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** `host` and `content-length` come by themselves. Text goes as UTF-8. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Begins the body: what would else have to be copied before it. */
  readonly lead?: Uint8Array;
  /** For the answer of an `exchange`, if it fits; left alone once that has ended. */
  readonly into?: Uint8Array;
  /** For the body of a `stream` that is no error's. */
  readonly memory?: BodyMemory;
  /** In place of the transport's quiet time: for what the server works at by itself, without a byte to show for it. */
  readonly quietMs?: number;
  readonly signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. A list where a header came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Where the answer to one request goes. What these throw ends the exchange. */
export interface AnswerReceiver {
  /** @param bodyBytes Undefined when it is not known before the end. */
  begin(answer: HttpAnswer, bodyBytes: number | undefined): void;
  /** Memory for the next bytes of the body: at least one byte of it, at most `upToBytes`. Those bytes will come, or the exchange fails. */
  place(upToBytes: number): Uint8Array;
  /** So many bytes lie at the beginning of the last `place`. */
  placed(sizeBytes: number): void;
}

/** Node's own codes (ECONNREFUSED, ENOTFOUND, certificates) come as they are; these are for what Node does not say. */
export type HttpErrorCode =
  | 'HTTP_CONNECT_TIMEOUT'
  | 'HTTP_ANSWER_TIMEOUT'
  | 'HTTP_BODY_TIMEOUT'
  | 'HTTP_CUT_SHORT'
  | 'HTTP_MALFORMED'
  /** An `https:` origin whose server speaks no TLS. */
  | 'HTTP_NO_TLS'
  /** An `http:` origin whose server speaks TLS. */
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
