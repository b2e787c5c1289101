/** Removes and changes existing objects, for copies of every kind. */
import { DrayError } from '../../api/error.ts';
import { formatObjectTime, MTIME_METADATA } from '../../model/object-time.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { FileTouch } from '../../remotes/file-calls.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';
import { copyOntoItself } from '../../transfer/copy/copy-onto-itself.ts';
import { isFileError, type TreeRun } from './copy-run.ts';
import { removeEach } from './remove-each.ts';
import type { RemoteSide, TreeSide } from './sides.ts';

type StoreRun = TreeRun<TreeSide, RemoteSide>;

/** Removes 1,000 keys a request. Reports each key that the store refuses and removes the others. */
export async function removeObjects(
  run: StoreRun,
  paths: readonly string[],
  onFailed: (path: string, error: unknown) => void,
): Promise<void> {
  if (paths.length === 0) return;
  const { limit, pathOf, store } = run.destination;
  const { signal } = run.tasks;
  try {
    await limit.run(() => store.delete(paths.map(pathOf), { signal }), { bytes: 0, signal });
  } catch (error) {
    if (!(error instanceof DrayError) || error.retry !== 'no' || !isFileError(error)) throw error;
    const pathsOf = new Map(paths.map((path) => [pathOf(path), path]));
    await removeEach([...pathsOf.keys()], error, {
      store,
      limit,
      signal,
      onFailed: (key, refused) => onFailed(pathsOf.get(key) ?? key, refused),
    });
  }
}

/**
 * Sets an object's time by a copy onto itself in the store; on a peer's file sets what `to` names. Returns
 * the new etag.
 */
export async function touchObject(run: StoreRun, object: TreeItem, to: FileTouch): Promise<string> {
  const { limit, pathOf, store } = run.destination;
  const { signal } = run.tasks;
  const key = pathOf(object.path);
  const { files } = store;
  if (files) return limit.run(() => files.touch(key, to, { signal }), { bytes: 0, signal });
  const { mtimeNs } = to;
  if (mtimeNs === undefined) return object.token;
  const info = await headObject(run.destination, object.path, signal);
  const journal = run.knowledge.index.uploads;
  const metadata = { ...info?.metadata, [MTIME_METADATA]: formatObjectTime(mtimeNs) };
  const outcome = info
    ? await limit.run(() => copyOntoItself({ store, info, metadata, journal, signal }), { bytes: 0, signal })
    : undefined;
  if (outcome?.written) return outcome.etag;
  throw new DrayError(
    'conflict',
    `${object.path} was changed at the destination meanwhile; it was left as it is.`,
    {
      data: { key },
    },
  );
}

/** Everything that the store knows about an object, with its checksums. */
export function headObject(
  side: RemoteSide,
  path: string,
  signal: AbortSignal,
): Promise<ObjectInfo | undefined> {
  return side.limit.run(() => side.store.head(side.pathOf(path), { checksums: true, signal }), {
    bytes: 0,
    signal,
  });
}
