/** Merges two trees in one pass: items on both sides under one path, and items on one side only. */
import { comparePaths } from '../../model/entry.ts';
import type { TreeItem } from '../../model/tree-item.ts';

/** In order; a batch is about as large as the incoming ones. */
export interface MatchedBatch {
  readonly pairs: readonly MatchedPair[];
  /** At the destination only. */
  readonly extras: readonly TreeItem[];
}

export interface MatchedPair {
  readonly source: TreeItem;
  readonly destination: TreeItem | undefined;
}

/** Closes both streams, also when the consumer stops early. */
export async function* mergeTrees(
  source: AsyncIterable<readonly TreeItem[]>,
  destination: AsyncIterable<readonly TreeItem[]>,
): AsyncGenerator<MatchedBatch> {
  await using left = cursorOf(source);
  await using right = cursorOf(destination);
  await right.fill();
  for (; await left.fill(); ) {
    const pairs: MatchedPair[] = [];
    const extras: TreeItem[] = [];
    // Continues to the end of what one side has in memory, so that results never wait for either side.
    for (;;) {
      const item = left.peek();
      if (item === undefined) break;
      const other = right.peek();
      if (other === undefined && !right.isOver) break;
      const order = other === undefined ? -1 : comparePaths(item.path, other.path);
      if (order <= 0) {
        pairs.push({ source: item, destination: order === 0 ? other : undefined });
        left.advance();
        if (order === 0) right.advance();
      } else {
        extras.push(other!);
        right.advance();
      }
    }
    if (pairs.length + extras.length > 0) yield { pairs, extras };
    await right.fill();
  }
  while (await right.fill()) yield { pairs: [], extras: right.takeAll() };
}

interface Cursor extends AsyncDisposable {
  /** Fetches until there is a current item. False at the end. */
  fill(): Promise<boolean>;
  peek(): TreeItem | undefined;
  advance(): void;
  takeAll(): readonly TreeItem[];
  readonly isOver: boolean;
}

function cursorOf(batches: AsyncIterable<readonly TreeItem[]>): Cursor {
  const iterator = batches[Symbol.asyncIterator]();
  let batch: readonly TreeItem[] = [];
  let at = 0;
  let isOver = false;
  return {
    async fill() {
      while (!isOver && at >= batch.length) {
        const next = await iterator.next();
        if (next.done) isOver = true;
        else {
          batch = next.value;
          at = 0;
        }
      }
      return at < batch.length;
    },
    peek: () => batch[at],
    advance() {
      at += 1;
    },
    takeAll() {
      const rest = batch.slice(at);
      at = batch.length;
      return rest;
    },
    get isOver() {
      return isOver;
    },
    [Symbol.asyncDispose]: async () => {
      await iterator.return?.();
    },
  };
}
