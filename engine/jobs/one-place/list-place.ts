/** `dray ls PLACE`: the content of a folder, a bucket or a prefix, one level or all of it. */
import { DrayError } from '../../api/error.ts';
import type { EntryEvent } from '../../api/events.ts';
import type { JobContext, RequestTotals } from '../../api/jobs/jobs.ts';
import type { ListPlaceRequest, ListPlaceSummary } from '../../api/jobs/trees.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import { comparePaths } from '../../model/entry.ts';
import { formatObjectTime } from '../../model/object-time.ts';
import { createTreeFilter, isTimeKnown, type TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import { listedItem, listTreeItems } from '../../query/trees/object-pages.ts';
import { readTimes, type TimesOptions } from '../../query/trees/read-times.ts';
import { nothingThere, openObjectFirst, openSingle, parseNamedPlace } from '../places/open-side.ts';
import { type LocalPlace, openPlace, type RemotePlace } from '../places/places.ts';
import { isEmptyFolder } from '../places/source-presence.ts';
import { emitEach } from '../session/emit-each.ts';
import { addTotals } from '../session/traffic.ts';
import { createTreeCounts, failItem, isFileError } from '../trees/copy-run.ts';
import { localItems } from '../trees/local-items.ts';

export async function listPlace(context: JobContext, request: ListPlaceRequest): Promise<ListPlaceSummary> {
  const place = parseNamedPlace(context, request);
  const filter = createTreeFilter(request.filter ?? {});
  const lister = createLister(context, filter);
  const listed =
    place.kind === 'local'
      ? listLocal(context, place, request, lister)
      : listStore(context, place, request, lister);
  return listed;
}

interface Lister {
  file(item: TreeItem): void;
  folder(path: string): void;
  link(path: string): void;
  readonly totals: { entries: number; bytes: number };
  readonly filter: TreeFilter;
}

function createLister(context: JobContext, filter: TreeFilter): Lister {
  const totals = { entries: 0, bytes: 0 };
  const emitEntry = (entry: EntryEvent) => {
    totals.entries += 1;
    totals.bytes += entry.sizeBytes;
    context.emit(entry);
  };
  return {
    totals,
    filter,
    file(item) {
      if (!filter.includes(item)) return;
      const mtime = formatObjectTime(item.mtimeNs ?? BigInt(Math.round(item.modifiedMs)) * 1_000_000n);
      emitEntry({ type: 'entry', path: item.path, kind: 'file', sizeBytes: item.sizeBytes, mtime });
    },
    folder(path) {
      if (filter.mayContain(path)) emitEntry({ type: 'entry', path, kind: 'folder', sizeBytes: 0 });
    },
    link: (path) => emitEntry({ type: 'entry', path, kind: 'link', sizeBytes: 0 }),
  };
}

async function listStore(
  context: JobContext,
  place: RemotePlace,
  { recursive, withTimes = false }: ListPlaceRequest,
  lister: Lister,
): Promise<ListPlaceSummary> {
  const object = await openObjectFirst(context, place);
  if (object) {
    await using parent = object.remote;
    lister.file(headItemOf(object.key, object.info));
    return { place: place.text, ...lister.totals, failed: 0, requests: addTotals([parent.meter]) };
  }
  await using remote = await openPlace(context, place, { at: 'place' });
  const { limit, meter, store } = remote;
  const { signal } = context;
  const heap = createHeapBound();
  const counts = createTreeCounts();
  const onFailed = (path: string, error: unknown) => failItem({ context, counts }, path, error);
  const reportFiles = async (items: readonly TreeItem[]) => {
    const timed = await readTimes(items, { filter: lister.filter, store, limit, signal, onFailed });
    const chosen = timed.filter(lister.filter.includes);
    const reported = withTimes ? await withOwnTimes(chosen, { store, limit, signal }) : chosen;
    await emitEach(context, reported, (item) => lister.file(item));
  };
  const summary = (requests: RequestTotals): ListPlaceSummary => ({
    place: place.text,
    ...lister.totals,
    failed: counts.failed,
    requests,
  });
  if (recursive) {
    for await (const page of listTreeItems({ store, limit, signal, isUnordered: true })) {
      heap.check();
      await reportFiles(page);
    }
  } else {
    for (let continuation: string | undefined; ; ) {
      const page = await store.list(
        { prefix: '', delimiter: '/', ...(continuation === undefined ? {} : { continuation }) },
        { signal },
      );
      await emitEach(context, page.folders, (folder) => lister.folder(folder));
      await reportFiles(page.objects.map(listedItem));
      continuation = page.continuation;
      if (continuation === undefined) break;
    }
  }
  if (lister.totals.entries > 0 || !lister.filter.isOpen || place.url.prefix === '')
    return summary(addTotals([meter]));
  if (await isEmptyFolder({ limit, store }, signal)) return summary(addTotals([meter]));
  const single = await openSingle(context, place);
  if (!single) throw nothingThere(place.text);
  await single.remote.store.close();
  lister.file(headItemOf(single.key, single.info));
  return summary(addTotals([meter, single.remote.meter]));
}

/** An object whose metadata cannot be read keeps the time of its upload. */
async function withOwnTimes(
  items: readonly TreeItem[],
  options: Pick<TimesOptions, 'limit' | 'signal' | 'store'>,
): Promise<readonly TreeItem[]> {
  const onFailed = (_path: string, error: unknown) => {
    if (!(error instanceof DrayError && isFileError(error))) throw error;
  };
  const asked = await readTimes(items, {
    ...options,
    filter: { needsTime: (item) => !isTimeKnown(item) },
    onFailed,
  });
  const known = new Map(asked.map((item) => [item.path, item]));
  return items.map((item) => known.get(item.path) ?? item);
}

async function listLocal(
  context: JobContext,
  place: LocalPlace,
  { recursive }: ListPlaceRequest,
  lister: Lister,
): Promise<ListPlaceSummary> {
  const counts = createTreeCounts();
  const { filter } = lister;
  const look = { context, place, filter, counts };
  if (recursive) {
    for await (const items of localItems({ ...look, onLink: lister.link }))
      await emitEach(context, items, (item) => lister.file(item));
  } else {
    // Files, links and folders of one level arrive separately.
    const entries: (readonly [path: string, emitEntry: () => void])[] = [];
    const onFolder = (path: string) => entries.push([path, () => lister.folder(path)]);
    const onLink = (path: string) => entries.push([path, () => lister.link(path)]);
    for await (const items of localItems({ ...look, onFolder, onLink }))
      for (const item of items) entries.push([item.path, () => lister.file(item)]);
    const inOrder = entries.sort(([a], [b]) => comparePaths(a, b));
    await emitEach(context, inOrder, ([, emitEntry]) => emitEntry());
  }
  return { place: place.text, ...lister.totals, failed: counts.failed, requests: addTotals([]) };
}
