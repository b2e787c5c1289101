/** The pieces of a dropped file, as they come. */
import type { Readable } from 'node:stream';

/** A browser that sends nothing for so long is gone. */
const SILENCE_MS = 60_000;

/**
 * Only while a piece is waited for does the browser owe one: a store that takes minutes over what it was given is no silence of the
 * browser's, which has long sent all. Who stops in the middle leaves the request as it is, so that it can still be answered.
 */
export async function* readDropped(
  request: Readable,
  { silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {},
): AsyncGenerator<Uint8Array> {
  const pieces = request.iterator({ destroyOnReturn: false });
  for (;;) {
    const silence = setTimeout(() => request.destroy(), silenceMs);
    const { done, value } = await pieces.next().finally(() => clearTimeout(silence));
    if (done) return;
    yield value as Uint8Array;
  }
}
