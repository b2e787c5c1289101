/** Checks the relocations that entries need: those of packs that a collection has written anew. */
import type { Entry, FileEntry, PackHash } from '../../../model/entry.ts';
import { HOPS_MAX } from '../../../repository/packs/relocation.ts';
import { Relocations } from '../../collect/relocations.ts';
import type { WalkTools } from './find-commits.ts';
import { type FindingsReport, isFinding } from './findings.ts';

export interface MoveCheck {
  /** Reports each relocation once. */
  check(entries: readonly Entry[], findings: FindingsReport): void;
}

/** Undefined if nothing was written anew. One LIST, and a GET for each relocation. */
export async function readMoves(tools: WalkTools): Promise<MoveCheck | undefined> {
  const relocations = new Relocations();
  await relocations.read(tools);
  if (relocations.isEmpty) return undefined;
  const reported = new Set<unknown>();
  return {
    check(entries, findings) {
      for (const entry of entries) {
        if (entry.kind !== 'file' || entry.location.in !== 'pack') continue;
        try {
          follow(relocations, entry, entry.location);
        } catch (error) {
          if (!isFinding(error)) throw error;
          if (!reported.has(error.data.key)) findings.report(error);
          reported.add(error.data.key);
        }
      }
    },
  };
}

function follow(
  relocations: Relocations,
  { blob }: FileEntry,
  place: { readonly pack: PackHash; readonly offset: number },
): void {
  let at: typeof place | undefined = place;
  for (let hops = 0; at && hops < HOPS_MAX; hops += 1) at = relocations.find(at.pack, at.offset, blob);
}
