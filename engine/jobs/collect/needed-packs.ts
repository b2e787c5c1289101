/**
 * The packs in which the mark found blobs, and whether the store has them. A pack that is missing may have
 * been written anew, and its relocation may be lost: then its content lies in a pack that looks like garbage.
 * So nothing is condemned while a blob is in no pack that is there.
 *
 * Memory: about 100 bytes for each pack.
 */
import { DrayError } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { PackHash } from '../../model/entry.ts';
import { HEADS_PER_PAGE } from '../../query/existence/find-unseen.ts';
import { hashFromPackKey, PACKS_PREFIX, packKey, relocationKey } from '../../repository/keys.ts';
import { nameOnStore } from '../../repository/name-on-store.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';

export class NeededPacks {
  /** Whether the store has the pack. */
  readonly #packs = new Map<PackHash, boolean>();
  /** By their packs, those of blobs that moved: the first pack, and those to which its blobs went. */
  readonly #chains = new Map<string, readonly PackHash[]>();

  /** @param chain The pack that an entry names, and then those to which its blob moved. */
  note(chain: readonly PackHash[]): void {
    for (const pack of chain) if (!this.#packs.has(pack)) this.#packs.set(pack, false);
    const name = chain.join();
    if (!this.#chains.has(name)) this.#chains.set(name, chain);
  }

  /** Where blobs are now. */
  lastPacks(): ReadonlySet<PackHash> {
    return new Set([...this.#chains.values()].map((chain) => chain.at(-1)!));
  }

  noteListed(pack: PackHash): void {
    if (this.#packs.has(pack)) this.#packs.set(pack, true);
  }

  /**
   * Asks for the packs that were not listed: by a HEAD each, or by a listing if they are many. None if all
   * were.
   * @throws `damaged` if all packs are missing that a blob could be in
   */
  async require(tools: WalkTools): Promise<void> {
    if (this.#lost().length === 0) return;
    const { signal } = tools.context;
    if (this.#unseen().length > HEADS_PER_PAGE) await this.#list(tools);
    const { limit } = tools;
    await Promise.all(
      this.#unseen().map(async (pack) => {
        if (await limit.run(() => isThere(tools, pack), { bytes: 0, signal })) this.#packs.set(pack, true);
      }),
    );
    const [first, ...others] = this.#lost();
    if (first) throw lostContent(tools, first, others.length);
  }

  /** The chains of which no pack is known to be there. */
  #lost(): readonly (readonly PackHash[])[] {
    return [...this.#chains.values()].filter((chain) => !chain.some((pack) => this.#packs.get(pack)));
  }

  #unseen(): readonly PackHash[] {
    return [...new Set(this.#lost().flat())];
  }

  async #list({ context: { signal }, limit, store }: WalkTools): Promise<void> {
    for (let continuation: string | undefined; ; ) {
      const from = { prefix: PACKS_PREFIX, ...(continuation === undefined ? {} : { continuation }) };
      const page = await limit.run(() => store.list(from, { signal }), { bytes: 0, signal });
      for (const { key } of page.objects) {
        const pack = hashFromPackKey(key);
        if (pack !== undefined) this.noteListed(pack);
      }
      continuation = page.continuation;
      if (continuation === undefined) return;
    }
  }
}

/** Also if it is damaged, as the store of an encrypted repository says. */
async function isThere(
  { context: { signal }, store }: Pick<WalkTools, 'context' | 'store'>,
  pack: PackHash,
): Promise<boolean> {
  try {
    return (await store.head(packKey(pack), { signal })) !== undefined;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

function lostContent(
  { store }: Pick<WalkTools, 'store'>,
  chain: readonly PackHash[],
  others: number,
): DrayError {
  const last = chain.at(-1)!;
  const key = packKey(last);
  const relocation = nameOnStore(store, relocationKey(last));
  const why = `a commit needs it, and no ${relocation} says where its content is now`;
  const more = others === 0 ? '' : ` So are ${others} more.`;
  return new DrayError('damaged', `${nameOnStore(store, key)} is missing: ${why}.${more}`, { data: { key } });
}
