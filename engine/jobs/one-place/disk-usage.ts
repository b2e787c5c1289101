/**
 * `dray du`: files and bytes below a place, by folder. Listings are in order, so a folder is complete when
 * the next one starts.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { UsageRequest, UsageSummary } from '../../api/jobs/trees.ts';
import { systemClock } from '../../base/clock.ts';
import { createTreeFilter, type TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import { listTreeItems, UnorderedListing } from '../../query/trees/object-pages.ts';
import { readTimes } from '../../query/trees/read-times.ts';
import { nothingThere, openObjectFirst, openSingle, parseNamedPlace } from '../places/open-side.ts';
import { openPlace, type RemotePlace } from '../places/places.ts';
import { isEmptyFolder } from '../places/source-presence.ts';
import { createProgress, type Progress } from '../session/progress.ts';
import { addTotals, createTraffic } from '../session/traffic.ts';
import { createTreeCounts, failItem } from '../trees/copy-run.ts';
import { localItems } from '../trees/local-items.ts';
import { isFolderMarker } from '../trees/source-items.ts';

const DEFAULT_DEPTH = 1;

export async function usage(context: JobContext, request: UsageRequest): Promise<UsageSummary> {
  const place = parseNamedPlace(context, request);
  const depth = request.depth ?? DEFAULT_DEPTH;
  const filter = createTreeFilter(request.filter ?? {});
  if (place.kind === 'remote') return usageOfStore(context, place, { filter, depth });
  const progress = createProgress({ context, clock: systemClock }, { phase: 'scan' });
  const counter = createCounter(context, depth, progress);
  const counts = createTreeCounts();
  for await (const items of localItems({ context, place, filter, counts }))
    for (const item of items) counter.add(item);
  return { place: place.text, ...counter.end(), failed: counts.failed, requests: addTotals([]) };
}

interface Counting {
  readonly filter: TreeFilter;
  readonly depth: number;
}

async function usageOfStore(
  context: JobContext,
  place: RemotePlace,
  { depth, filter }: Counting,
): Promise<UsageSummary> {
  const object = await openObjectFirst(context, place);
  await using remote = object?.remote ?? (await openPlace(context, place, { at: 'place' }));
  const { limit, meter, store } = remote;
  const traffic = createTraffic([meter], [limit]);
  const progress = createProgress({ context, clock: systemClock }, { phase: 'scan', traffic });
  const counter = createCounter(context, depth, progress);
  const { signal } = context;
  const counts = createTreeCounts();
  const onFailed = (path: string, error: unknown) => {
    failItem({ context, counts }, path, error);
  };
  const take = (item: TreeItem) => {
    if (filter.includes(item) && !isFolderMarker(item)) counter.add(item);
  };
  if (object) {
    take(headItemOf(object.key, object.info));
    return { place: place.text, ...counter.end(), failed: counts.failed, requests: addTotals([meter]) };
  }
  try {
    let isEmpty = true;
    for await (const page of listTreeItems({ store, limit, signal, isUnordered: depth === 0 })) {
      isEmpty = false;
      (await readTimes(page, { filter, store, limit, signal, onFailed })).forEach(take);
    }
    const meters = [meter];
    const isNothing = isEmpty && !(await isEmptyFolder({ limit, store }, signal));
    const single = isNothing ? await openSingle(context, place) : undefined;
    if (single) {
      await single.remote.store.close();
      meters.push(single.remote.meter);
      take(headItemOf(single.key, single.info));
    } else if (isNothing && place.url.prefix !== '') throw nothingThere(place.text);
    return { place: place.text, ...counter.end(), failed: counts.failed, requests: addTotals(meters) };
  } catch (error) {
    if (!(error instanceof UnorderedListing)) throw error;
    throw new DrayError(
      'unsupported',
      `${error.message} So Dray knows only the sum, not the sizes of folders.`,
      {
        advice: 'Add --depth 0 for the sum alone.',
      },
    );
  }
}

interface Total {
  readonly path: string;
  files: number;
  bytes: number;
}

interface Counter {
  /** Call in order. */
  add(item: TreeItem): void;
  end(): { readonly files: number; readonly bytes: number };
}

function createCounter(context: JobContext, depth: number, progress: Progress): Counter {
  /** The folders around the current item, outermost first; the first is the place itself. */
  const open: Total[] = [{ path: '', files: 0, bytes: 0 }];
  const leave = () => {
    const { bytes, files, path } = open.pop()!;
    context.emit({ type: 'usage', path, files, bytes });
    const above = open.at(-1);
    if (above) {
      above.files += files;
      above.bytes += bytes;
    }
    return { files, bytes };
  };
  return {
    add({ path, sizeBytes }: TreeItem) {
      while (!path.startsWith(open.at(-1)!.path)) leave();
      for (let slash = path.indexOf('/', open.at(-1)!.path.length); slash >= 0 && open.length <= depth; ) {
        open.push({ path: path.slice(0, slash + 1), files: 0, bytes: 0 });
        slash = path.indexOf('/', slash + 1);
      }
      const inner = open.at(-1)!;
      inner.files += 1;
      inner.bytes += sizeBytes;
      progress.add(1, sizeBytes);
    },
    end() {
      progress.end();
      while (open.length > 1) leave();
      return leave();
    },
  };
}
