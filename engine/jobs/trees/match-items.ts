/** Pairs the items of the source with those of the same names at the destination, in the cheapest way. */

import { DrayError } from '../../api/error.ts';
import { LINK_SUFFIX, localPlaceKind, statLocal, statLocalFolder } from '../../files/scan/local-place.ts';
import type { NotKept } from '../../files/scan/local-tree.ts';
import { scanLocalTree } from '../../files/scan/local-tree.ts';
import type { PairSide } from '../../index/object-times.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { type MatchedBatch, mergeTrees } from '../../query/trees/merge-trees.ts';
import { listTreeItems } from '../../query/trees/object-pages.ts';
import type { TimesMemory } from '../../query/trees/read-times.ts';
import { type LookupTally, lookUpDestination, lookUpLocal } from '../../query/trees/tree-lookup.ts';
import { failItem, reportFailure, type TreeRun } from './copy-run.ts';
import { withinBounds } from './filter-bounds.ts';
import { isObjectStore, type LocalSide, type RemoteSide } from './sides.ts';
import { canTravel, itemsOf, sortedItems, specialItems } from './source-items.ts';
import { withoutLeftOut } from './tree-part.ts';

export interface MatchOptions {
  /** Set when the source is a single file or object. */
  readonly only: TreeItem | undefined;
  readonly lookup: LookupTally;
  /** Listings go through a sort on disk first, because the store lists in no order. */
  readonly isSorted: boolean;
}

export function matchTrees(run: TreeRun, options: MatchOptions): AsyncIterable<MatchedBatch> {
  const batches = matchAll(run, options);
  return run.part ? withoutLeftOut(batches, run.part.leavesOut) : batches;
}

function matchAll(run: TreeRun, options: MatchOptions): AsyncIterable<MatchedBatch> {
  // A sync of a single file leaves the files beside it alone.
  if (options.only) return lookUp(run, { ...options, source: single(options.only), wantExtras: false });
  if (!run.isSync) {
    const source = sourceItems(run, options, run.filter);
    if (run.request.noCheckDestination) return withoutLook(source, options.lookup);
    return lookUp(run, { ...options, source, wantExtras: false });
  }
  // Bounds of size are applied once both sides are known: a file that has outgrown one still exists at the
  // source.
  const source = sourceItems(run, options, run.names);
  return asSyncSees(run, lookUp(run, { ...options, source, wantExtras: true }));
}

interface LookUpOptions extends Omit<MatchOptions, 'only'> {
  readonly source: AsyncIterable<readonly TreeItem[]>;
  readonly wantExtras: boolean;
}

function lookUp(run: TreeRun, options: LookUpOptions): AsyncIterable<MatchedBatch> {
  const { destination } = run;
  if (destination.kind === 'local') return matchLocal(run, destination, options);
  const { isSorted, lookup: tally, source, wantExtras } = options;
  if (destination.special) return besideEntries(run, destination, source, tally);
  if (isSorted) return mergeTrees(source, sortedListing(run, destination));
  const { limit, store } = destination;
  return lookUpDestination({ source, store, limit, wantExtras, signal: run.tasks.signal, tally });
}

async function* asSyncSees(run: TreeRun, batches: AsyncIterable<MatchedBatch>): AsyncGenerator<MatchedBatch> {
  const { destination, filter, source, tasks } = run;
  const options = {
    ...{ filter, source, destination, signal: tasks.signal },
    onFailed: (path: string, error: unknown) => failItem(run, path, error),
    memoryOf: (side: PairSide) => timesMemory(run, side),
  };
  for await (const { extras, pairs } of batches)
    yield withinBounds({ pairs, extras: extras.filter(canTravel) }, options);
}

/**
 * The memory may prevent a deletion but never cause one. versitygw can change an object's time without a
 * trace in the listing, so the time of an object to be deleted is requested again.
 */
function timesMemory({ counts, filter, knowledge }: TreeRun, side: PairSide): TimesMemory {
  return {
    recall(item) {
      const known = knowledge.recallTime(side, item);
      if (!known || (side === 'destination' && filter.includes(known))) return undefined;
      counts.timesRemembered += 1;
      return known;
    },
    note: (items) => knowledge.noteTimes(side, items),
    asked: () => {
      counts.timesAsked += 1;
    },
  };
}

/** One request lists all of a peer's folder, while the local folder is walked. */
function besideEntries(
  run: TreeRun,
  side: RemoteSide,
  source: AsyncIterable<readonly TreeItem[]>,
  lookup: LookupTally,
): AsyncIterable<MatchedBatch> {
  lookup.chosen = 'list';
  lookup.reason = 'The other machine listed its folder while this one was walked.';
  lookup.lists += 1;
  return mergeTrees(source, specialItems(side, run.tasks.signal));
}

async function* single(item: TreeItem): AsyncGenerator<readonly TreeItem[]> {
  yield [item];
}

function sourceItems(
  run: TreeRun,
  { isSorted }: MatchOptions,
  filter: TreeFilter,
): AsyncIterable<readonly TreeItem[]> {
  const { clock, counts, request, source, tasks } = run;
  const options = {
    filter,
    nowMs: clock.nowMs(),
    signal: tasks.signal,
    links: request.links ?? false,
    isUnordered: isSorted,
    onSkipped: (path: string, problem: { readonly message: string; readonly advice?: string }) => {
      counts.skippedFiles += 1;
      run.context.emit({ type: 'warning', warning: 'skippedSpecialFile', ...problem, path });
    },
    onFailed: (path: string, error: Parameters<typeof reportFailure>[2]) => reportFailure(run, path, error),
    onNotKept: (loss: NotKept) => noteNotKept(run, loss),
    memory: timesMemory(run, 'source'),
    keepsFolderNames: isObjectStore(run.destination),
    ...(run.isSync ? { onPart: run.parts.add } : {}),
  };
  const items = itemsOf(source, options);
  const isSpilled = isSorted && source.kind === 'remote' && !filter.paths;
  return isSpilled ? sortedItems(items, run.knowledge.index.sorter()) : items;
}

/** A folder keeps holes, as far as it can. */
function noteNotKept({ counts, destination }: TreeRun, loss: NotKept): void {
  if (loss === 'holes' && !isObjectStore(destination)) return;
  counts.notKept[loss] += 1;
}

async function* withoutLook(
  source: AsyncIterable<readonly TreeItem[]>,
  lookup: LookupTally,
): AsyncGenerator<MatchedBatch> {
  lookup.chosen = 'none';
  lookup.reason = 'The destination was not listed, as requested.';
  for await (const items of source) {
    yield { pairs: items.map((item) => ({ source: item, destination: undefined })), extras: [] };
  }
}

function matchLocal(
  run: TreeRun,
  side: LocalSide,
  { lookup: tally, source, wantExtras }: LookUpOptions,
): AsyncIterable<MatchedBatch> {
  const { clock, filter, request, tasks } = run;
  const isThere = localPlaceKind(side.root) === 'folder';
  const looks = { links: request.links ?? false, modes: run.source.kind === 'local' };
  const scan = () =>
    isThere
      ? scanLocalTree({
          root: side.root,
          enter: (folder) => filter.mayContain(folder),
          links: request.links ?? false,
          ...(side.special ? { special: true } : {}),
          ...(side.folders ? { folders: true } : {}),
          nowMs: clock.nowMs(),
          signal: tasks.signal,
          // An unreadable item of the destination matters only if the copy writes there.
          onProblem: () => {},
        })
      : nothing();
  if (side.special) return mergeTrees(source, scan());
  return lookUpLocal({
    source,
    statLocal: (path) => (isThere ? statItem(side, path, looks) : undefined),
    scan,
    wantExtras,
    tally,
  });
}

/**
 * The file, or with `links` the link, at the item's path. An error here is reported when the file is written.
 */
function statItem(
  side: LocalSide,
  path: string,
  { links, modes }: { readonly links: boolean; readonly modes: boolean },
): TreeItem | undefined {
  if (path === '' || path.endsWith('/')) return statLocalFolder(side.root, path);
  const isLink = links && path.endsWith(LINK_SUFFIX);
  try {
    const found = statLocal(side.root, side.pathOf(path), { links: isLink, modes });
    return typeof found === 'object' ? { ...found, path } : undefined;
  } catch (error) {
    if (error instanceof DrayError && error.code === 'io') return undefined;
    throw error;
  }
}

async function* nothing(): AsyncGenerator<readonly TreeItem[]> {}

function sortedListing(run: TreeRun, side: RemoteSide): AsyncIterable<readonly TreeItem[]> {
  const { store, limit } = side;
  const items = listTreeItems({ store, limit, signal: run.tasks.signal, isUnordered: true });
  return sortedItems(items, run.knowledge.index.sorter());
}
