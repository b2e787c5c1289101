/**
 * What the mark must know of packs that were written anew. In memory: 12 bytes for each blob that moved.
 *
 * The rules, which keep a blob that moved from being lost:
 * - What is live in an old pack is live in the new one, whatever else holds.
 * - An old pack is needed no more for a blob only if the new pack is there, and neither the new pack nor the
 *   relocation was ever a candidate of a collection. Otherwise somebody may have removed it, or may yet do so
 *   by a late request.
 * - A relocation that cannot be read ends the mark.
 */
import { firstNumberWhere } from '../../base/sorted-search.ts';
import type { PackHash } from '../../model/entry.ts';
import type { ListPage, RemoteKey } from '../../remotes/object-store.ts';
import { avoidValueOf, decodeAvoidList, hasValue } from '../../repository/collection/avoid-list.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import { packFromRelocationKey, packKey, RELOCATIONS_PREFIX, relocationKey } from '../../repository/keys.ts';
import { readRelocation } from '../../repository/packs/relocation.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';

interface Moved {
  readonly packs: readonly PackHash[];
  /** Of each move: the old offset, ascending; the index of the new pack; the new offset. */
  readonly offsets: Uint32Array;
  readonly indexes: Uint32Array;
  readonly to: Uint32Array;
  /** Neither the relocation nor a new pack was ever a candidate, and all new packs are there. */
  isSafe: boolean;
}

export class Relocations {
  readonly #moved = new Map<PackHash, Moved>();
  /** New packs that are on the store. */
  readonly #present = new Set<PackHash>();

  has(pack: PackHash): boolean {
    return this.#moved.has(pack);
  }

  /** Whether the old pack is needed no more for what has moved. */
  isSafe(pack: PackHash): boolean {
    return this.#moved.get(pack)?.isSafe === true;
  }

  find(pack: PackHash, offset: number): { readonly pack: PackHash; readonly offset: number } | undefined {
    const moved = this.#moved.get(pack);
    if (!moved) return undefined;
    const { indexes, offsets, packs, to } = moved;
    const at = firstNumberWhere(0, offsets.length, (index) => offsets[index]! >= offset);
    return offsets[at] === offset ? { pack: packs[indexes[at]!]!, offset: to[at]! } : undefined;
  }

  /**
   * Reads the relocations that are new. One LIST, and for each new one a GET and a HEAD; if there is any,
   * also the avoid lists.
   * @param avoid The lists of the round. @throws `damaged`, `formatTooNew`
   */
  async load(tools: WalkTools, avoid: readonly string[]): Promise<void> {
    const { signal } = tools.context;
    const fresh: PackHash[] = [];
    let page: ListPage | undefined;
    do {
      const from = page?.continuation === undefined ? {} : { continuation: page.continuation };
      page = await tools.store.list({ prefix: RELOCATIONS_PREFIX, ...from }, { signal });
      for (const { key } of page.objects) {
        const pack = packFromRelocationKey(key);
        if (pack !== undefined && !this.#moved.has(pack)) fresh.push(pack);
      }
    } while (page.continuation !== undefined);
    await Promise.all(fresh.map((pack) => this.#read(tools, pack)));
    if (this.#moved.size > 0) await this.#judge(tools, avoid);
  }

  async #read({ context, limit, store }: WalkTools, pack: PackHash): Promise<void> {
    const { signal } = context;
    const read = await limit.run(() => readRelocation(store, pack, { signal }), { bytes: 0, signal });
    // Another collection has removed it, because nothing needs it.
    if (!read) return;
    const packs = [...new Set(read.moves.map((move) => move.pack))];
    const indexes = new Map(packs.map((target, index) => [target, index]));
    this.#moved.set(pack, {
      packs,
      offsets: Uint32Array.from(read.moves, ({ offset }) => offset),
      indexes: Uint32Array.from(read.moves, (move) => indexes.get(move.pack)!),
      to: Uint32Array.from(read.moves, ({ to }) => to),
      isSafe: false,
    });
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
      moved.isSafe = !condemned.has(relocationKey(old)) && moved.packs.every(isKept);
  }
}
