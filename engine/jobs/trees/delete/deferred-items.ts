/**
 * Items that a sync cannot write because an extra of the destination is in the way: a file or link in place
 * of a folder, or the content of a folder in place of a file. They wait on disk until everything else is
 * copied and the extras are deleted, and are then tried again.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError, type ErrorRecord, fromErrorRecord, toErrorRecord } from '../../../api/error.ts';
import { Budget } from '../../../base/budget.ts';
import { localPlaceKind, statLocal } from '../../../files/scan/local-place.ts';
import { scanWorkspace } from '../../../files/scan/scan.ts';
import { folderInTheWay } from '../../../files/write/write-error.ts';
import type { SpillList } from '../../../index/tree-spill.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { failItem, type TreeRun } from '../copy-run.ts';
import { spilledText } from './spilled-text.ts';

export interface DeferredItems {
  readonly isEmpty: boolean;
  /** How many items wait. */
  readonly size: number;
  /** Call for each item of the source, in order. */
  meet(source: TreeItem): void;
  /** Takes an item that failed with `error`, if it is one that can wait. */
  take(item: TreeItem, error: unknown): boolean;
  /** Takes an item with a local folder in its way. For a dry run, in which nothing fails. */
  foresee(item: TreeItem): boolean;
  /**
   * Symbolic links in local folders that are in the way of files. The walk does not list them, and a sync
   * must delete them.
   */
  unseen(): Iterable<TreeItem>;
  /** Whether a waiting item needs this item of the destination to go. */
  isAwaited(extra: TreeItem): boolean;
  /**
   * Fails the items that wait for none of these extras, or for a folder that the source fills: their obstacle
   * stays.
   */
  giveUpBut(extras: Iterable<TreeItem>): void;
  tryAgain(): Promise<void>;
  /** Fails the items that were not tried again. */
  giveUp(): void;
}

interface DeferredItem {
  readonly item: TreeItem;
  /** Any of these may be in the way: a store does not say which. */
  readonly obstacles: readonly string[];
  readonly error: ErrorRecord;
}

/** Above this many obstacles, further items fail at once. */
const AWAITED_MAX = 100_000;
const GATHERED_AT_ONCE = 1_000;
const UNDER_WAY_MAX = 1_024;

/** @param bring Copies an item to a free path. */
export function createDeferredItems(run: TreeRun, bring: (item: TreeItem) => Promise<void>): DeferredItems {
  /** Paths at the destination: of a file or, with a trailing slash, of a folder that must be empty. */
  const awaited = new Set<string>();
  /** Folders at the destination, with a slash, that the source fills although it has a file of that name. */
  const filled = new Set<string>();
  const isStore = run.source.kind === 'remote' && !run.source.store.files;
  /** The parent paths of the last item that are items themselves, longest last. */
  const above: string[] = [];
  const waiting = createWaitingItems(() => run.knowledge.index.spill());
  const fail = ({ error, item }: DeferredItem) => failItem(run, item.path, fromErrorRecord(error));
  const again = async (item: TreeItem) => {
    try {
      await bring(item);
    } catch (error) {
      run.tasks.check();
      failItem(run, item.path, error);
    }
  };
  const take = (item: TreeItem, error: unknown) => {
    const obstacles = obstaclesTo(run, item, error);
    if (obstacles.length === 0) return false;
    if (awaited.size >= AWAITED_MAX && !obstacles.every((place) => awaited.has(place))) return false;
    for (const place of obstacles) awaited.add(place);
    waiting.add({ item, obstacles, error: toErrorRecord(error) });
    return true;
  };
  return {
    get isEmpty() {
      return awaited.size === 0;
    },
    get size() {
      return waiting.size;
    },
    meet({ path }) {
      // Only stores can have both `a` and `a/b`.
      if (!isStore) return;
      while (above.length > 0 && !path.startsWith(above.at(-1)!)) above.pop();
      for (const file of above)
        if (path[file.length] === '/' && filled.size < AWAITED_MAX)
          filled.add(`${run.destination.pathOf(file)}/`);
      above.push(path);
    },
    take,
    foresee(item) {
      const { destination, request } = run;
      if (!request.dryRun || destination.kind !== 'local' || item.special) return false;
      const path = join(destination.root, destination.pathOf(item.path));
      return isFilledFolder(path) && take(item, folderInTheWay(path));
    },
    *unseen() {
      for (const place of awaited) if (place.endsWith('/')) yield* linksAlone(run, place);
    },
    isAwaited(extra) {
      for (const place of obstaclesOf(run, extra)) if (awaited.has(place)) return true;
      return false;
    },
    giveUpBut(extras) {
      const found = new Set<string>();
      for (const extra of extras)
        for (const place of obstaclesOf(run, extra)) if (awaited.has(place)) found.add(place);
      for (const deferred of waiting.takeAll())
        if (deferred.obstacles.some((place) => found.has(place) && !filled.has(place))) waiting.add(deferred);
        else fail(deferred);
      for (const place of awaited) if (!found.has(place) || filled.has(place)) awaited.delete(place);
    },
    async tryAgain() {
      const { tasks } = run;
      const room = new Budget(UNDER_WAY_MAX);
      try {
        for (const { item } of waiting.takeAll()) {
          tasks.check();
          if (!room.takeNow(1)) await room.acquire(1, tasks.signal);
          tasks.spawn(() => again(item).finally(() => room.giveBack(1)));
        }
      } catch (error) {
        tasks.fail(error);
      }
      await tasks.settle();
    },
    giveUp() {
      for (const deferred of waiting.takeAll()) fail(deferred);
      awaited.clear();
    },
  };
}

/** The waiting items, on disk in batches. */
function createWaitingItems(openList: () => SpillList) {
  let list: SpillList | undefined;
  let gathered: string[] = [];
  let size = 0;
  const flush = () => {
    if (gathered.length === 0) return;
    list ??= openList();
    list.push(gathered);
    gathered = [];
  };
  return {
    get size() {
      return size;
    },
    add(deferred: DeferredItem): void {
      size += 1;
      gathered.push(spilledText(deferred));
      if (gathered.length >= GATHERED_AT_ONCE) flush();
    },
    /** Empties the list. Items may be added again meanwhile. */
    *takeAll(): Generator<DeferredItem> {
      flush();
      const all = list;
      list = undefined;
      size = 0;
      for (const page of all?.pages() ?? []) yield* page.map((text) => JSON.parse(text) as DeferredItem);
    },
  };
}

/** An empty folder needs no deletion: the write replaces it. */
function isFilledFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(path).length > 0;
  } catch {
    // The write itself reports the error.
    return false;
  }
}

/** All obstacles that this item of the destination may be: itself, or the content of a folder above it. */
function* obstaclesOf({ destination }: TreeRun, { path }: TreeItem): Generator<string> {
  const place = destination.pathOf(path);
  yield place;
  for (let slash = place.indexOf('/'); slash > 0; slash = place.indexOf('/', slash + 1))
    yield place.slice(0, slash + 1);
}

/** Empty when the item failed for another reason. */
function obstaclesTo({ destination }: TreeRun, { path }: TreeItem, error: unknown): readonly string[] {
  if (!(error instanceof DrayError)) return [];
  const place = destination.pathOf(path);
  switch (error.data.reason) {
    case 'folderInTheWay':
      return [`${place}/`];
    case 'fileInTheWay':
    case 'linkInTheWay':
      return namedAbove(destination, place, error.data.path);
    default:
      return [];
  }
}

/** The parent path that the error names. A peer names it by its own path, and an object store not at all. */
function namedAbove(destination: TreeRun['destination'], place: string, named: unknown): readonly string[] {
  const above: string[] = [];
  for (let slash = place.indexOf('/'); slash > 0; slash = place.indexOf('/', slash + 1))
    above.push(place.slice(0, slash));
  if (destination.kind === 'local') return above.filter((path) => path === named);
  const { files } = destination.store;
  return files ? above.filter((path) => files.pathOf(path) === named) : above;
}

/**
 * The links of a local folder, if the walk lists everything else in it. None if the filter protects anything
 * there: then removing the links would not clear the path.
 */
function* linksAlone({ destination, filter, request }: TreeRun, place: string): Generator<TreeItem> {
  // Elsewhere links are items like any other.
  if (destination.kind === 'remote' || destination.special || request.links) return;
  const root = join(destination.root, place);
  if (localPlaceKind(root) !== 'folder') return;
  const links: TreeItem[] = [];
  for (const { entries, problems } of scanWorkspace({ root, ignore: false, isPlain: true })) {
    if (problems.length > 0) return;
    for (const { kind, path } of entries) {
      const item = statLocal(destination.root, place + path, { links: true });
      if (typeof item !== 'object') continue;
      if (!filter.includes(item)) return;
      if (kind === 'link') links.push(item);
    }
  }
  yield* links;
}
