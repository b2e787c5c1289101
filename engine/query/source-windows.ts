/** A source taken piece by piece, in pieces of any size, and looked into before that. */
import { comparePaths } from '../model/entry.ts';
import type { TreeItem } from '../model/tree-item.ts';

export interface SourceWindow {
  /** Empty only when the source is at its end. */
  readonly items: readonly TreeItem[];
}

/** The caller closes it; then the source is closed too. */
export function createWindows(source: AsyncIterable<readonly TreeItem[]>) {
  const iterator = source[Symbol.asyncIterator]();
  let held: TreeItem[] = [];
  let at = 0;
  let isOver = false;

  /** Sees to it that `count` items are held, if there are so many. */
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
  const takeHeld = (count: number): SourceWindow => {
    const items = held.slice(at, at + count);
    at += items.length;
    if (at >= held.length) {
      held = [];
      at = 0;
    }
    return { items };
  };

  return {
    /** At most `count` of the next items, which stay. */
    async peek(count: number): Promise<readonly TreeItem[]> {
      await hold(count);
      return held.slice(at, at + count);
    },
    async take(count: number): Promise<SourceWindow> {
      await hold(count);
      return takeHeld(count);
    },
    /** Those up to this path, included; `step` at a time are held at once. */
    async takeUntil(path: string, step: number): Promise<SourceWindow> {
      let count = 0;
      for (;;) {
        await hold(count + step);
        const start = count;
        while (at + count < held.length && comparePaths(held[at + count]!.path, path) <= 0) count += 1;
        if (count - start < step) return takeHeld(count);
      }
    },
    /** All that is left. */
    async *rest(): AsyncGenerator<readonly TreeItem[]> {
      for (;;) {
        const { items } = await this.take(1_000);
        if (items.length === 0) return;
        yield items;
      }
    },
    async close(): Promise<void> {
      await iterator.return?.();
    },
  };
}
