/** Reads a source in pieces of any size, with lookahead. */
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';

const PIECE_ITEMS = 1_000;

export type SourceWindows = ReturnType<typeof createWindows>;

/** Its end, by `await using`, closes the source. */
export function createWindows(source: AsyncIterable<readonly TreeItem[]>) {
  const iterator = source[Symbol.asyncIterator]();
  let held: TreeItem[] = [];
  let at = 0;
  let isOver = false;

  /** Fetches until `count` items are buffered, if there are so many. */
  const hold = async (count: number): Promise<void> => {
    if (at > 0 && !isOver && held.length - at < count) {
      held = held.slice(at);
      at = 0;
    }
    while (!isOver && held.length - at < count) {
      const next = await iterator.next();
      if (next.done) isOver = true;
      else for (const item of next.value) held.push(item);
    }
  };
  const takeHeld = (count: number): readonly TreeItem[] => {
    const items = held.slice(at, at + count);
    at += items.length;
    if (at >= held.length) {
      held = [];
      at = 0;
    }
    return items;
  };

  return {
    /** At most `count` of the next items, which stay buffered. */
    async peek(count: number): Promise<readonly TreeItem[]> {
      await hold(count);
      return held.slice(at, at + count);
    },
    /** The next `count`; fewer only at the source's end. */
    async take(count: number): Promise<readonly TreeItem[]> {
      await hold(count);
      return takeHeld(count);
    },
    /**
     * The items up to and including this path, or all remaining ones without it. Pieces are never empty and
     * have at most `PIECE_ITEMS`.
     */
    async *takeUntil(path: string | undefined): AsyncGenerator<readonly TreeItem[]> {
      for (;;) {
        await hold(1);
        const most = Math.min(held.length, at + PIECE_ITEMS);
        let end = at;
        while (end < most && (path === undefined || comparePaths(held[end]!.path, path) <= 0)) end += 1;
        if (end === at) return;
        yield takeHeld(end - at);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await iterator.return?.();
    },
  };
}
