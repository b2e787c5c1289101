/**
 * Lists a tree of folders as one sorted space of keys. A page visits only folders that can hold its keys: it
 * starts in the deepest folder of the prefix, skips everything before the start, and stops when it is full.
 */
import { lstat } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { absoluteIn, folderAbove, type HeldFolder, isLinkOnTheWay } from '../../base/held-folders.ts';
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { comparePaths } from '../../model/entry.ts';
import { isOwnFolderName } from '../../model/safe-path.ts';
import { decodeContinuation, encodeContinuation, LIST_LIMIT_MAX } from '../list-continuation.ts';
import type { CallOptions, ListedObject, ListPage, ListRequest } from '../object-store.ts';
import { isAbsent, toFileError, translating } from './file-errors.ts';
import { etagOf } from './file-etag.ts';
import { type FileRoot, keyOfPath } from './file-root.ts';
import type { FolderReader } from './folder-reader.ts';

interface Walk {
  readonly root: FileRoot;
  readonly reader: FolderReader;
  readonly prefix: string;
  readonly foldFolders: boolean;
  /** Only entries after it. If it ends in `/`: after that whole folder. */
  readonly after: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The walk ends when this many names are found. */
  readonly wanted: number;
  /** Keys, and folders (which end in `/`), in order. */
  readonly found: string[];
}

export async function listFiles(
  root: FileRoot,
  reader: FolderReader,
  request: ListRequest,
  options: CallOptions = {},
): Promise<ListPage> {
  checkAborted(options.signal);
  const limit = Math.min(request.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX);
  const start = request.prefix.slice(0, request.prefix.lastIndexOf('/') + 1);
  await root.checkPresent();
  if (!canHoldKeys(start) || !(await isReached(root, start))) return { objects: [], folders: [] };
  const found: string[] = [];
  await walk(start, {
    root,
    reader,
    prefix: request.prefix,
    foldFolders: request.delimiter !== undefined,
    after: startOf(request),
    signal: options.signal,
    wanted: limit + 1,
    found,
  });
  const given = found.slice(0, limit);
  const keys = given.filter((name) => !name.endsWith('/'));
  return {
    objects: await statObjects(root, keys),
    folders: given.filter((name) => name.endsWith('/')),
    ...(found.length > limit ? { continuation: encodeContinuation(given.at(-1)!) } : {}),
  };
}

function startOf({ continuation, startAfter }: ListRequest): string | undefined {
  if (continuation !== undefined) return decodeContinuation(continuation).last;
  // No key ends in `/`, so everything below such a start comes after it.
  return startAfter?.endsWith('/') ? `${startAfter}\0` : startAfter;
}

/** False for prefixes that no key has, such as those that would leave the root. */
function canHoldKeys(folder: string): boolean {
  if (folder === '') return true;
  const parts = folder.slice(0, -1).split('/');
  return parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && !isOwnFolderName(part),
  );
}

/**
 * Whether the folder exists without a symbolic link on the way: a listing from further up would not go
 * through a link.
 */
async function isReached(root: FileRoot, folder: string): Promise<boolean> {
  try {
    (await root.hold(folder.slice(0, -1))).release();
    return true;
  } catch (error) {
    if (isAbsent(error) || isLinkOnTheWay(error)) return false;
    throw toFileError(error, absoluteIn(root.path, folder));
  }
}

/** @param folder '' or a path that ends in `/`. @returns Whether the walk is over. */
async function walk(folder: string, walking: Walk): Promise<boolean> {
  checkAborted(walking.signal);
  const { after = '', prefix } = walking;
  const isInside = after.startsWith(folder);
  if (!isInside && comparePaths(folder, after) < 0) return false;
  const names = await namesIn(folder, walking);
  const rest = isInside ? after.slice(folder.length) : '';
  const prefixRest = prefix.slice(folder.length);
  // A folder sorts before its contents, so it is "before" only with all of them.
  const isBefore = (name: string) =>
    comparePaths(name, prefixRest) < 0 ||
    (comparePaths(name, rest) <= 0 && !(name.endsWith('/') && rest.startsWith(name) && rest !== name));
  const first = firstIndexWhere(names, 0, (name) => !isBefore(name));
  for (let at = first; at < names.length; at += 1) {
    const path = folder + names[at]!;
    if (!path.startsWith(prefix)) break;
    if (!path.endsWith('/')) walking.found.push(path);
    else if (!walking.foldFolders) await walk(path, walking);
    else if (await holdsAny(path, walking)) walking.found.push(path);
    if (walking.found.length >= walking.wanted) return true;
  }
  return false;
}

/** A listing skips empty folders: an object store has none. */
async function holdsAny(folder: string, walking: Walk): Promise<boolean> {
  return walk(folder, { ...walking, prefix: folder, foldFolders: false, wanted: 1, found: [] });
}

async function namesIn(folder: string, { root, reader }: Walk): Promise<readonly string[]> {
  return inFolder(root, folder.slice(0, -1), (held) => reader.names(folder, held.at('')));
}

/** Nothing if the folder was removed, or replaced by a link, since its parent was read. */
async function inFolder<T>(
  root: FileRoot,
  folder: string,
  read: (held: HeldFolder) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  return translating(absoluteIn(root.path, folder), async () => {
    try {
      using held = await root.hold(folder);
      return await read(held);
    } catch (error) {
      if (isAbsent(error) || isLinkOnTheWay(error)) return [];
      throw error;
    }
  });
}

/** Folders that are open at once to stat their objects. */
const FOLDERS_AT_ONCE = 8;

/** Without those that were removed since their folder was read. */
async function statObjects(root: FileRoot, keys: readonly string[]): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  const runs = runsOfFolders(keys);
  for (let at = 0; at < runs.length; at += FOLDERS_AT_ONCE) {
    const found = await Promise.all(runs.slice(at, at + FOLDERS_AT_ONCE).map((run) => statRun(root, run)));
    for (const object of found.flat()) if (object) objects.push(object);
  }
  return objects;
}

/** Keys in order; consecutive keys of one folder together. */
function runsOfFolders(keys: readonly string[]): readonly (readonly string[])[] {
  const runs: string[][] = [];
  let last: string | undefined;
  for (const key of keys) {
    const folder = folderAbove(key);
    if (folder !== last) runs.push([]);
    runs.at(-1)!.push(key);
    last = folder;
  }
  return runs;
}

async function statRun(
  root: FileRoot,
  keys: readonly string[],
): Promise<readonly (ListedObject | undefined)[]> {
  return inFolder(root, folderAbove(keys[0]!), (held) =>
    Promise.all(keys.map((key) => statObject(held.at(keyOfPath(key)), { root, key }))),
  );
}

async function statObject(
  path: string,
  { key, root }: { readonly root: FileRoot; readonly key: string },
): Promise<ListedObject | undefined> {
  const shown = absoluteIn(root.path, key);
  try {
    const stats = await lstat(path, { bigint: true });
    // Replaced since its folder was read.
    if (!stats.isFile()) return undefined;
    return { key, sizeBytes: Number(stats.size), etag: etagOf(stats), modifiedMs: Number(stats.mtimeMs) };
  } catch (error) {
    if (!isAbsent(error)) throw toFileError(error, shown);
    if (!key.includes('\ufffd')) return undefined;
    throw new DrayError(
      'unsafePath',
      `A file name in the folder of ${shown} is not valid UTF-8. Rename the file.`,
      {
        data: { path: shown },
      },
    );
  }
}
