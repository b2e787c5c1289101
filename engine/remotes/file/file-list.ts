/**
 * Listing a tree of folders as one sorted space of keys.
 *
 * A page visits only folders that can hold its keys: it starts in the deepest folder of the prefix, leaves out what lies
 * before the start, and stops when it is full.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { comparePaths } from '../../model/entry.ts';
import { decodeContinuation, encodeContinuation } from '../list-continuation.ts';
import type { CallOptions, ListedObject, ListPage, ListRequest } from '../object-store.ts';
import { LIST_LIMIT_MAX } from '../sorted-page.ts';
import { isAbsent, toFileError, translating } from './file-errors.ts';
import { etagOf } from './file-etag.ts';
import { type FileRoot, TEMP_FOLDER } from './file-root.ts';
import { type FolderReader, firstNotBefore } from './folder-reader.ts';

interface Walk {
  readonly root: FileRoot;
  readonly reader: FolderReader;
  readonly prefix: string;
  readonly foldFolders: boolean;
  /** Only what comes after it. When it ends in `/`: after that whole folder. */
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
  const objects = await Promise.all(
    given.filter((name) => !name.endsWith('/')).map((key) => statObject(root, key)),
  );
  return {
    objects: objects.filter((object) => object !== undefined),
    folders: given.filter((name) => name.endsWith('/')),
    ...(found.length > limit ? { continuation: encodeContinuation(given.at(-1)!) } : {}),
  };
}

function startOf({ continuation, startAfter }: ListRequest): string | undefined {
  if (continuation !== undefined) return decodeContinuation(continuation).last;
  // No key ends in `/`, so what lies below such a start comes after it.
  return startAfter?.endsWith('/') ? `${startAfter}\0` : startAfter;
}

/** False for prefixes that no key has, such as those that would leave the root. */
function canHoldKeys(folder: string): boolean {
  if (folder === '') return true;
  const parts = folder.slice(0, -1).split('/');
  if (parts[0]?.toLowerCase() === TEMP_FOLDER) return false;
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
}

/** Whether the folder is there, without a symbolic link on the way: a listing from further up would not go through it. */
async function isReached(root: FileRoot, folder: string): Promise<boolean> {
  for (let end = folder.indexOf('/'); end >= 0; end = folder.indexOf('/', end + 1)) {
    const path = join(root.path, folder.slice(0, end));
    const stats = await lstat(path).catch((error) => {
      if (isAbsent(error)) return undefined;
      throw toFileError(error, path);
    });
    if (!stats?.isDirectory()) return false;
  }
  return true;
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
  // A folder sorts before all that lies in it, so it is "before" only with everything in it.
  const first = firstNotBefore(
    names,
    (name) =>
      comparePaths(name, prefixRest) < 0 ||
      (comparePaths(name, rest) <= 0 && !(name.endsWith('/') && rest.startsWith(name) && rest !== name)),
  );
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

/** Empty folders are no part of a listing: an object store has none. */
async function holdsAny(folder: string, walking: Walk): Promise<boolean> {
  return walk(folder, { ...walking, prefix: folder, foldFolders: false, wanted: 1, found: [] });
}

async function namesIn(folder: string, { root, reader }: Walk): Promise<readonly string[]> {
  const path = join(root.path, folder);
  return translating(path, async () => {
    try {
      const names = await reader.names(path);
      return folder === '' ? names.filter((name) => name !== `${TEMP_FOLDER}/`) : names;
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  });
}

/** Undefined when the file was removed since its folder was read. */
async function statObject(root: FileRoot, key: string): Promise<ListedObject | undefined> {
  const path = join(root.path, key);
  try {
    const stats = await lstat(path, { bigint: true });
    return { key, sizeBytes: Number(stats.size), etag: etagOf(stats), modifiedMs: Number(stats.mtimeMs) };
  } catch (error) {
    if (!isAbsent(error)) throw toFileError(error, path);
    if (!key.includes('\ufffd')) return undefined;
    throw new DrayError('unsafePath', `A file name in the folder of ${path} is no valid UTF-8; rename it.`, {
      data: { path },
    });
  }
}
