/**
 * Columns of a list with millions of rows, in buffers outside the JavaScript heap. `trim` frees unused
 * capacity.
 */

/** Each number takes 8 bytes. */
export function createGrowingNumbers() {
  let held = new Float64Array(1024);
  let size = 0;
  return {
    at: (index: number) => held[index]!,
    push(value: number) {
      if (size === held.length) {
        const grown = new Float64Array(held.length + Math.max(held.length >> 1, 1024));
        grown.set(held);
        held = grown;
      }
      held[size++] = value;
    },
    trim() {
      held = held.slice(0, size);
    },
  };
}

export function createGrowingBytes() {
  let held = Buffer.allocUnsafeSlow(16 * 1024);
  let size = 0;
  const makeRoom = (bytes: number) => {
    if (size + bytes <= held.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(size + bytes, held.length + (held.length >> 1)));
    held.copy(grown, 0, 0, size);
    held = grown;
  };
  return {
    get size() {
      return size;
    },
    at: (index: number) => held[index]!,
    text: (start: number, end: number) => held.toString('utf8', start, end),
    compare: ([a, aEnd]: readonly [number, number], [b, bEnd]: readonly [number, number]) =>
      held.compare(held, b, bEnd, a, aEnd),
    push(text: string) {
      // UTF-8 takes at most 3 bytes for each UTF-16 unit.
      makeRoom(text.length * 3);
      size += held.write(text, size);
    },
    pushByte(value: number) {
      makeRoom(1);
      held[size++] = value;
    },
    trim() {
      const trimmed = Buffer.allocUnsafeSlow(size);
      held.copy(trimmed, 0, 0, size);
      held = trimmed;
    },
  };
}
