/**
 * Allocates spans of any length from one range of addresses. First fit: low addresses are reused, so the
 * memory ever touched is about what was out at once. A freed span merges with the free spans next to it.
 */
import assert from 'node:assert';

export interface Span {
  /** In bytes, from the start of the whole. */
  readonly offset: number;
  readonly length: number;
}

export interface ByteArena {
  /** A free span of `length` (above 0) bytes; undefined when no free span is long enough. */
  take(length: number): Span | undefined;
  /** Takes back a span that `take` gave. */
  free(span: Span): void;
}

export function createByteArena(whole: Span): ByteArena {
  /** Sorted by offset; no two are adjacent. */
  const holes: { offset: number; length: number }[] = [{ ...whole }];

  return {
    take(length) {
      assert(length > 0, 'a span has at least one byte');
      const at = holes.findIndex((hole) => hole.length >= length);
      if (at < 0) return undefined;
      const hole = holes[at]!;
      const span = { offset: hole.offset, length };
      hole.offset += length;
      hole.length -= length;
      if (hole.length === 0) holes.splice(at, 1);
      return span;
    },
    free({ offset, length }) {
      const found = holes.findIndex((hole) => hole.offset > offset);
      const at = found < 0 ? holes.length : found;
      const before = holes[at - 1];
      const after = holes[at];
      const end = offset + length;
      assert(before === undefined || before.offset + before.length <= offset, 'freed twice');
      assert(after === undefined || end <= after.offset, 'freed twice');
      const joinsBefore = before !== undefined && before.offset + before.length === offset;
      const joinsAfter = after !== undefined && after.offset === end;
      if (joinsBefore && joinsAfter) {
        before.length += length + after.length;
        holes.splice(at, 1);
      } else if (joinsBefore) before.length += length;
      else if (joinsAfter) {
        after.offset = offset;
        after.length += length;
      } else holes.splice(at, 0, { offset, length });
    },
  };
}
