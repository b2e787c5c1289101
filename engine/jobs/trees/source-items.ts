/** The items of a source in order, through the filter. */

import { DrayError } from '../../api/error.ts';
import { statLocal } from '../../files/scan/local-place.ts';
import type { NotKept } from '../../files/scan/local-tree.ts';
import { type LeftOut, scanLocalTree } from '../../files/scan/local-tree.ts';
import { plainReach } from '../../files/scan/tree-reach.ts';
import type { SortedSpill } from '../../index/tree-spill.ts';
import { comparePaths } from '../../model/entry.ts';
import type { HeldPart } from '../../model/held-part.ts';
import { isReservedName } from '../../model/safe-path.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import { isHoldingFolder, type TreeItem } from '../../model/tree-item.ts';
import { FLEET_FOLDER_NAME, isUnfinishedName, TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import { listTreeItems } from '../../query/trees/object-pages.ts';
import { readTimes, type TimesMemory } from '../../query/trees/read-times.ts';
import type { ServedEntry } from '../../remotes/file-calls.ts';
import { createPartsRead } from '../../workspace/read-part.ts';
import { isFileError } from './copy-run.ts';
import type { LocalSide, RemoteSide, TreeSide } from './sides.ts';

export interface ItemsOptions {
  readonly filter: TreeFilter;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly links: boolean;
  /** Yield a listing as it comes; the caller sorts. */
  readonly isUnordered?: boolean;
  /** The destination is another store, which can keep an object with content and the name of a folder. */
  readonly keepsFolderNames?: boolean;
  /** Remembered times of objects, for a filter by age. */
  readonly memory?: TimesMemory;
  /** The caller counts the item as skipped or failed. */
  readonly onSkipped: (path: string, problem: Pick<LeftOut, 'advice' | 'message'>) => void;
  readonly onFailed: (path: string, error: DrayError) => void;
  /** Gets what the destination may not keep of this item. */
  readonly onNotKept?: (loss: NotKept) => void;
  /** Gets the parts of datasets that lie at the source, in the course of the walk. */
  readonly onPart?: ((part: HeldPart) => void) | undefined;
}

export function itemsOf(side: TreeSide, options: ItemsOptions): AsyncIterable<readonly TreeItem[]> {
  const { paths } = options.filter;
  if (paths) return namedItems(side, paths, options);
  return side.kind === 'local' ? localItems(side, options) : remoteItems(side, options);
}

async function* localItems(side: LocalSide, options: ItemsOptions): AsyncGenerator<readonly TreeItem[]> {
  const { filter, links, nowMs, onFailed, onPart, onSkipped, signal } = options;
  const parts = onPart && createPartsRead(plainReach(side.root), side.root);
  yield* scanLocalTree({
    root: side.root,
    enter: (folder) => filter.mayContain(folder),
    includes: (item) => filter.includes(item),
    links,
    ...(side.special ? { special: true } : {}),
    ...(side.folders ? { folders: true } : {}),
    nowMs,
    signal,
    onNotKept: options.onNotKept,
    onProblem: ({ advice, message, path, problem }) => {
      if (problem === 'unreadable' || problem === 'notUtf8' || problem === 'linkName')
        onFailed(
          path,
          new DrayError(problem === 'linkName' ? 'unsafePath' : 'io', message, { data: { path } }),
        );
      else onSkipped(path, { message, ...(advice ? { advice } : {}) });
    },
    onWorkspace: parts?.pass,
  });
  for (const part of parts?.all() ?? []) onPart!(part);
}

async function* remoteItems(
  side: RemoteSide,
  { filter, isUnordered = false, keepsFolderNames = false, memory, onFailed, onPart, signal }: ItemsOptions,
): AsyncGenerator<readonly TreeItem[]> {
  const onProblem = (message: string) =>
    onFailed(side.text, new DrayError('io', message, { data: { path: side.text } }));
  if (side.special) {
    for await (const items of specialItems(side, signal, { onPart, onProblem }))
      yield items.filter(
        (item) => (isHoldingFolder(item) || filter.includes(item)) && !isReserved(item.path),
      );
    return;
  }
  const { limit, store } = side;
  const times = { filter, store, limit, signal, memory, onFailed: asFileError(onFailed) };
  for await (const page of listTreeItems({ store, limit, signal, isUnordered, onPart, onProblem })) {
    const timed = await readTimes(page.filter(canTravel), times);
    yield timed.filter((item) => {
      if (!filter.includes(item)) return false;
      if (keepsFolderNames || !isNamedLikeFolder(item)) return true;
      onFailed(item.path, namedLikeFolder(item.path));
      return false;
    });
  }
}

/** Reports an error that concerns one file; any other ends the walk. */
function asFileError(onFailed: ItemsOptions['onFailed']): (path: string, error: unknown) => void {
  return (path, error) => {
    if (!(error instanceof DrayError) || !isFileError(error)) throw error;
    onFailed(path, error);
  };
}

/** Everything in a peer's folder. `onProblem` gets what the peer could not read. */
export async function* specialItems(
  side: RemoteSide,
  signal: AbortSignal,
  {
    onPart,
    onProblem,
  }: Pick<ItemsOptions, 'onPart'> & { readonly onProblem?: (message: string) => void } = {},
): AsyncGenerator<readonly TreeItem[]> {
  for await (const entries of side.store.files!.entries({
    signal,
    ...(onPart ? { onPart } : {}),
    ...(onProblem ? { onProblem } : {}),
    ...(side.folders ? { folders: true } : {}),
  }))
    yield entries.map(servedItem);
}

function servedItem({ etag, key, mode, modifiedMs, sizeBytes, special }: ServedEntry): TreeItem {
  return {
    path: key,
    kind: 'object',
    isFile: true,
    sizeBytes,
    token: etag,
    modifiedMs,
    ...(special?.kind === 'link' ? {} : { mode }),
    ...(special ? { special } : {}),
  };
}

/**
 * Whether an object can be copied. Other objects are ignored at the destination too, so no sync deletes them.
 */
export function canTravel(item: Pick<TreeItem, 'path' | 'sizeBytes' | 'special'>): boolean {
  return !isReserved(item.path) && !isFolderMarker(item);
}

/** Whether a job with this filter works on the item. */
export function isSelectedItem(filter: TreeFilter, item: TreeItem): boolean {
  return canTravel(item) && filter.includes(item);
}

/** Web consoles, and Dray's window, make empty objects under folders' names, to show the folders. */
export function isFolderMarker(item: Pick<TreeItem, 'path' | 'sizeBytes' | 'special'>): boolean {
  return item.sizeBytes === 0 && !item.special && isNamedLikeFolder(item);
}

function isNamedLikeFolder({ path }: Pick<TreeItem, 'path'>): boolean {
  return path === '' || path.endsWith('/');
}

/**
 * A quick test that most names fail: a part begins with a dot, or may be an unfinished file's, or is not
 * ASCII.
 */
const MAY_BE_RESERVED = /(?:^|\/)\.|\.dray-|[^\u0020-\u007e]/;

/**
 * Whether a part of the path is Dray's own and never copied: any spelling of `.dray`, the folder of
 * unfinished files, and that of a fleet's documents.
 */
function isReserved(path: string): boolean {
  return (
    MAY_BE_RESERVED.test(path) &&
    path
      .split('/')
      .some((part) => part === FLEET_FOLDER_NAME || isUnfinishedName(part) || isReservedName(part, 'linux'))
  );
}

function namedLikeFolder(path: string): DrayError {
  return new DrayError(
    'unsafePath',
    `The object "${path}" has content and the name of a folder; it was left out.`,
    {
      data: { path },
    },
  );
}

function reserved(path: string): DrayError {
  return new DrayError(
    'unsafePath',
    `${path} is inside a folder of Dray's own (.dray, ${TEMPORARY_FOLDER_NAME}, ${FLEET_FOLDER_NAME}), which is never copied; it was left out.`,
    { data: { path } },
  );
}

const NAMED_AT_ONCE = 1_000;

/** The items of `--files-from`, without a listing. */
async function* namedItems(
  side: TreeSide,
  paths: readonly string[],
  { filter, onFailed, signal }: ItemsOptions,
): AsyncGenerator<readonly TreeItem[]> {
  const ordered = paths.toSorted(comparePaths);
  for (let at = 0; at < ordered.length; at += NAMED_AT_ONCE) {
    const found = await Promise.all(
      ordered.slice(at, at + NAMED_AT_ONCE).map(async (path) => {
        if (isReserved(path)) {
          onFailed(path, reserved(path));
          return undefined;
        }
        let item: Awaited<ReturnType<typeof findItem>>;
        try {
          item = await findItem(side, path, signal);
        } catch (error) {
          // Other items can still be read.
          if (!(error instanceof DrayError) || error.retry !== 'no' || !isFileError(error)) throw error;
          onFailed(path, error);
          return undefined;
        }
        if (typeof item === 'object') return filter.includes(item) ? item : undefined;
        const what =
          item === undefined
            ? 'does not exist'
            : item === 'folder'
              ? 'is a folder'
              : 'is not a file (a link, for example)';
        onFailed(
          path,
          new DrayError('notFound', `${path} is listed in --files-from, but it ${what}.`, { data: { path } }),
        );
        return undefined;
      }),
    );
    yield found.filter((item) => item !== undefined);
  }
}

async function findItem(side: TreeSide, path: string, signal: AbortSignal) {
  // Between two machines the other one reports special bits; see `specialModes`.
  if (side.kind === 'local') return statLocal(side.root, path, { modes: !side.special });
  return headItem(side, path, signal);
}

async function headItem(side: RemoteSide, path: string, signal: AbortSignal): Promise<TreeItem | undefined> {
  const info = await side.limit.run(() => side.store.head(path, { signal }), { bytes: 0, signal });
  if (info) return headItemOf(path, info);
  const other = side.special ? await side.store.files?.findSpecial?.(path, { signal }) : undefined;
  return other && servedItem(other);
}

/** The items of a store that lists in no order, by a sort on disk. */
export async function* sortedItems(
  items: AsyncIterable<readonly TreeItem[]>,
  sorter: SortedSpill,
): AsyncGenerator<readonly TreeItem[]> {
  for await (const batch of items) sorter.add(batch);
  yield* sorter.pages();
}
