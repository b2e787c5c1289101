/** The pieces of a dropped file, as they arrive. */
import type { Readable } from 'node:stream';

/** A browser that sends nothing for this long is gone. */
const SILENCE_MS = 60_000;

/**
 * The timeout runs only while a piece is awaited: a store may take minutes over a piece that the browser sent
 * long ago. A reader that stops early leaves the request open, so that it can still be answered.
 */
export async function* readDropped(request: Readable): AsyncGenerator<Uint8Array> {
  const pieces = request.iterator({ destroyOnReturn: false });
  for (;;) {
    const silence = setTimeout(() => request.destroy(), SILENCE_MS);
    const { done, value } = await pieces.next().finally(() => clearTimeout(silence));
    if (done) return;
    yield value as Uint8Array;
  }
}
