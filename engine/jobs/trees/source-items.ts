/** The items of a source, as the filter lets them through, in order. */
import { DrayError } from '../../api/error.ts';
import { statLocal } from '../../files/scan/local-place.ts';
import { scanLocalTree } from '../../files/scan/local-tree.ts';
import { comparePaths } from '../../model/entry.ts';
import { isReservedName } from '../../model/safe-path.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';
import { isHoldingFolder, type TreeItem } from '../../model/tree-item.ts';
import { isUnfinishedName, TEMPORARY_FOLDER_NAME } from '../../model/unfinished-name.ts';
import { headItemOf } from '../../query/trees/head-item.ts';
import { listTreeItems } from '../../query/trees/object-pages.ts';
import { readTimes, type TimesMemory } from '../../query/trees/read-times.ts';
import { isFileError } from './copy-run.ts';
import type { LocalSide, RemoteSide, TreeSide } from './sides.ts';

export interface ItemsOptions {
  readonly filter: TreeFilter;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly links: boolean;
  /** Take a listing as it comes; the caller sorts. */
  readonly isUnordered?: boolean;
  /** Where the items go, an object may have content and the name of a folder: at another store. */
  readonly keepsFolderNames?: boolean;
  /** Remembered times of objects, for a filter by age. */
  readonly memory?: TimesMemory;
  /** Counted as skipped or failed by the caller. */
  readonly onSkipped: (path: string, message: string) => void;
  readonly onFailed: (path: string, error: DrayError) => void;
}

export function itemsOf(side: TreeSide, options: ItemsOptions): AsyncIterable<readonly TreeItem[]> {
  const { paths } = options.filter;
  if (paths) return namedItems(side, paths, options);
  return side.kind === 'local' ? localItems(side, options) : remoteItems(side, options);
}

function localItems(side: LocalSide, { filter, links, nowMs, onFailed, onSkipped, signal }: ItemsOptions) {
  return scanLocalTree({
    root: side.root,
    enter: (folder) => filter.mayContain(folder),
    includes: (item) => filter.includes(item),
    links,
    ...(side.special ? { special: true } : {}),
    ...(side.folders ? { folders: true } : {}),
    nowMs,
    signal,
    onProblem: ({ message, path, problem }) => {
      if (problem === 'unreadable' || problem === 'notUtf8' || problem === 'linkName')
        onFailed(
          path,
          new DrayError(problem === 'linkName' ? 'unsafePath' : 'io', message, { data: { path } }),
        );
      else onSkipped(path, message);
    },
  });
}

async function* remoteItems(
  side: RemoteSide,
  { filter, isUnordered = false, keepsFolderNames = false, memory, onFailed, signal }: ItemsOptions,
): AsyncGenerator<readonly TreeItem[]> {
  const onProblem = (message: string) =>
    onFailed(side.text, new DrayError('io', message, { data: { path: side.text } }));
  if (side.special) {
    for await (const items of specialItems(side, signal, onProblem))
      yield items.filter(
        (item) => (isHoldingFolder(item) || filter.includes(item)) && !isReserved(item.path),
      );
    return;
  }
  const { limit, store } = side;
  const times = { filter, store, limit, signal, memory, onFailed: asFileError(onFailed) };
  for await (const page of listTreeItems({ store, limit, signal, isUnordered, onProblem })) {
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

/** All that a peer's folder holds. @param onProblem Told of what the peer could not read. */
export async function* specialItems(
  side: RemoteSide,
  signal: AbortSignal,
  onProblem?: (message: string) => void,
): AsyncGenerator<readonly TreeItem[]> {
  for await (const entries of side.store.files!.entries({
    signal,
    ...(onProblem ? { onProblem } : {}),
    ...(side.folders ? { folders: true } : {}),
  }))
    yield entries.map(({ etag, key, mode, modifiedMs, sizeBytes, special }) => ({
      path: key,
      kind: 'object',
      isFile: true,
      sizeBytes,
      token: etag,
      modifiedMs,
      ...(special?.kind === 'link' ? {} : { mode }),
      ...(special ? { special } : {}),
    }));
}

/** Whether a source may have such an object. What none can have is not looked at on the other side either, and no sync deletes it. */
export function canTravel(item: Pick<TreeItem, 'path' | 'sizeBytes' | 'special'>): boolean {
  return !isReserved(item.path) && !isFolderMarker(item);
}

/** Consoles, and Dray's window, make empty objects under the names of folders, to show them. */
export function isFolderMarker(item: Pick<TreeItem, 'path' | 'sizeBytes' | 'special'>): boolean {
  return item.sizeBytes === 0 && !item.special && isNamedLikeFolder(item);
}

function isNamedLikeFolder({ path }: Pick<TreeItem, 'path'>): boolean {
  return path === '' || path.endsWith('/');
}

/** Most names need no closer look: no part begins with a dot or may be an unfinished file's, and nothing is beyond ASCII. */
const MAY_BE_RESERVED = /(?:^|\/)\.|\.dray-|[^\u0020-\u007e]/;

/** Whether a part of it is Dray's own, which never travels: what some system would take for `.dray`, and where unfinished files lie. */
function isReserved(path: string): boolean {
  return (
    MAY_BE_RESERVED.test(path) &&
    path.split('/').some((part) => isUnfinishedName(part) || isReservedName(part, 'linux'))
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
    `${path} lies in the place of a folder of Dray's own (.dray, ${TEMPORARY_FOLDER_NAME}), which never travels; it was left out.`,
    { data: { path } },
  );
}

const NAMED_AT_ONCE = 1_000;

/** `--files-from`: no listing at all. */
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
        let item: Awaited<ReturnType<typeof lookAt>>;
        try {
          item = await lookAt(side, path, signal);
        } catch (error) {
          // Others may be looked at all the same.
          if (!(error instanceof DrayError) || error.retry !== 'no' || !isFileError(error)) throw error;
          onFailed(path, error);
          return undefined;
        }
        if (typeof item === 'object') return filter.includes(item) ? item : undefined;
        const what =
          item === undefined ? 'not there' : item === 'folder' ? 'a folder' : 'no file, such as a link';
        onFailed(path, new DrayError('notFound', `${path} is named and ${what}.`, { data: { path } }));
        return undefined;
      }),
    );
    yield found.filter((item) => item !== undefined);
  }
}

async function lookAt(side: TreeSide, path: string, signal: AbortSignal) {
  // Between machines the other one tells more of a mode than this.
  if (side.kind === 'local') return statLocal(side.root, path, { modes: !side.special });
  return headItem(side, path, signal);
}

async function headItem(side: RemoteSide, path: string, signal: AbortSignal): Promise<TreeItem | undefined> {
  const info = await side.limit.run(() => side.store.head(path, { signal }), { bytes: 0, signal });
  return info && headItemOf(path, info);
}
