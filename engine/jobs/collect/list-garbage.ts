/** Lists the store once, against what a mark needs. */
import { createHeapBound } from '../../base/heap-bound.ts';
import type { ListedObject, RemoteKey } from '../../remotes/object-store.ts';
import { isContentKey } from '../../repository/keys.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { listContent } from './list-content.ts';
import type { Mark } from './mark.ts';
import { createReplacedCheck } from './replaced-packs.ts';
import { isOfPacks, type StrandedPacks } from './stranded-packs.ts';
import { createTally, type GrowingTally, type Tally } from './tally.ts';

export interface GarbageListing {
  readonly mark: Mark;
  readonly stranded: StrandedPacks;
  /** Objects that were changed later are young. */
  readonly youngMs: number;
  /** Called once for each object that is listed. */
  readonly onListed: (sizeBytes: number) => void;
  /** Takes what nothing needs and is not young. The listing waits for it. */
  readonly onGarbage: (keys: readonly RemoteKey[]) => Promise<void> | void;
}

export interface ListedGarbage {
  readonly listed: Tally;
  readonly garbage: GrowingTally;
  readonly young: Tally;
  /** Packs and relocations that nothing needs, held back because packs are stranded. */
  readonly held: readonly ListedObject[];
}

/** @throws `damaged` if a pack is missing that is needed: nobody may remove what was given until then */
export async function listGarbage(
  tools: WalkTools,
  { mark, onGarbage, onListed, stranded, youngMs }: GarbageListing,
): Promise<ListedGarbage> {
  const { context, limit, store } = tools;
  const [listed, garbage, young] = [createTally(), createTally(), createTally()];
  const replaced: ListedObject[] = [];
  const held: ListedObject[] = [];
  const isHolding = async () => (await stranded.find()).size > 0;
  const heap = createHeapBound();
  await listContent({
    store,
    limit,
    signal: context.signal,
    onPage: async (objects) => {
      heap.check();
      const unneeded: RemoteKey[] = [];
      for (const object of objects) {
        const { key, modifiedMs, sizeBytes } = object;
        if (!isContentKey(key)) continue;
        mark.noteThere(key);
        listed.add(sizeBytes);
        onListed(sizeBytes);
        const isYoung = modifiedMs > youngMs;
        if (mark.needs(key)) {
          if (!isYoung) mark.noteListed(key, sizeBytes);
        } else if (isYoung) young.add(sizeBytes);
        else if (mark.replacementsOf(key)) replaced.push(object);
        else if (isOfPacks(key) && (await isHolding())) held.push(object);
        else {
          garbage.add(sizeBytes);
          unneeded.push(key);
        }
      }
      await onGarbage(unneeded);
    },
  });
  await mark.requirePacks();
  const isReplaced = createReplacedCheck(tools, mark);
  for (const object of replaced) {
    const { key, sizeBytes } = object;
    if (!(await isReplaced(key))) continue;
    if (await isHolding()) held.push(object);
    else {
      garbage.add(sizeBytes);
      await onGarbage([key]);
    }
  }
  return { listed, garbage, young, held };
}
