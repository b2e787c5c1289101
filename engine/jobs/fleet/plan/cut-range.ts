/**
 * Cuts a range into parts while it lists it. A part is two keys and some totals, not a list of files:
 * the worker lists the stretch again, which costs one request for 1,000 objects, and sees the objects as
 * they are then. The parts of a range follow each other without a gap, so every key belongs to exactly one.
 */
import type { CutPart, CutRequest, CutResult, FleetRequest, FleetWork } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { comparePaths } from '../../../model/entry.ts';
import { createTreeFilter, withoutBounds } from '../../../model/tree-filter.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { type MatchedBatch, mergeTrees } from '../../../query/trees/merge-trees.ts';
import { listTreeItems } from '../../../query/trees/object-pages.ts';
import type { KeyRange } from '../../../remotes/wrappers/within-range.ts';
import { openTreePair } from '../../trees/open-pair.ts';
import type { TreeSide } from '../../trees/sides.ts';
import { isSelectedItem } from '../../trees/source-items.ts';
import { type FleetFolder, withFleet } from '../fleet-folder.ts';
import { type FleetPart, knownPart, readPart, writePart } from '../fleet-part.ts';
import { LARGE_BYTES, PART_BYTES_MAX, PART_FILES_MAX } from '../fleet-sizes.ts';
import { createFolderSource, offeredFolder } from '../push/folder-source.ts';
import { boundsOf, listsBothSides, readRange } from './plan-ranges.ts';

/** The most large objects of a part, since its document names them. */
const LARGE_MAX = 1_000;
/** A part has at most this many keys for each of its files, because a worker lists all keys again. */
const KEYS_FOR_FILE_MAX = 10;
/** Entries of all workers together that are merged in memory. */
const MERGED_ENTRIES_MAX = 400_000;

/** Keeps the parts that an earlier call has written, and their bounds. */
export function cutRange(
  context: JobContext,
  work: FleetWork,
  { cutsMax, first, range }: CutRequest,
): Promise<CutResult> {
  return withFleet(context, work, async (folder, { request }) => {
    const written = await writtenParts(folder, { range, first, cutsMax });
    const before =
      written.at(-1) ?? (first > 0 ? await readPart(folder, { range, number: first - 1 }) : undefined);
    const isOver = before?.isLast ?? false;
    if (isOver || written.length >= cutsMax) return resultOf(written, isOver);
    // The plan of a verification has written all parts.
    if (request.kind === 'verify') await knownPart(folder, { range, number: first + written.length });
    const bounds = await readRange(folder, range);
    const after = before?.upTo ?? bounds.after;
    const parts = [...written];
    const items = request.workers ? folderItems(context, request, range) : pairItems(context, request);
    for await (const cut of cuts(items, request, boundsOf(after, bounds.upTo))) {
      const part = await writePart(folder, { ...cut, range, number: first + parts.length });
      parts.push(part);
      // Another worker has cut here before: its bounds hold, and the listing is at another key.
      if (part.upTo !== cut.upTo || parts.length >= cutsMax || part.isLast) break;
    }
    return resultOf(parts, parts.at(-1)?.isLast ?? false);
  });
}

async function writtenParts(
  folder: FleetFolder,
  { cutsMax, first, range }: CutRequest,
): Promise<FleetPart[]> {
  const parts: FleetPart[] = [];
  while (parts.length < cutsMax && !parts.at(-1)?.isLast) {
    const part = await readPart(folder, { range, number: first + parts.length });
    if (!part) break;
    parts.push(part);
  }
  return parts;
}

function resultOf(parts: readonly FleetPart[], isLast: boolean): CutResult {
  const partOf = ({ bytes, files, large }: FleetPart): CutPart => ({
    files,
    bytes,
    largeBytes: large.map(({ sizeBytes }) => sizeBytes),
  });
  return { parts: parts.map(partOf), isLast };
}

type Cut = Omit<FleetPart, 'range' | 'number'>;

/** The last part ends with the range, so that it includes later keys that only the destination has. */
async function* cuts(items: ItemsWithin, request: FleetRequest, range: KeyRange): AsyncGenerator<Cut> {
  const {
    kind,
    largeBytes = LARGE_BYTES,
    partBytesMax = PART_BYTES_MAX,
    partFilesMax = partFilesOf(request),
  } = request;
  // A check splits no object, and the cuts of a pushed object depend on the bytes before them.
  const hasPieces = kind === 'copy' || kind === 'sync';
  let counts = { keys: 0, items: 0, files: 0, bytes: 0, large: [] as FleetPart['large'][number][] };
  const cutAt = ({ after, upTo }: Pick<Cut, 'after' | 'upTo'>, isLast: boolean): Cut => {
    const { bytes, files, large } = counts;
    counts = { keys: 0, items: 0, files: 0, bytes: 0, large: [] };
    return {
      ...boundsOf(after, upTo),
      ...{ isLast, files, bytes, large },
    };
  };
  let { after } = range;
  for await (const seen of items(range))
    for (const { isExtra, isIncluded, item } of seen) {
      counts.keys += 1;
      if (isIncluded) {
        counts.items += 1;
        if (!isExtra && hasPieces && item.sizeBytes >= largeBytes)
          counts.large.push({ key: item.path, sizeBytes: item.sizeBytes });
        else if (!isExtra && !item.special) {
          counts.files += 1;
          counts.bytes += item.sizeBytes;
        }
      }
      const isFull =
        counts.items >= partFilesMax ||
        counts.bytes >= partBytesMax ||
        counts.large.length >= LARGE_MAX ||
        counts.keys >= partFilesMax * KEYS_FOR_FILE_MAX;
      if (!isFull || item.path === '') continue;
      yield cutAt({ after, upTo: item.path }, false);
      after = item.path;
    }
  yield cutAt({ after, upTo: range.upTo }, true);
}

type ItemsWithin = (range: KeyRange) => AsyncIterable<Iterable<SeenItem>>;

function pairItems(context: JobContext, request: FleetRequest): ItemsWithin {
  const filter = createTreeFilter(withoutBounds(request.filter ?? {}));
  const isIncluded = (item: TreeItem) => isSelectedItem(filter, item);
  return async function* (range) {
    const pair = await openTreePair(context, request, { range });
    try {
      const destination = listsBothSides(request) ? itemsOf(pair.destination, context.signal) : nothing();
      for await (const batch of mergeTrees(itemsOf(pair.source, context.signal), destination))
        yield inOrder(batch, isIncluded);
    } finally {
      await pair.close();
    }
  };
}

/** The folder source filters the items. It reports unreadable ones when the part runs. */
function folderItems(context: JobContext, request: FleetRequest, ofWorker: number): ItemsWithin {
  const { signal } = context;
  const filter = createTreeFilter(withoutBounds(request.filter ?? {}));
  return async function* (range) {
    const root = offeredFolder(context, request, ofWorker);
    for await (const items of createFolderSource({ root, range, filter, signal }).items(() => {}))
      yield items.map((item) => ({ item, isExtra: false, isIncluded: true }));
  };
}

/** The end of a push holds the entries of one part of each worker. */
function partFilesOf({ workers }: FleetRequest): number {
  return workers ? Math.min(PART_FILES_MAX, Math.ceil(MERGED_ENTRIES_MAX / workers.length)) : PART_FILES_MAX;
}

function itemsOf(side: TreeSide, signal: AbortSignal): AsyncIterable<readonly TreeItem[]> {
  if (side.kind === 'local') throw new Error('unreachable');
  return listTreeItems({ store: side.store, limit: side.limit, signal });
}

async function* nothing(): AsyncGenerator<readonly TreeItem[]> {}

interface SeenItem {
  readonly item: TreeItem;
  /** Only the destination has it. */
  readonly isExtra: boolean;
  /** The job works on it. A part lists the other keys too, so they count towards its size. */
  readonly isIncluded: boolean;
}

function* inOrder(
  { extras, pairs }: MatchedBatch,
  isIncluded: (item: TreeItem) => boolean,
): Generator<SeenItem> {
  const seen = (item: TreeItem, isExtra: boolean) => ({ item, isExtra, isIncluded: isIncluded(item) });
  let at = 0;
  for (const { source } of pairs) {
    for (; at < extras.length && comparePaths(extras[at]!.path, source.path) < 0; at += 1)
      yield seen(extras[at]!, true);
    yield seen(source, false);
  }
  for (; at < extras.length; at += 1) yield seen(extras[at]!, true);
}
