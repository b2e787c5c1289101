/**
 * Compares two sorted lists by merging two streams in `comparePaths` order, so datasets of any size are
 * compared in the memory of two batches.
 */
import { comparePaths } from './entry.ts';

/** A path that exists on one side only (the other is undefined), or on both with different content. */
export interface Difference<L, R> {
  readonly path: string;
  readonly left: L | undefined;
  readonly right: R | undefined;
}

interface HasPath {
  readonly path: string;
}

type Batches<T> = Iterable<readonly T[]> | AsyncIterable<readonly T[]>;

/**
 * @param left In strictly ascending order of path, like `right`; the two may have different types.
 * @param isSame Called for paths on both sides. Pairs for which it returns true are not returned; `() =>
 * false` returns all.
 */
export function* diffSorted<L extends HasPath, R extends HasPath>(
  left: Iterable<L>,
  right: Iterable<R>,
  isSame: (left: L, right: R) => boolean,
): Generator<Difference<L, R>> {
  using lefts = closing(left[Symbol.iterator]());
  using rights = closing(right[Symbol.iterator]());
  let l = lefts.next();
  let r = rights.next();
  while (l !== undefined || r !== undefined) {
    const order = l === undefined ? 1 : r === undefined ? -1 : comparePaths(l.path, r.path);
    if (order < 0) yield { path: (l as L).path, left: l, right: undefined };
    else if (order > 0) yield { path: (r as R).path, left: undefined, right: r };
    else if (!isSame(l as L, r as R)) yield { path: (l as L).path, left: l, right: r };
    if (order <= 0) l = lefts.next();
    if (order >= 0) r = rights.next();
  }
}

/**
 * The same over batches, such as a scan's and a manifest's, either of which may be asynchronous. Each
 * returned batch covers the stretch that both sides have reached: it is never empty and no longer than its
 * input.
 */
export async function* diffSortedBatches<L extends HasPath, R extends HasPath>(
  left: Batches<L>,
  right: Batches<R>,
  isSame: (left: L, right: R) => boolean,
): AsyncGenerator<Difference<L, R>[]> {
  await using lefts = batchReader(left);
  await using rights = batchReader(right);
  for (;;) {
    const [l, r] = await Promise.all([lefts.fill(), rights.fill()]);
    if (!l && !r) return;
    const found: Difference<L, R>[] = [];
    if (l && r) diffHeads(lefts, rights, isSame, found);
    else if (l)
      for (const item of lefts.takeAll()) found.push({ path: item.path, left: item, right: undefined });
    else for (const item of rights.takeAll()) found.push({ path: item.path, left: undefined, right: item });
    if (found.length > 0) yield found;
  }
}

/** Runs until one side's batch is used up: that side's next item may sort before the other's. */
function diffHeads<L extends HasPath, R extends HasPath>(
  lefts: BatchReader<L>,
  rights: BatchReader<R>,
  isSame: (left: L, right: R) => boolean,
  found: Difference<L, R>[],
): void {
  let l = lefts.peek();
  let r = rights.peek();
  while (l && r) {
    const order = comparePaths(l.path, r.path);
    if (order < 0) found.push({ path: l.path, left: l, right: undefined });
    else if (order > 0) found.push({ path: r.path, left: undefined, right: r });
    else if (!isSame(l, r)) found.push({ path: l.path, left: l, right: r });
    if (order <= 0) l = lefts.advance();
    if (order >= 0) r = rights.advance();
  }
}

interface ItemReader<T> extends Disposable {
  next(): T | undefined;
}

/** Closes the source even when the reader stops early. */
function closing<T>(source: Iterator<T>): ItemReader<T> {
  return {
    next() {
      const step = source.next();
      return step.done ? undefined : step.value;
    },
    [Symbol.dispose]() {
      source.return?.();
    },
  };
}

interface BatchReader<T> extends AsyncDisposable {
  /** Fetches batches until `peek` has an item. False at the end. */
  fill(): Promise<boolean>;
  /** The next item of the current batch; undefined when the batch is used up. */
  peek(): T | undefined;
  /** Drops that item and returns the one after it. */
  advance(): T | undefined;
  /** The rest of the current batch. */
  takeAll(): readonly T[];
}

function batchReader<T>(batches: Batches<T>): BatchReader<T> {
  const source =
    Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
  let batch: readonly T[] = [];
  let at = 0;
  return {
    async fill() {
      while (at >= batch.length) {
        const step = await source.next();
        if (step.done) return false;
        batch = step.value;
        at = 0;
      }
      return true;
    },
    peek: () => batch[at],
    advance() {
      at += 1;
      return batch[at];
    },
    takeAll() {
      const rest = at === 0 ? batch : batch.slice(at);
      at = batch.length;
      return rest;
    },
    async [Symbol.asyncDispose]() {
      await source.return?.();
    },
  };
}
