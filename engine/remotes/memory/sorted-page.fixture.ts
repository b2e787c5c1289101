/** One page of a listing over keys that lie sorted in memory. Pure. */
import { firstIndexWhere } from '../../base/sorted-search.ts';
import { comparePaths } from '../../model/entry.ts';
import { decodeContinuation, encodeContinuation, isPast, LIST_LIMIT_MAX } from '../list-continuation.ts';
import type { ListRequest, RemoteKey } from '../object-store.ts';

export interface KeyPage {
  readonly keys: readonly RemoteKey[];
  readonly folders: readonly string[];
  readonly continuation?: string;
}

/** @param sorted All keys, in byte order, without repetition. */
export function pageOfKeys(sorted: readonly RemoteKey[], request: ListRequest): KeyPage {
  const limit = Math.min(request.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX);
  const position = request.continuation === undefined ? undefined : decodeContinuation(request.continuation);
  const after = position?.last ?? request.startAfter;
  const keys: RemoteKey[] = [];
  const folders: string[] = [];
  let last: string | undefined;
  for (let at = firstIndex(sorted, request.prefix, after); at < sorted.length; at += 1) {
    const key = sorted[at]!;
    if (!key.startsWith(request.prefix)) break;
    if (position && !isPast(key, position)) continue;
    const slash = request.delimiter ? key.indexOf('/', request.prefix.length) : -1;
    const folder = slash < 0 ? undefined : key.slice(0, slash + 1);
    if (folder !== undefined && folder === folders.at(-1)) continue;
    if (keys.length + folders.length === limit && last !== undefined) {
      return { keys, folders, continuation: encodeContinuation(last) };
    }
    if (folder === undefined) keys.push(key);
    else folders.push(folder);
    last = folder ?? key;
  }
  return { keys, folders };
}

function firstIndex(sorted: readonly RemoteKey[], prefix: string, after: string | undefined): number {
  return firstIndexWhere(
    sorted,
    0,
    (key) => comparePaths(key, prefix) >= 0 && (after === undefined || comparePaths(key, after) > 0),
  );
}
