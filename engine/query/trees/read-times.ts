/**
 * Reads the modification times that a filter by age needs and a listing lacks: a HEAD for each object whose
 * time is not remembered.
 */
import { DrayError } from '../../api/error.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { ObjectInfo, ObjectStore } from '../../remotes/object-store.ts';
import { headItemOf } from './head-item.ts';
import type { RequestLimit } from './object-pages.ts';

export interface TimesOptions {
  readonly filter: Pick<TreeFilter, 'needsTime'>;
  readonly store: Pick<ObjectStore, 'head'>;
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
  /**
   * Gets the error of an object whose time cannot be read, which is then left out. Throws errors that concern
   * more than one object.
   */
  readonly onFailed: (path: string, error: unknown) => void;
  readonly memory?: TimesMemory | undefined;
}

export interface TimesMemory {
  /** The item with its remembered time; undefined if none is remembered. */
  recall(item: TreeItem): TreeItem | undefined;
  note(items: readonly TreeItem[]): void;
  asked(): void;
}

/**
 * The same items in the same order, each with the time that the filter needs. Leaves out objects that have
 * vanished: there is nothing to copy or delete. Sends all requests at once; `limit` bounds those in flight.
 */
export async function readTimes(
  items: readonly TreeItem[],
  options: TimesOptions,
): Promise<readonly TreeItem[]> {
  const { filter, memory } = options;
  if (!items.some((item) => filter.needsTime(item))) return items;
  const young = new Set<TreeItem>();
  const answers = await Promise.allSettled(
    items.map((item) => {
      if (!filter.needsTime(item)) return item;
      return memory?.recall(item) ?? ask(item, options, young);
    }),
  );
  const read: TreeItem[] = [];
  for (const [at, answer] of answers.entries()) {
    if (answer.status === 'rejected') options.onFailed(items[at]!.path, answer.reason);
    else if (answer.value) read.push(answer.value);
  }
  memory?.note(read.filter((item) => item.wasAsked && !young.has(item)));
  return read;
}

async function ask(
  item: TreeItem,
  { limit, memory, signal, store }: TimesOptions,
  young: Set<TreeItem>,
): Promise<TreeItem | undefined> {
  memory?.asked();
  const info = await limit.run(() => store.head(item.path, { signal }), { bytes: 0, signal });
  if (!info) return undefined;
  const asked = headItemOf(item.path, info);
  // The object was replaced since the listing: its new time does not belong to the listed content.
  if (info.etag !== item.token) throw changed(item.path);
  const known = {
    ...item,
    wasAsked: true as const,
    ...(asked.mtimeNs === undefined ? {} : { mtimeNs: asked.mtimeNs }),
  };
  if (isYoung(item, info)) young.add(known);
  return known;
}

/** Two uploads may fall into one second, the resolution of some stores. */
function isYoung({ modifiedMs }: TreeItem, { remoteTimeMs }: ObjectInfo): boolean {
  return remoteTimeMs === undefined || Math.floor(remoteTimeMs / 1000) <= Math.floor(modifiedMs / 1000);
}

function changed(path: string): DrayError {
  return new DrayError('conflict', `${path} was changed while its time was read. Run the command again.`, {
    data: { path },
  });
}
