/**
 * Finds the objects that a store acknowledged but did not keep, before anything relies on them.
 *
 * It lists where a page shows many of the objects, and sends a HEAD for each of the others. An object that a
 * listing does not show gets a HEAD too, so an incomplete listing alone never counts as a loss.
 */
import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { beforePath } from '../trees/before-path.ts';
import type { RequestLimit } from '../trees/object-pages.ts';

export interface WrittenObject {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** The etag that the store returned; absent or '' if it returned none, or if the key names the content. */
  readonly etag?: string;
  /** The etag of the replaced object. If it is still there, nothing was written. */
  readonly replacedEtag?: string;
}

interface FoundObject {
  readonly sizeBytes: number;
  readonly etag: string;
}

export interface LookOptions {
  readonly limit: RequestLimit;
  readonly signal: AbortSignal;
}

/** A listing page costs as much as this many HEADs (S3: $5 and $0.4 per million). */
export const HEADS_PER_PAGE = 12;

/** @returns The objects that are not there as they were written, in order of their keys. */
export async function findUnseen<T extends WrittenObject>(
  store: ObjectStore,
  written: readonly T[],
  options: LookOptions,
): Promise<readonly T[]> {
  if (store.confirmsWrites) return [];
  const { limit, signal } = options;
  const call = { bytes: 0, signal };
  const stored = (key: RemoteKey) => store.sealing?.storedKey(key) ?? key;
  const sorted = written.toSorted((left, right) => comparePaths(stored(left.key), stored(right.key)));
  const prefix = commonFolder(stored(sorted.at(0)?.key ?? ''), stored(sorted.at(-1)?.key ?? ''));
  const doubtful: T[] = [];
  let next = 0;
  while (sorted.length - next >= HEADS_PER_PAGE) {
    const startAfter = beforePath(stored(sorted[next]!.key));
    const request = { prefix, ...(startAfter > prefix ? { startAfter } : {}) };
    const page = await limit.run(() => store.list(request, { signal }), call);
    const listed = new Map(page.objects.map((object) => [object.key, object]));
    const last = page.continuation === undefined ? undefined : page.objects.at(-1);
    const isLast = page.continuation === undefined;
    const from = next;
    for (; next < sorted.length; next += 1) {
      const object = sorted[next]!;
      if (!isLast && (last === undefined || comparePaths(stored(object.key), stored(last.key)) > 0)) break;
      const sizeBytes = store.sealing?.listedBytes(object.sizeBytes) ?? object.sizeBytes;
      if (!isAsWritten({ ...object, sizeBytes }, listed.get(object.key))) doubtful.push(object);
    }
    if (next - from < HEADS_PER_PAGE) break;
  }
  doubtful.push(...sorted.slice(next));
  const isSeen = await Promise.all(
    doubtful.map((object) =>
      limit.run(async () => isAsWritten(object, await store.head(object.key, { signal })), call),
    ),
  );
  return doubtful.filter((_, at) => !isSeen[at]);
}

/** The error for an object that the store did not keep. */
export function notStored(store: ObjectStore, { key }: WrittenObject): DrayError {
  return new DrayError(
    'remoteFailed',
    `${store.address} acknowledged ${key}, but does not have it. If that happens again, the store loses data.`,
    {
      retry: 'retry',
      data: { key, reason: 'notStored' },
      advice: 'Run the command again to send it again; "dray remote test" tries the store.',
      command: 'dray remote test',
    },
  );
}

/**
 * Only the old etag, or no object, shows a lost write. Any other etag may be that of another writer's newer
 * object.
 */
function isAsWritten(written: WrittenObject, found: FoundObject | undefined): boolean {
  if (!found) return false;
  const { etag = '', replacedEtag = '', sizeBytes } = written;
  if (etag === '' || found.etag === '') return found.sizeBytes === sizeBytes;
  if (found.etag === etag) return true;
  return replacedEtag === '' ? found.sizeBytes === sizeBytes : found.etag !== replacedEtag;
}

/** The longest common prefix that ends in a slash. */
function commonFolder(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, one.lastIndexOf('/', length - 1) + 1);
}
