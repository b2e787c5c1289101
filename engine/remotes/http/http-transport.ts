/** Sends requests to one HTTP server over any number of connections. */
import type { ByteQueue } from './byte-queue.ts';
import type { HttpAnswer, HttpRequest } from './http-message.ts';

export interface HttpTransport {
  /** The whole answer. A body above `maxBytes` ends the exchange with an AnswerTooLarge error. */
  exchange(request: HttpRequest, maxBytes: number): Promise<HttpAnswer & { readonly bytes: Uint8Array }>;
  /** Resolves with the headers. The body must be read to its end or destroyed. */
  stream(request: HttpRequest): Promise<HttpAnswer & { readonly body: ByteQueue }>;
  close(): Promise<void>;
}
