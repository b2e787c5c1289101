/**
 * Applies a filter's bounds of size and age where both sides are known: a pair is judged by its source, an
 * extra by itself.
 */
import type { PairSide } from '../../index/object-times.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import { isHoldingFolder, type TreeItem } from '../../model/tree-item.ts';
import type { MatchedBatch } from '../../query/trees/merge-trees.ts';
import { readTimes, type TimesMemory } from '../../query/trees/read-times.ts';
import type { TreeSide } from './sides.ts';

export interface BoundsOptions {
  readonly filter: TreeFilter;
  readonly source: TreeSide;
  readonly destination: TreeSide;
  readonly signal: AbortSignal;
  readonly onFailed: (path: string, error: unknown) => void;
  readonly memoryOf?: (side: PairSide) => TimesMemory;
}

export async function withinBounds(batch: MatchedBatch, options: BoundsOptions): Promise<MatchedBatch> {
  if (!options.filter.isBounded) return batch;
  const others = new Map(batch.pairs.map(({ destination, source }) => [source.path, destination]));
  const sources = await allowed(
    options,
    'source',
    batch.pairs.map(({ source }) => source),
  );
  const extras = await allowed(options, 'destination', batch.extras);
  return { pairs: sources.map((source) => ({ source, destination: others.get(source.path) })), extras };
}

async function allowed(
  { filter, memoryOf, onFailed, signal, ...sides }: BoundsOptions,
  which: PairSide,
  items: readonly TreeItem[],
): Promise<readonly TreeItem[]> {
  const side = sides[which];
  const timed =
    side.kind === 'local'
      ? items
      : await readTimes(items, {
          filter,
          store: side.store,
          limit: side.limit,
          signal,
          onFailed,
          memory: memoryOf?.(which),
        });
  return timed.filter((item) => isHoldingFolder(item) || filter.includes(item));
}
