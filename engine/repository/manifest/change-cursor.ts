/** Reads changes that arrive in batches one at a time. */
import assert from 'node:assert/strict';
import { comparePaths } from '../../model/entry.ts';
import type { EntryChange } from './manifest.ts';

type Batches = AsyncIterable<readonly EntryChange[]> | Iterable<readonly EntryChange[]>;
type BatchIterator = AsyncIterator<readonly EntryChange[]> | Iterator<readonly EntryChange[]>;

export class ChangeCursor {
  readonly #batches: BatchIterator;
  #batch: readonly EntryChange[] = [];
  #at = 0;
  #previous: string | undefined;
  #isDone = false;

  constructor(changes: Batches) {
    this.#batches =
      Symbol.asyncIterator in changes ? changes[Symbol.asyncIterator]() : changes[Symbol.iterator]();
  }

  /** Undefined at the end of a batch: `fill` then fetches the next one. */
  get current(): EntryChange | undefined {
    return this.#batch[this.#at];
  }

  /** The current batch, and the index of `current` in it. */
  get batch(): readonly EntryChange[] {
    return this.#batch;
  }
  get at(): number {
    return this.#at;
  }

  advance(): void {
    this.#previous = this.current?.path;
    this.#at += 1;
    this.#checkOrder();
  }

  /** Fetches the next batch when this one is used up. Undefined: there are no more changes. */
  async fill(): Promise<EntryChange | undefined> {
    while (this.current === undefined && !this.#isDone) {
      const next = await this.#batches.next();
      this.#isDone = next.done === true;
      this.#batch = next.done ? [] : next.value;
      this.#at = 0;
      this.#checkOrder();
    }
    return this.current;
  }

  /** Closes the source, which may not have been read to its end. */
  async close(): Promise<void> {
    if (!this.#isDone) await this.#batches.return?.();
  }

  #checkOrder(): void {
    const path = this.current?.path;
    if (path === undefined || this.#previous === undefined) return;
    assert(comparePaths(this.#previous, path) < 0, 'changes out of order');
  }
}
