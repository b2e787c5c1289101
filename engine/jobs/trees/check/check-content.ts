/**
 * Compares the content of two items of equal size: by checksums where a store has them, else by reading both.
 */
import type { ComparedBy } from '../../../api/events.ts';
import type { LeasedMemory } from '../../../base/leased-memory.ts';
import { etagIsMd5 } from '../../../model/tree-decision.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { ObjectInfo } from '../../../remotes/object-store.ts';
import {
  compareByReading,
  compareFileWithObject,
  compareObjects,
} from '../../../transfer/compare/compare-content.ts';
import type { ObjectSource } from '../../../transfer/upload/object-source.ts';
import { openRemoteSource } from '../../../transfer/upload/remote-source.ts';
import { headObject } from '../existing-objects.ts';
import { goneFromSource } from '../item-errors.ts';
import { openItemSource } from '../move/link-items.ts';
import type { LocalSide, RemoteSide, TreeSide } from '../sides.ts';

export interface CompareSides {
  readonly source: TreeSide;
  readonly destination: TreeSide;
  readonly memory: LeasedMemory;
  readonly signal: AbortSignal;
}

export interface ComparedContent {
  readonly result: 'same' | 'differs' | 'uncertain';
  readonly by: ComparedBy;
  readonly readBytes: number;
  /** The first byte that differs, where both sides were read. */
  readonly differsAt?: number;
}

/** @throws `notFound` when one of them has disappeared, `io` when a file changed while it was read */
export async function compareContent(
  sides: CompareSides,
  left: TreeItem,
  right: TreeItem,
  options: { readonly byReading: boolean },
): Promise<ComparedContent> {
  const { destination, source } = sides;
  if (options.byReading || (source.kind === 'local' && destination.kind === 'local'))
    return read(sides, left, right);
  if (source.kind === 'local') return compareFile(sides, [source, left], [destination as RemoteSide, right]);
  if (destination.kind === 'local') return compareFile(sides, [destination, right], [source, left]);
  if (etagIsMd5(left.token) && left.token === right.token) return { result: 'same', by: 'md5', readBytes: 0 };
  const [first, second] = await Promise.all([headOf(sides, source, left), headOf(sides, destination, right)]);
  const compared = await compareObjects(
    { store: source.store, info: first },
    { store: destination.store, info: second },
  );
  return { ...compared, readBytes: 0 };
}

async function read(sides: CompareSides, left: TreeItem, right: TreeItem): Promise<ComparedContent> {
  const { memory, signal } = sides;
  await using first = await open(sides, sides.source, left);
  await using second = await open(sides, sides.destination, right);
  return await compareByReading(first, second, { memory, signal });
}

async function open(sides: CompareSides, side: TreeSide, item: TreeItem): Promise<ObjectSource> {
  if (side.kind === 'local') return openItemSource(side, item);
  const { limit, store } = side;
  const info = await headOf(sides, side, item);
  return openRemoteSource({ store, key: side.pathOf(item.path), info, limit });
}

/** Up to this size an MD5 costs less than a request; above it the store may have a faster checksum. */
const MD5_BYTES_MAX = 8 * 1024 * 1024;

async function compareFile(
  sides: CompareSides,
  [local, file]: readonly [LocalSide, TreeItem],
  [remote, object]: readonly [RemoteSide, TreeItem],
): Promise<ComparedContent> {
  const { memory, signal } = sides;
  await using source = await openItemSource(local, file);
  // The listing is often enough. Otherwise a HEAD asks for the object's checksums.
  if (etagIsMd5(object.token) && source.sizeBytes <= MD5_BYTES_MAX) {
    const etag = {
      key: object.path,
      sizeBytes: object.sizeBytes,
      etag: object.token,
      modifiedMs: object.modifiedMs,
    };
    const compared = await compareFileWithObject({
      source,
      store: remote.store,
      info: etag,
      memory,
      signal,
    });
    if (compared.result === 'same') return compared;
  }
  const info = await headOf(sides, remote, object);
  return await compareFileWithObject({ source, store: remote.store, info, memory, signal });
}

async function headOf({ signal }: CompareSides, side: RemoteSide, item: TreeItem): Promise<ObjectInfo> {
  const info = await headObject(side, item.path, signal);
  if (!info) throw goneFromSource(item.path);
  return info;
}
