/**
 * Moves objects from a store to a store. Within one service the store itself copies, and no bytes pass
 * through this machine. Between two services, the bytes that one request reads are sent by the next at once:
 * they use no disk, and memory only for the bytes in flight.
 */
import { Budget } from '../../../base/budget.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { ObjectInfo } from '../../../remotes/object-store.ts';
import { copyInStore } from '../../../transfer/copy/copy-in-store.ts';
import { downloadWhole, WHOLE_DOWNLOAD_BYTES_MAX } from '../../../transfer/download/download-object.ts';
import { uploadInParts } from '../../../transfer/upload/multipart-upload.ts';
import { openRemoteSource } from '../../../transfer/upload/remote-source.ts';
import { putObject } from '../../../transfer/upload/upload-object.ts';
import { sharesService } from '../../session/opened-remote.ts';
import type { TreeRun } from '../copy-run.ts';
import { headObject, removeObjects, touchObject } from '../existing-objects.ts';
import { goneFromSource } from '../item-errors.ts';
import type { RemoteSide } from '../sides.ts';
import type { DeltaMover } from './delta-mover.ts';
import type { Moved, Mover } from './mover.ts';
import { describeObject, wantsOtherDescription } from './object-description.ts';
import { createPassBatches } from './pass-small-files.ts';

const LARGE_OBJECTS_OPEN_MAX = 8;
/**
 * Once the store has refused to copy this many objects that could then be sent, and has copied none, Dray
 * sends the rest without asking. For example, the bucket belongs to another account.
 */
const REFUSALS_MAX = 8;

type StoreRun = TreeRun<RemoteSide, RemoteSide>;

export async function createStoreCopier(run: StoreRun, delta: DeltaMover | undefined): Promise<Mover> {
  await loadCrc64();
  const open = new Budget(LARGE_OBJECTS_OPEN_MAX);
  const isOneService = sharesService(run.source.store, run.destination.store);
  let hasCopied = false;
  let refusals = 0;
  const batches = createPassBatches(run);
  const pass: Mover['move'] = async (item, over) => {
    const passed = batches?.pass(item);
    if (passed) return passed;
    const changed = await delta?.move(item, over);
    if (changed) return changed;
    if (item.sizeBytes <= WHOLE_DOWNLOAD_BYTES_MAX) return passWhole(run, item);
    using _permit = await open.acquire(1, run.tasks.signal);
    return await passInParts(run, item, delta);
  };
  return {
    async move(item, over) {
      if (!isOneService || item.special || (refusals >= REFUSALS_MAX && !hasCopied)) return pass(item, over);
      const copied = await copyInside(run, item);
      if (copied) {
        hasCopied = true;
        return copied;
      }
      const passed = await pass(item, over);
      // An object that cannot be read at all (archived, or with its own key) throws above and is not counted.
      refusals += 1;
      return passed;
    },
    touch: async (item, over, to) => ({
      sourceToken: item.token,
      destinationToken: await touchObject(run, over, to),
    }),
    remove: (paths, onFailed) => removeObjects(run, paths, onFailed),
    close: async () => batches?.flush(),
  };
}

async function copyInside(run: StoreRun, item: TreeItem): Promise<Moved | undefined> {
  const { destination, knowledge, request, source } = run;
  const { signal } = run.tasks;
  const wantsOther = wantsOtherDescription(request);
  const info = wantsOther ? await headObject(source, item.path, signal) : listedInfo(item);
  if (!info) throw goneFromSource(item.path);
  const fromKey = source.pathOf(item.path);
  const toKey = destination.pathOf(item.path);
  const copied = await destination.limit.run(
    () =>
      copyInStore({
        from: source.store,
        fromKey,
        to: destination.store,
        toKey,
        info,
        journal: knowledge.index.uploads,
        ...(wantsOther ? { description: describeObject(request, info) } : {}),
        ...(request.storageClass === undefined ? {} : { storageClass: request.storageClass }),
        signal,
      }),
    { bytes: 0, signal },
  );
  return (
    copied && {
      sourceToken: info.etag,
      destinationToken: copied.etag,
      inStore: true,
      sizeBytes: info.sizeBytes,
    }
  );
}

function listedInfo(item: TreeItem): ObjectInfo {
  const { modifiedMs, path, sizeBytes, token } = item;
  return { key: path, sizeBytes, etag: token, modifiedMs };
}

async function passWhole(run: StoreRun, item: TreeItem): Promise<Moved> {
  const { destination, memory, request, source } = run;
  const { signal } = run.tasks;
  using lease = await memory.take(Math.max(1, item.sizeBytes), signal);
  const { bytes, info } = await downloadWhole({
    store: source.store,
    key: source.pathOf(item.path),
    etag: item.token,
    sizeBytes: item.sizeBytes,
    into: lease.bytes,
    limit: source.limit,
    signal,
  });
  const { limit, store } = destination;
  const key = destination.pathOf(item.path);
  const put = await limit.run(
    () => putObject({ store, key, bytes, description: describeObject(request, info), signal }),
    { bytes: bytes.length, signal },
  );
  return {
    sourceToken: info.etag,
    destinationToken: put.etag,
    sentBytes: bytes.length,
    receivedBytes: bytes.length,
    sizeBytes: bytes.length,
  };
}

async function passInParts(run: StoreRun, item: TreeItem, delta: DeltaMover | undefined): Promise<Moved> {
  const { destination, knowledge, memory, request } = run;
  const { signal } = run.tasks;
  const info = await headObject(run.source, item.path, signal);
  if (!info) throw goneFromSource(item.path);
  // The object was replaced since it was listed, maybe by an empty one, which has no parts.
  if (info.sizeBytes <= WHOLE_DOWNLOAD_BYTES_MAX)
    return passWhole(run, { ...item, sizeBytes: info.sizeBytes, token: info.etag });
  const sparse = info.isSparse ? await delta?.move(item, undefined, { isSparse: true }) : undefined;
  if (sparse) return sparse;
  await using source = openRemoteSource({
    store: run.source.store,
    key: run.source.pathOf(item.path),
    info,
    limit: run.source.limit,
  });
  const uploaded = await uploadInParts({
    store: destination.store,
    key: destination.pathOf(item.path),
    source,
    description: describeObject(request, info),
    checksum: 'crc64nvme',
    limit: destination.limit,
    memory,
    journal: knowledge.index.uploads,
    ...(request.partSizeBytes === undefined ? {} : { partSizeBytes: request.partSizeBytes }),
    signal,
    onProgress: (bytes) => run.progress.add(0, bytes, item.path),
    onKept: (bytes) => run.progress.keep(bytes, item.path),
  });
  return {
    sourceToken: info.etag,
    destinationToken: uploaded.etag,
    sentBytes: uploaded.sentBytes,
    receivedBytes: uploaded.sentBytes,
    sizeBytes: info.sizeBytes,
    isProgressCounted: true,
  };
}
