/** `dray du`: files and bytes below a place, by folder. A listing is in order, so a folder's total is complete when it is left. */
import type { JobContext } from '../api/jobs.ts';
import type { UsageRequest, UsageSummary } from '../api/trees.ts';
import { createTreeFilter } from '../model/tree-filter.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { listTreeItems } from '../query/object-pages.ts';
import { localPlaceKind } from '../workspace/local-place.ts';
import { scanLocalTree } from '../workspace/local-tree.ts';
import { nothingThere, openSingle, parseNamedPlace } from './open-side.ts';
import { connectPlace } from './places.ts';
import { addTotals } from './tree-sides.ts';

const DEFAULT_DEPTH = 1;

export async function usage(context: JobContext, request: UsageRequest): Promise<UsageSummary> {
  const place = parseNamedPlace(context, request);
  const filter = createTreeFilter(request.filter ?? {});
  const count = createCounter(context, request.depth ?? DEFAULT_DEPTH);
  const take = (items: readonly TreeItem[]) => {
    for (const item of items) if (filter.includes(item)) count.add(item);
  };
  const { signal } = context;
  if (place.kind === 'local') {
    if (localPlaceKind(place.path) === 'absent') throw nothingThere(place.text);
    const options = { root: place.path, nowMs: Date.now(), signal, onProblem: () => {} };
    for await (const items of scanLocalTree(options)) take(items);
    return { place: place.text, ...count.end(), requests: addTotals([]) };
  }
  const { limit, meter, store } = await connectPlace(context, place, { at: 'place' });
  try {
    let isEmpty = true;
    for await (const page of listTreeItems({ store, limit, signal })) {
      isEmpty = false;
      take(page);
    }
    const meters = [meter];
    const single = isEmpty ? await openSingle(context, place) : undefined;
    if (single) {
      await single.connection.store.close();
      meters.push(single.connection.meter);
      const { etag, modifiedMs, sizeBytes } = single.info;
      take([{ path: single.key, kind: 'object', sizeBytes, token: etag, modifiedMs }]);
    } else if (isEmpty && place.url.prefix !== '') throw nothingThere(place.text);
    return { place: place.text, ...count.end(), requests: addTotals(meters) };
  } finally {
    await store.close();
  }
}

interface Total {
  readonly path: string;
  files: number;
  bytes: number;
}

function createCounter(context: JobContext, depth: number) {
  /** The folders that the walk is in, outermost first; the first is the place itself. */
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
    },
    end() {
      while (open.length > 1) leave();
      return leave();
    },
  };
}
