/**
 * Whether the packs that replace an old one have their content. An old pack whose relocation was written by a
 * collection that then ended early is still there: before it is condemned, its new packs are read. The pack
 * may be the only one that is whole.
 */
import { createHash } from 'node:crypto';
import { isDamage } from '../../base/read-checked.ts';
import type { PackHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { packKey } from '../../repository/keys.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import type { Mark } from './mark.ts';

/**
 * Of a key that the mark does not need: false if it is a pack whose new packs are not whole, which the mark
 * then keeps. Reads each new pack once; none for any other key.
 */
export function createReplacedCheck(
  tools: WalkTools,
  mark: Pick<Mark, 'keep' | 'replacementsOf'>,
): (key: RemoteKey) => Promise<boolean> {
  const whole = new Map<PackHash, Promise<boolean>>();
  return async (key) => {
    for (const pack of mark.replacementsOf(key) ?? []) {
      const check = whole.get(pack) ?? isWhole(tools, pack);
      whole.set(pack, check);
      if (await check) continue;
      mark.keep(key);
      return false;
    }
    return true;
  };
}

async function isWhole({ context: { signal }, limit, store }: WalkTools, pack: PackHash): Promise<boolean> {
  const hashPack = async () => {
    const read = await store.get(packKey(pack), { signal });
    if (!read) return undefined;
    const hash = createHash('sha256');
    for await (const piece of read.body) hash.update(piece as Uint8Array);
    return hash.digest('hex');
  };
  try {
    return (await limit.run(hashPack, { bytes: 0, signal })) === pack;
  } catch (error) {
    // The store of an encrypted repository finds the damage itself.
    if (!isDamage(error)) throw error;
    return false;
  }
}
