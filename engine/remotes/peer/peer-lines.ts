/** The lines of a peer's listing, each a JSON document. */
import { DrayError } from '../../api/error.ts';

const NEWLINE = 0x0a;
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The buffer doubles when it is full, so each byte of a line is copied at most a few times, however small the
 * pieces are.
 */
export async function* linesOf(address: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = new Uint8Array(0);
  let heldBytes = 0;
  const hold = (bytes: Uint8Array) => {
    const sizeBytes = heldBytes + bytes.length;
    if (sizeBytes > LINE_BYTES_MAX)
      throw new DrayError('damaged', `${address} sends a line without an end.`, { data: { address } });
    if (held.length < sizeBytes) {
      const larger = new Uint8Array(Math.max(sizeBytes, 2 * held.length));
      larger.set(held.subarray(0, heldBytes));
      held = larger;
    }
    held.set(bytes, heldBytes);
    heldBytes = sizeBytes;
  };
  for await (const piece of body) {
    let start = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, start)) {
      const rest = piece.subarray(start, at);
      if (heldBytes > 0) hold(rest);
      yield heldBytes > 0 ? held.slice(0, heldBytes) : rest;
      heldBytes = 0;
      start = at + 1;
    }
    if (start < piece.length) hold(piece.subarray(start));
  }
}
