/** Writes a round's candidates to the store while they are found, and the list of what writers must avoid. */
import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import {
  avoidValueOf,
  decodeAvoidList,
  encodeAvoidList,
  mergeAvoidLists,
} from '../../repository/collection/avoid-list.ts';
import { encodeKeyList, KEY_LIST_KEYS_MAX, type KeyListHead } from '../../repository/collection/key-list.ts';
import { readList, writeList } from '../../repository/collection/stored-list.ts';
import { collectionListKey } from '../../repository/keys.ts';

/** Bounds the memory for the values of an avoid list that grows: 16 MB, and as much to sort them. */
const AVOID_VALUES_MAX = 2_000_000;
/** A list of so many bytes stays as it is. */
const AVOID_LIST_FULL_BYTES = 3 * AVOID_VALUES_MAX;
/** An older list that is at most so many times as large as the new one becomes a part of it. */
const JOINED_TIMES = 2;

type ListHead = Pick<KeyListHead, 'round' | 'run'>;

type OnList = (keys: readonly RemoteKey[]) => Promise<void> | void;

/** Key lists of at most 100,000 keys each, in byte order within a list. */
export class KeyLists {
  readonly names: string[] = [];
  readonly #store: ObjectStore;
  readonly #head: ListHead & Pick<KeyListHead, 'kind'>;
  readonly #call: CallOptions;
  readonly #onList: OnList;
  #keys: RemoteKey[] = [];
  #writing: Promise<void> = Promise.resolve();
  #parts = 0;
  #unwritten = 0;

  /** @param onList Called with the keys of each list that was written. */
  constructor(
    store: ObjectStore,
    head: ListHead & Pick<KeyListHead, 'kind'>,
    { onList = () => {}, ...call }: CallOptions & { readonly onList?: OnList } = {},
  ) {
    this.#store = store;
    this.#head = head;
    this.#call = call;
    this.#onList = onList;
  }

  /** Waits while a list is being written and another one is full, which bounds memory. */
  async add(keys: readonly RemoteKey[]): Promise<void> {
    if (this.#unwritten > 0) await this.#writing;
    for (const key of keys) {
      this.#keys.push(key);
      if (this.#keys.length === KEY_LIST_KEYS_MAX) this.#flush();
    }
  }

  async finish(): Promise<readonly string[]> {
    if (this.#keys.length > 0) this.#flush();
    await this.#writing;
    return this.names;
  }

  #flush(): void {
    const keys = this.#keys.sort();
    this.#keys = [];
    const part = this.#parts++;
    this.#unwritten += 1;
    this.#writing = this.#writing.then(async () => {
      const raw = encodeKeyList({ ...this.#head, part }, keys);
      this.names.push(await writeList(this.#store, raw, this.#call));
      await this.#onList(keys);
      this.#unwritten -= 1;
    });
    // Whoever waits for it next, at the latest `finish`, throws its failure.
    this.#writing.catch(() => {});
  }
}

/** The avoid lists of a round: those of earlier rounds, and new ones for its candidates. */
export class AvoidLists {
  readonly #store: ObjectStore;
  readonly #head: ListHead;
  readonly #call: CallOptions;
  readonly #full: string[] = [];
  #values: Float64Array[] = [];

  constructor(store: ObjectStore, head: ListHead, call: CallOptions) {
    this.#store = store;
    this.#head = head;
    this.#call = call;
  }

  async add(keys: readonly RemoteKey[]): Promise<void> {
    this.#values.push(Float64Array.from(keys, avoidValueOf));
    const count = this.#values.reduce((sum, { length }) => sum + length, 0);
    if (count < AVOID_VALUES_MAX) return;
    const raw = encodeAvoidList(this.#head, mergeAvoidLists(this.#values));
    this.#values = [];
    this.#full.push(await writeList(this.#store, raw, this.#call));
  }

  /**
   * Joins small lists, so that there are few: about as many as the binary digits of the number of rounds.
   * @param earlier The lists of the round before, the latest last.
   */
  async finish(earlier: readonly string[]): Promise<readonly string[]> {
    const kept = [...earlier];
    if (this.#values.length === 0) return [...this.#full, ...kept];
    let raw = encodeAvoidList(this.#head, mergeAvoidLists(this.#values));
    for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
      const info = await this.#store.head(collectionListKey(last), this.#call);
      if (!info || info.sizeBytes > Math.min(raw.length * JOINED_TIMES, AVOID_LIST_FULL_BYTES)) break;
      this.#values.push(decodeAvoidList(last, await readList(this.#store, last, this.#call)));
      raw = encodeAvoidList(this.#head, mergeAvoidLists(this.#values));
      kept.pop();
    }
    return [...this.#full, ...kept, await writeList(this.#store, raw, this.#call)];
  }
}
