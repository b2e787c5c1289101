/** `dray ls PLACE`: what lies in a folder, a bucket or below a prefix, one level or all of it. */
import { readdirSync } from 'node:fs';
import type { EntryEvent } from '../api/events.ts';
import type { JobContext } from '../api/jobs.ts';
import type { ListPlaceRequest, ListPlaceSummary } from '../api/trees.ts';
import { comparePaths } from '../model/entry.ts';
import { formatObjectTime } from '../model/object-time.ts';
import { createTreeFilter, type TreeFilter } from '../model/tree-filter.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { listTreeItems } from '../query/object-pages.ts';
import { localPlaceKind, statLocal } from '../workspace/local-place.ts';
import { scanLocalTree } from '../workspace/local-tree.ts';
import { nothingThere, openSingle, parseNamedPlace } from './open-side.ts';
import { connectPlace, type LocalPlace, nameOfPlace, type S3Place } from './places.ts';
import { addTotals } from './tree-sides.ts';

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
  file(item: Pick<TreeItem, 'modifiedMs' | 'path' | 'sizeBytes'>): void;
  folder(path: string): void;
  readonly totals: { entries: number; bytes: number };
  readonly filter: TreeFilter;
}

function createLister(context: JobContext, filter: TreeFilter): Lister {
  const totals = { entries: 0, bytes: 0 };
  const tell = (entry: EntryEvent) => {
    totals.entries += 1;
    totals.bytes += entry.sizeBytes;
    context.emit(entry);
  };
  return {
    totals,
    filter,
    file(item) {
      if (!filter.includes(item)) return;
      const mtime = formatObjectTime(BigInt(Math.round(item.modifiedMs)) * 1_000_000n);
      tell({ type: 'entry', path: item.path, kind: 'file', sizeBytes: item.sizeBytes, mtime });
    },
    folder(path) {
      if (filter.mayContain(path)) tell({ type: 'entry', path, kind: 'folder', sizeBytes: 0 });
    },
  };
}

async function listStore(
  context: JobContext,
  place: S3Place,
  { recursive }: ListPlaceRequest,
  lister: Lister,
): Promise<ListPlaceSummary> {
  const { limit, meter, store } = await connectPlace(context, place, { at: 'place' });
  const { signal } = context;
  try {
    if (recursive) {
      for await (const page of listTreeItems({ store, limit, signal, isUnordered: true }))
        for (const item of page) lister.file(item);
    } else {
      for (let continuation: string | undefined; ; ) {
        const page = await store.list(
          { prefix: '', delimiter: '/', ...(continuation === undefined ? {} : { continuation }) },
          { signal },
        );
        for (const folder of page.folders) lister.folder(folder);
        for (const { key, modifiedMs, sizeBytes } of page.objects)
          lister.file({ path: key, modifiedMs, sizeBytes });
        continuation = page.continuation;
        if (continuation === undefined) break;
      }
    }
    if (lister.totals.entries > 0 || !lister.filter.isOpen || place.url.prefix === '')
      return { place: place.text, ...lister.totals, requests: addTotals([meter]) };
    const single = await openSingle(context, place);
    if (!single) throw nothingThere(place.text);
    await single.connection.store.close();
    lister.file({ ...single.info, path: single.key });
    return { place: place.text, ...lister.totals, requests: addTotals([meter, single.connection.meter]) };
  } finally {
    await store.close();
  }
}

async function listLocal(
  { signal }: JobContext,
  place: LocalPlace,
  { recursive }: ListPlaceRequest,
  lister: Lister,
): Promise<ListPlaceSummary> {
  const { path, text } = place;
  const kind = localPlaceKind(path);
  if (kind === 'absent') throw nothingThere(text);
  if (kind !== 'folder') {
    const found = statLocal(path.slice(0, -nameOfPlace(place).length - 1), nameOfPlace(place));
    if (typeof found === 'object') lister.file(found);
  } else if (recursive) {
    const options = { root: path, nowMs: Date.now(), signal, onProblem: () => {} };
    for await (const items of scanLocalTree(options)) for (const item of items) lister.file(item);
  } else {
    const names = readdirSync(path, { withFileTypes: true }).map((each) =>
      each.isDirectory() ? `${each.name}/` : each.name,
    );
    for (const name of names.sort(comparePaths)) {
      if (name.endsWith('/')) lister.folder(name);
      else {
        const found = statLocal(path, name);
        if (typeof found === 'object') lister.file(found);
      }
    }
  }
  return { place: text, ...lister.totals, requests: addTotals([]) };
}
