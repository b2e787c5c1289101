/** A part of the work of a copy, sync or check, when several workers share it (`../fleet/README.md`). */
import type { DrayError } from '../../api/error.ts';
import type { TransferSummary } from '../../api/jobs/trees.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { MatchedBatch } from '../../query/trees/merge-trees.ts';
import type { KeyRange } from '../../remotes/wrappers/within-range.ts';

export interface TreePart {
  /** Both sides are listed in this range only, and an empty source is no mistake. */
  readonly range: KeyRange;
  /** Items of the source that others move. They are no extras at the destination either. */
  readonly leavesOut: ReadonlySet<string>;
  /** For a sync: whether to delete, or only to count what it would delete. */
  readonly deletes: 'count' | 'carryOut';
}

export interface PartOutcome {
  readonly summary: TransferSummary;
  readonly destinationFiles: number;
  readonly extras: ExtraCounts;
  /** Items that cannot be written until what is in their way has been deleted. */
  readonly waiting: number;
  /** Why nothing was deleted. */
  readonly refused?: DrayError;
}

export interface ExtraCounts {
  files: number;
  repositories: number;
}

/** Counts what a sync would delete, and deletes nothing. */
export function countDeletes(
  counts: ExtraCounts,
  isProtected: (path: string) => boolean,
): { add(extra: TreeItem): void; carryOut(): Promise<void> } {
  return {
    add({ path }) {
      counts.files += 1;
      if (isProtected(path)) counts.repositories += 1;
    },
    carryOut: async () => {},
  };
}

export async function* withoutLeftOut(
  batches: AsyncIterable<MatchedBatch>,
  leavesOut: ReadonlySet<string>,
): AsyncGenerator<MatchedBatch> {
  for await (const { extras, pairs } of batches)
    yield { pairs: pairs.filter(({ source }) => !leavesOut.has(source.path)), extras };
}
