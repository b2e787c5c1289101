/**
 * What a writer must know of the collection of garbage: its last round, and the keys that new content must
 * not have. Before the first round it costs no request and avoids nothing.
 */
import { isDamage } from '../../base/read-checked.ts';
import type { BlobHash, StoredBlob } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { objectKey } from '../keys.ts';
import type { KeysToAvoid } from '../manifest/segment.ts';
import { avoidValueOf, decodeAvoidList, hasValue } from './avoid-list.ts';
import { type ReadStateOptions, readCollectionState } from './collection-state.ts';
import { readList } from './stored-list.ts';

/** Keeps the lists between runs. */
export interface KnownCollection {
  readonly round: number;
  /** The uncompressed avoid lists by their names. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
}

export interface CollectionView extends KeysToAvoid {
  /**
   * Reads the state, and the lists that are new. One request, and one for each new list.
   * @returns Whether there was another round since.
   */
  refresh(): Promise<boolean>;
}

/** How a new object is stored: under its hash, or a later generation where that is condemned. */
export function newObject(keys: KeysToAvoid | undefined, hash: BlobHash): Pick<StoredBlob, 'generation'> {
  return keys?.avoids(objectKey(hash)) ? { generation: keys.round } : {};
}

export function newObjectKey(keys: KeysToAvoid | undefined, hash: BlobHash): RemoteKey {
  return objectKey(hash, newObject(keys, hash).generation);
}

export interface ViewOptions extends ReadStateOptions {
  readonly known?: KnownCollection;
  /** Called after each new round, before `refresh` returns. */
  readonly onRound?: (known: KnownCollection, view: KeysToAvoid) => void;
}

const NO_COLLECTION: KnownCollection = { round: 0, lists: new Map() };

export function createCollectionView(
  store: ObjectStore,
  { known = NO_COLLECTION, onRound, ...call }: ViewOptions = {},
): CollectionView {
  let current = known;
  let values: readonly Float64Array[] | undefined;
  const view = {
    get round() {
      return current.round;
    },
    avoids: (key: RemoteKey) => {
      if (current.lists.size === 0) return false;
      values ??= [...current.lists].map(([name, raw]) => decodeAvoidList(name, raw));
      const value = avoidValueOf(key);
      return values.some((list) => hasValue(list, value));
    },
    refresh: async () => {
      const next = await readKnown(store, current, call);
      if (next.round === current.round) return false;
      current = next;
      values = undefined;
      onRound?.(current, view);
      return true;
    },
  };
  return view;
}

async function readKnown(
  store: ObjectStore,
  before: KnownCollection,
  { repository, ...call }: ReadStateOptions,
): Promise<KnownCollection> {
  for (let etag: string | undefined; ; ) {
    const read = await readCollectionState(store, { repository, ...call });
    if (!read) return NO_COLLECTION;
    const { avoid, round } = read.state;
    if (round === before.round) return before;
    try {
      const lists = await Promise.all(
        avoid.map(async (name) => before.lists.get(name) ?? (await readList(store, name, call))),
      );
      return { round, lists: new Map(avoid.map((name, at) => [name, lists[at]!])) };
    } catch (error) {
      // A later round may have joined small lists to a large one since the state was read.
      if (!isDamage(error) || etag === read.etag) throw error;
      etag = read.etag;
    }
  }
}
