/**
 * Reads commits before a walk over all of the history comes to them. A commit names its parents alone, so the
 * walk would wait for one answer after the other. The listing of all commits says what there is to read.
 *
 * A commit is handed out once: a reader that asks again, because what came was damaged, gets it from the
 * store.
 */
import { Budget, type Permit } from '../../../base/budget.ts';
import { TaskSet } from '../../../base/task-set.ts';
import type { ListPage, ObjectBytes, ObjectStore, RemoteKey } from '../../../remotes/object-store.ts';
import { STORED_DOCUMENT_MAX_BYTES } from '../../../repository/document.ts';
import { COMMITS_PREFIX } from '../../../repository/keys.ts';
import type { WalkTools } from './find-commits.ts';

/** A walk reads so many by itself, so a short history needs no listing. */
const READ_ALONE = 4;
/** Of commits that the walk has not come to yet. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;
/** The clock of the store, and those of the writers. */
const CLOCKS_DIFFER_MS = 3_600_000;

export interface CommitsAhead extends AsyncDisposable {
  /** The store of the walk. It must not be used after the disposal. */
  readonly store: ObjectStore;
}

interface Held {
  /** Undefined if it cannot be read. */
  readonly reading: Promise<ObjectBytes | undefined>;
  readonly permit: Permit;
}

/**
 * @param sinceMs The walk ends at a commit of this time. Those stored long before are not read ahead.
 */
export function readCommitsAhead(tools: WalkTools, sinceMs = 0): CommitsAhead {
  const ahead = new Ahead(tools, sinceMs - CLOCKS_DIFFER_MS);
  return {
    store: {
      ...tools.store,
      read: (key, options) =>
        key.startsWith(COMMITS_PREFIX) ? ahead.read(key, options) : tools.store.read(key, options),
    },
    [Symbol.asyncDispose]: () => ahead.end(),
  };
}

class Ahead {
  readonly #tools: WalkTools;
  readonly #sinceMs: number;
  readonly #tasks: TaskSet;
  readonly #room = new Budget(HELD_BYTES_MAX);
  readonly #held = new Map<RemoteKey, Held>();
  readonly #asked = new Set<RemoteKey>();

  constructor(tools: WalkTools, sinceMs: number) {
    this.#tools = tools;
    this.#sinceMs = sinceMs;
    this.#tasks = new TaskSet(tools.context.signal);
  }

  async read(key: RemoteKey, options: Parameters<ObjectStore['read']>[1]): Promise<ObjectBytes | undefined> {
    const held = this.#held.get(key);
    this.#held.delete(key);
    this.#asked.add(key);
    if (this.#asked.size === READ_ALONE) this.#tasks.spawn(() => this.#readAll());
    const read = await held?.reading;
    held?.permit.release();
    return read ?? this.#tools.store.read(key, options);
  }

  async end(): Promise<void> {
    this.#tasks.end();
    // Only the walk's own reads may fail.
    await this.#tasks.settle().catch(() => {});
  }

  async #readAll(): Promise<void> {
    const { limit, store } = this.#tools;
    const { signal } = this.#tasks;
    let page: ListPage | undefined;
    do {
      const from = page?.continuation === undefined ? {} : { continuation: page.continuation };
      page = await limit.run(() => store.list({ prefix: COMMITS_PREFIX, ...from }, { signal }), {
        bytes: 0,
        signal,
      });
      for (const { key, modifiedMs, sizeBytes } of page.objects) {
        if (modifiedMs < this.#sinceMs || this.#asked.has(key)) continue;
        const permit = await this.#room.acquire(sizeBytes, signal);
        this.#tasks.spawn(() => this.#hold(key, permit));
      }
    } while (page.continuation !== undefined);
  }

  async #hold(key: RemoteKey, permit: Permit): Promise<void> {
    const { limit, store } = this.#tools;
    const { signal } = this.#tasks;
    const read = (): Promise<unknown> => {
      if (this.#asked.has(key)) return Promise.resolve(permit.release());
      const call = { maxBytes: STORED_DOCUMENT_MAX_BYTES, signal };
      const reading = store.read(key, call).catch(() => undefined);
      // Only now: a walk that waits for a read of its own takes the place of one that has not begun.
      this.#held.set(key, { reading, permit });
      return reading;
    };
    await limit.run(read, { bytes: 0, signal });
  }
}
