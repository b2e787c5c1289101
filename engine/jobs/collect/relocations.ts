/**
 * What the mark must know of packs that were written anew. In memory: 12 bytes for each blob that moved, and
 * 8 more for one whose relocation has no digest.
 *
 * The rules, which keep a blob that moved from being lost:
 * - What is live in an old pack is live in the new one, whatever else holds.
 * - An old pack is needed no more for a blob only if the new pack is there, and neither the new pack nor the
 *   relocation was ever a candidate of a collection. Otherwise somebody may have removed it, or may yet do so
 *   by a late request.
 * - A relocation that cannot be read, or that contradicts its digest or the index of its new pack, ends the
 *   mark if an entry names a blob of its pack.
 */
import type { DrayError } from '../../api/error.ts';
import { isDamage, readChecked } from '../../base/read-checked.ts';
import { firstNumberWhere } from '../../base/sorted-search.ts';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import type { ListPage, RemoteKey } from '../../remotes/object-store.ts';
import { avoidValueOf, decodeAvoidList, hasValue } from '../../repository/collection/avoid-list.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import { damaged } from '../../repository/document.ts';
import { packFromRelocationKey, packKey, RELOCATIONS_PREFIX, relocationKey } from '../../repository/keys.ts';
import { readMovedBlobs } from '../../repository/packs/moved-blobs.ts';
import {
  alteredRelocation,
  readRelocation,
  type StoredRelocation,
} from '../../repository/packs/relocation.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { isFinding } from '../history/verify/findings.ts';

/** Of a blob's hash, as many as a number holds exactly. */
const BLOB_DIGITS = 12;

interface Moved {
  readonly packs: readonly PackHash[];
  /** Of each move: the old offset, ascending; the index of the new pack; the new offset. */
  readonly offsets: Uint32Array;
  readonly indexes: Uint32Array;
  readonly to: Uint32Array;
  /**
   * Of a relocation without a digest, the beginning of the hash of the blob at each new place. Undefined if
   * the index of a new pack cannot be read.
   */
  readonly blobs: Float64Array | 'intact' | undefined;
  /** Neither the relocation nor a new pack was ever a candidate, and all new packs are there. */
  isSafe: boolean;
}

export class Relocations {
  readonly #moved = new Map<PackHash, Moved>();
  /** Why a relocation cannot be relied on. */
  readonly #damaged = new Map<PackHash, DrayError>();
  /** New packs that are on the store. */
  readonly #present = new Set<PackHash>();

  get isEmpty(): boolean {
    return this.#moved.size + this.#damaged.size === 0;
  }

  has(pack: PackHash): boolean {
    return this.#moved.has(pack) || this.#damaged.has(pack);
  }

  /** Whether the old pack is needed no more for what has moved. */
  isSafe(pack: PackHash): boolean {
    return this.#moved.get(pack)?.isSafe === true;
  }

  /** The packs that have the blobs of the old pack now. */
  newPacks(pack: PackHash): readonly PackHash[] {
    return this.#moved.get(pack)?.packs ?? [];
  }

  /** @param blob Which an entry expects there. @throws `damaged` naming the relocation */
  find(
    pack: PackHash,
    offset: number,
    blob: BlobHash,
  ): { readonly pack: PackHash; readonly offset: number } | undefined {
    const damage = this.#damaged.get(pack);
    if (damage) throw damage;
    const moved = this.#moved.get(pack);
    if (!moved) return undefined;
    const { blobs, indexes, offsets, packs, to } = moved;
    const at = firstNumberWhere(0, offsets.length, (index) => offsets[index]! >= offset);
    if (offsets[at] !== offset) return undefined;
    if (typeof blobs === 'object' && blobs[at] !== startOf(blob)) {
      const why = `it says that the blob ${blob} is where its new pack has another one`;
      throw damaged(relocationKey(pack), why);
    }
    return { pack: packs[indexes[at]!]!, offset: to[at]! };
  }

  /**
   * Reads those that are new, and which packs they let go: a HEAD for each new pack, and if there is any, the
   * avoid lists.
   * @param avoid The lists of the round. @throws `formatTooNew`
   */
  async load(tools: WalkTools, avoid: readonly string[]): Promise<void> {
    await this.read(tools);
    if (this.#moved.size > 0) await this.#judge(tools, avoid);
  }

  /**
   * One LIST, and for each new one a GET; for one without a digest also the indexes of its new packs.
   * @throws `formatTooNew`
   */
  async read(tools: WalkTools): Promise<void> {
    const { signal } = tools.context;
    const fresh: PackHash[] = [];
    let page: ListPage | undefined;
    do {
      const from = page?.continuation === undefined ? {} : { continuation: page.continuation };
      page = await tools.store.list({ prefix: RELOCATIONS_PREFIX, ...from }, { signal });
      for (const { key } of page.objects) {
        const pack = packFromRelocationKey(key);
        if (pack !== undefined && !this.has(pack)) fresh.push(pack);
      }
    } while (page.continuation !== undefined);
    await Promise.all(fresh.map((pack) => this.#readOne(tools, pack)));
  }

  async #readOne(tools: WalkTools, pack: PackHash): Promise<void> {
    const { context, limit } = tools;
    const run = <T>(task: () => Promise<T>) => limit.run(task, { bytes: 0, signal: context.signal });
    try {
      const read = await run(() => readUnaltered(tools, pack));
      // Another collection has removed it, because nothing needs it.
      if (!read) return;
      const packs = [...new Set(read.moves.map((move) => move.pack))];
      const indexes = new Map(packs.map((target, index) => [target, index]));
      this.#moved.set(pack, {
        packs,
        offsets: Uint32Array.from(read.moves, ({ offset }) => offset),
        indexes: Uint32Array.from(read.moves, (move) => indexes.get(move.pack)!),
        to: Uint32Array.from(read.moves, ({ to }) => to),
        blobs: await run(() => blobsOf(tools, read)),
        isSafe: false,
      });
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#damaged.set(pack, error);
    }
  }

  async #judge({ context, limit, store }: WalkTools, avoid: readonly string[]): Promise<void> {
    const { signal } = context;
    const targets = [...new Set([...this.#moved.values()].flatMap(({ packs }) => packs))];
    const keys = [...targets.map(packKey), ...[...this.#moved.keys()].map(relocationKey)];
    const condemned = new Set<RemoteKey>();
    for (const name of avoid) {
      // One list at a time: together they may take more memory than the mark.
      const values = decodeAvoidList(name, await readList(store, name, { signal }));
      for (const key of keys) if (hasValue(values, avoidValueOf(key))) condemned.add(key);
    }
    const asked = targets.filter((pack) => !this.#present.has(pack) && !condemned.has(packKey(pack)));
    await Promise.all(
      asked.map(async (pack) => {
        const head = () => store.head(packKey(pack), { signal });
        if (await limit.run(head, { bytes: 0, signal })) this.#present.add(pack);
      }),
    );
    const isKept = (pack: PackHash) => this.#present.has(pack) && !condemned.has(packKey(pack));
    for (const [old, moved] of this.#moved)
      moved.isSafe =
        moved.blobs !== undefined && !condemned.has(relocationKey(old)) && moved.packs.every(isKept);
  }
}

/** Damage in transit does not repeat. @throws `damaged` */
async function readUnaltered(
  { context: { signal }, store }: WalkTools,
  pack: PackHash,
): Promise<StoredRelocation | undefined> {
  return readChecked(
    async () => {
      // The check takes the failure, so that it is repeated as well.
      const read = await readRelocation(store, pack, { signal }).catch((error: unknown) => ({ error }));
      return read;
    },
    (read) => {
      if ('error' in read) throw read.error;
      if (read.proof === 'altered') throw alteredRelocation(pack);
      return read;
    },
  );
}

async function blobsOf(
  { context: { signal }, store }: WalkTools,
  relocation: StoredRelocation,
): Promise<Moved['blobs']> {
  // What authenticates is as it was written.
  if (relocation.proof === 'intact' || store.sealing) return 'intact';
  try {
    return Float64Array.from(await readMovedBlobs(store, relocation, { signal }), startOf);
  } catch (error) {
    // The new pack is missing or damaged, so nobody may rely on it.
    if (isFinding(error) && error.data.key !== relocationKey(relocation.pack)) return undefined;
    throw error;
  }
}

function startOf(blob: BlobHash): number {
  return Number.parseInt(blob.slice(0, BLOB_DIGITS), 16);
}
