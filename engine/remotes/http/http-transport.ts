/** Sends requests to one HTTP server; how many connections it uses is its own affair. */
import type { ByteQueue } from './byte-queue.ts';
import type { HttpAnswer, HttpRequest } from './http-message.ts';

export interface HttpTransport {
  /** The answer whole. A body above `maxBytes` ends the exchange with an AnswerTooLarge error. */
  exchange(request: HttpRequest, maxBytes: number): Promise<HttpAnswer & { readonly bytes: Uint8Array }>;
  /** Resolves with the headers. The body must be read to its end or destroyed. */
  stream(request: HttpRequest): Promise<HttpAnswer & { readonly body: ByteQueue }>;
  close(): Promise<void>;
}
