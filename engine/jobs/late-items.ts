/**
 * What a sync cannot write because of something that the destination alone has: a file or a link where a folder has to be, or what fills a
 * folder where a file has to be. It waits, on disk, until all else has arrived and that was deleted, and then it is tried again.
 */
import { DrayError, type ErrorRecord, fromErrorRecord, toErrorRecord } from '../api/error.ts';
import { Budget } from '../base/budget.ts';
import type { SpillList } from '../index/tree-spill.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { textOf } from './spilled-items.ts';
import { failItem, type TreeRun } from './tree-run.ts';

export interface LateItems {
  readonly isEmpty: boolean;
  /** Takes an item with what it failed with, if it is one that can wait. */
  take(item: TreeItem, error: unknown): boolean;
  /** Whether something waits for this item of the destination to go. */
  isAwaited(extra: TreeItem): boolean;
  tryAgain(): Promise<void>;
  /** Those that were not tried again have failed. */
  giveUp(): void;
}

interface LateItem {
  readonly item: TreeItem;
  readonly error: ErrorRecord;
}

/** What stands in the way of any more fails what goes there. */
const AWAITED_MAX = 100_000;
const GATHERED_AT_ONCE = 1_000;
const UNDER_WAY_MAX = 1_024;

/** @param bring Brings an item to where nothing lies. */
export function createLateItems(run: TreeRun, bring: (item: TreeItem) => Promise<void>): LateItems {
  /** Paths at the destination: of a file, or, with a slash at its end, of a folder that has to be empty. */
  const awaited = new Set<string>();
  let list: SpillList | undefined;
  let gathered: string[] = [];
  const flush = () => {
    if (gathered.length === 0) return;
    list ??= run.knowledge.index.spill();
    list.push(gathered);
    gathered = [];
  };
  function* takeAll(): Generator<LateItem> {
    flush();
    const all = list;
    list = undefined;
    for (const page of all?.pages() ?? []) yield* page.map((text) => JSON.parse(text) as LateItem);
  }
  const again = async (item: TreeItem) => {
    try {
      await bring(item);
    } catch (error) {
      run.tasks.check();
      failItem(run, item.path, error);
    }
  };
  return {
    get isEmpty() {
      return awaited.size === 0;
    },
    take(item, error) {
      const obstacle = obstacleOf(run, item, error);
      if (obstacle === undefined || (awaited.size >= AWAITED_MAX && !awaited.has(obstacle))) return false;
      awaited.add(obstacle);
      gathered.push(textOf({ item, error: toErrorRecord(error) } satisfies LateItem));
      if (gathered.length >= GATHERED_AT_ONCE) flush();
      return true;
    },
    isAwaited({ path }) {
      const place = run.destination.pathOf(path);
      if (awaited.has(place)) return true;
      for (let slash = place.indexOf('/'); slash > 0; slash = place.indexOf('/', slash + 1))
        if (awaited.has(place.slice(0, slash + 1))) return true;
      return false;
    },
    async tryAgain() {
      const { tasks } = run;
      const room = new Budget(UNDER_WAY_MAX);
      try {
        for (const { item } of takeAll()) {
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
      for (const { error, item } of takeAll()) failItem(run, item.path, fromErrorRecord(error));
      awaited.clear();
    },
  };
}

/** Undefined when it failed for another reason. */
function obstacleOf({ destination }: TreeRun, { path }: TreeItem, error: unknown): string | undefined {
  if (!(error instanceof DrayError)) return undefined;
  const place = destination.pathOf(path);
  switch (error.data.reason) {
    case 'folderInTheWay':
      return `${place}/`;
    case 'fileInTheWay':
    case 'linkInTheWay':
      return namedAbove(destination, place, error.data.path);
    default:
      return undefined;
  }
}

/** The part of the way to the place that the error names: another machine does so by its own path. */
function namedAbove(destination: TreeRun['destination'], place: string, named: unknown): string | undefined {
  const files = destination.kind === 'remote' ? destination.store.files : undefined;
  for (let slash = place.indexOf('/'); slash > 0; slash = place.indexOf('/', slash + 1)) {
    const above = place.slice(0, slash);
    if ((files ? files.pathOf(above) : above) === named) return above;
  }
  return undefined;
}
