/**
 * Old packs whose relocation is lost. A collection gave such a pack up because its blobs had moved, so a
 * late DELETE may remove it, although it is still there and entries name it. Its blobs are also in a new
 * pack, which may now look like garbage, or like a pack with unused blobs.
 *
 * So the collection replaces stranded packs first, and gives up no other pack and no relocation before all of
 * them have a relocation again.
 */
import type { PackHash } from '../../model/entry.ts';
import type { ListedObject, RemoteKey } from '../../remotes/object-store.ts';
import {
  avoidKeyOfMoved,
  avoidValueOf,
  decodeAvoidList,
  hasValue,
} from '../../repository/collection/avoid-list.ts';
import { readList } from '../../repository/collection/stored-list.ts';
import { hashFromPackKey, packFromRelocationKey } from '../../repository/keys.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import type { Mark } from './mark.ts';
import type { SparsePack } from './pack-use.ts';
import { repack } from './repack.ts';

export interface StrandedPacks {
  /** One GET for each avoid list, the first time. */
  find(): Promise<ReadonlySet<PackHash>>;
}

/** @param avoid The avoid lists of the round before. */
export function createStrandedPacks(
  tools: WalkTools,
  mark: Pick<Mark, 'unmovedPacks'>,
  avoid: readonly string[],
): StrandedPacks {
  let found: Promise<ReadonlySet<PackHash>> | undefined;
  return { find: () => (found ??= findStranded(tools, avoid.length > 0 ? mark.unmovedPacks() : [], avoid)) };
}

async function findStranded(
  { context: { signal }, store }: WalkTools,
  packs: readonly PackHash[],
  avoid: readonly string[],
): Promise<ReadonlySet<PackHash>> {
  const stranded = new Set<PackHash>();
  if (packs.length === 0) return stranded;
  const wanted = new Map(packs.map((pack) => [pack, avoidValueOf(avoidKeyOfMoved(pack))]));
  for (const name of avoid) {
    // One list at a time: together they may take more memory than the mark.
    const values = decodeAvoidList(name, await readList(store, name, { signal }));
    for (const [pack, value] of wanted) if (hasValue(values, value)) stranded.add(pack);
  }
  return stranded;
}

/** Whether the content of a stranded pack may depend on what lies under the key. */
export function isOfPacks(key: RemoteKey): boolean {
  return hashFromPackKey(key) !== undefined || packFromRelocationKey(key) !== undefined;
}

export interface PacksGivenUp {
  /** Packs whose blobs have moved. */
  readonly emptied: readonly SparsePack[];
  /** Packs and relocations that nothing needs. */
  readonly garbage: readonly ListedObject[];
}

export interface GiveUpOptions {
  readonly mark: Mark;
  readonly stranded: StrandedPacks;
  /** Packs and relocations that were held back because of stranded packs. */
  readonly held: readonly ListedObject[];
  readonly sparse: readonly SparsePack[];
  readonly packTarget: number;
  readonly dryRun: boolean;
}

/** Replaces packs, the stranded ones first. */
export async function giveUpPacks(
  tools: WalkTools,
  { dryRun, held, mark, packTarget, sparse, stranded }: GiveUpOptions,
): Promise<PacksGivenUp> {
  const replace = (packs: readonly SparsePack[]) =>
    dryRun ? packs : repack(tools, { mark, packTarget, sparse: packs });
  if (held.length + sparse.length === 0) return { emptied: [], garbage: [] };
  const first = await stranded.find();
  const moved = await replace(mark.listedPacks(first));
  // The pack that is left may be gone next, and a pack that was replaced may have its blobs.
  if (moved.length < first.size) return { emptied: [], garbage: [] };
  const others = await replace(sparse.filter(({ pack }) => !first.has(pack)));
  return { emptied: [...moved, ...others], garbage: held };
}
