/**
 * What differs between two sorted lists. Everything here is a merge of two streams in `comparePaths` order, so two
 * datasets of any size are compared in the memory of two batches.
 */
import { comparePaths } from './entry.ts';

/** A path that is on one side only (the other is undefined), or on both and not the same. */
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
 * @param left In strictly ascending order of path, as `right`; they may be of different types.
 * @param isSame Asked for paths on both sides. Pairs for which it holds are not handed out; `() => false` hands out all.
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
 * The same over batches, such as a scan's and a manifest's, either of which may come asynchronously. Hands out the
 * differences of each stretch that both sides have reached, so a batch is never larger than what came in; never empty.
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

/** Goes on until one side's batch is used up: what follows on that side may sort before the other's next. */
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

/** Closes the source also when the reader stops half-way. */
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
  /** Fetches batches until there is an item to peek at. False at the end. */
  fill(): Promise<boolean>;
  /** The item that is next in the batch at hand; undefined when the batch is used up. */
  peek(): T | undefined;
  /** Drops that item and peeks at the one after it. */
  advance(): T | undefined;
  /** The rest of the batch at hand. */
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
