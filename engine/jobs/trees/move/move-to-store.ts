/** From a local folder to a store. */

import { join } from 'node:path';
import { Budget } from '../../../base/budget.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { openFileSource, readSmallFile, type SmallFile, tokenOf } from '../../../files/read/file-source.ts';
import { exactMtimeNs, LINK_SUFFIX, readLink } from '../../../files/scan/local-place.ts';
import { travelling } from '../../../model/special-modes.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { MultipartStore } from '../../../remotes/object-store.ts';
import { type PreviousObject, previousFromParts } from '../../../transfer/delta/store-delta.ts';
import { uploadInParts } from '../../../transfer/upload/multipart-upload.ts';
import { ONE_PUT_BYTES, putObject } from '../../../transfer/upload/upload-object.ts';
import type { TreeRun } from '../copy-run.ts';
import { headObject, removeObjects, touchObject } from '../existing-objects.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';
import type { DeltaMover } from './delta-mover.ts';
import type { Moved, Mover } from './mover.ts';
import { loadContentTypes } from './object-content-type.ts';
import { describeFile } from './object-description.ts';
import { createSendBatches, type FileContent } from './send-small-files.ts';

/** Smaller objects are sent whole: finding equal blocks in them costs as much. */
const STORE_DELTA_BYTES_MIN = 64 * 1024 * 1024;
/** Smaller files need no lease: their bytes live as long as their request. */
const LEASED_BYTES_MIN = 64 * 1024;
/** A few at a time, so that a killed run leaves few files unfinished. */
const LARGE_FILES_OPEN_MAX = 8;

type UploadRun = TreeRun<LocalSide, RemoteSide>;

export async function createUploader(run: UploadRun, delta: DeltaMover | undefined): Promise<Mover> {
  await Promise.all([loadContentTypes(), loadCrc64()]);
  const open = new Budget(LARGE_FILES_OPEN_MAX);
  const { files } = run.destination.store;
  const batches = files && createSendBatches(run, { files, read: (item) => readForBatch(run, item) });
  const moveAlone: Mover['move'] = async (item, over) => {
    const changed = await delta?.move(item, over);
    if (changed) return changed;
    if (item.sizeBytes <= ONE_PUT_BYTES) return putFile(run, item);
    using _permit = await open.acquire(1, run.tasks.signal);
    return await sendParts(run, item, over);
  };
  return {
    move: (item, over) => (batches?.takes(item) ? batches.send(item) : moveAlone(item, over)),
    touch: async (item, over, to) => ({
      sourceToken: item.token,
      destinationToken: await touchObject(run, over, to),
    }),
    remove: (paths, onFailed) => removeObjects(run, paths, onFailed),
    flush: () => batches?.flush(),
    close: async () => batches?.flush(),
  };
}

function readForBatch(run: UploadRun, item: TreeItem): FileContent {
  const { bytes, mode, stat } = readItem(run, item, undefined);
  const mtimeNs = stat?.mtimeNs ?? exactMtimeNs(sourcePath(run, item)) ?? 0n;
  return { bytes, mtimeNs, ...(stat ? { stat } : {}), ...travelling(mode, run.request) };
}

async function putFile(run: UploadRun, item: TreeItem): Promise<Moved> {
  const { limit, store } = run.destination;
  const { signal } = run.tasks;
  const lease = item.sizeBytes < LEASED_BYTES_MIN ? undefined : await run.memory.take(item.sizeBytes, signal);
  try {
    // Read inside the limit, so that memory has no more bytes than those in flight.
    return await limit.run(
      async () => {
        const { bytes, mode, stat } = readItem(run, item, lease?.bytes);
        const key = run.destination.pathOf(item.path);
        const description = describeFile(run.request, {
          path: key,
          mtimeNs: stat?.mtimeNs ?? exactMtimeNs(sourcePath(run, item)) ?? 0n,
          ...modeFor(run, mode),
        });
        const put = await putObject({ store, key, bytes, description, signal });
        return {
          sourceToken: stat ? tokenOf(stat) : item.token,
          destinationToken: put.etag,
          sentBytes: bytes.length,
          sizeBytes: bytes.length,
        };
      },
      { bytes: item.sizeBytes, signal },
    );
  } finally {
    lease?.release();
  }
}

async function sendParts(run: UploadRun, item: TreeItem, over: TreeItem | undefined): Promise<Moved> {
  const { destination, knowledge, memory, request, tasks } = run;
  const { limit, store } = destination;
  const { signal } = tasks;
  const key = destination.pathOf(item.path);
  await using source = await openFileSource(sourcePath(run, item));
  // The file became shorter since it was listed, maybe empty, and an empty file has no parts.
  if (source.sizeBytes <= ONE_PUT_BYTES) return await putFile(run, { ...item, sizeBytes: source.sizeBytes });
  const { index } = knowledge;
  const previous = await previousObject(run, item, over);
  const uploaded = await uploadInParts({
    store,
    key,
    source,
    description: describeFile(request, {
      path: key,
      mtimeNs: source.mtimeNs,
      ...modeFor(run, source.mode),
    }),
    checksum: 'crc64nvme',
    limit,
    memory,
    journal: index.uploads,
    ...(request.partSizeBytes === undefined ? {} : { partSizeBytes: request.partSizeBytes }),
    ...(previous ? { previous } : {}),
    signal,
    onProgress: (bytes) => run.progress.add(0, bytes, item.path),
    onKept: (bytes) => run.progress.keep(bytes, item.path),
  });
  if (uploaded.etag !== '') index.putBlocks(key, { token: uploaded.etag, ...uploaded.blocks });
  return {
    sourceToken: source.token,
    destinationToken: uploaded.etag,
    sentBytes: uploaded.sentBytes,
    sizeBytes: source.sizeBytes,
    isProgressCounted: true,
  };
}

/** The known block digests of the existing object: from the index, or from the store. */
async function previousObject(
  run: UploadRun,
  item: TreeItem,
  over: TreeItem | undefined,
): Promise<PreviousObject | undefined> {
  const { delta = true } = run.request;
  const multipart: MultipartStore | undefined = run.destination.store.multipart;
  if (!delta || !multipart || run.destination.store.files || !over || over.token === '') return undefined;
  if (item.sizeBytes <= STORE_DELTA_BYTES_MIN || over.sizeBytes <= STORE_DELTA_BYTES_MIN) return undefined;
  const { store } = run.destination;
  const key = run.destination.pathOf(item.path);
  const known = run.knowledge.index.blocks(key);
  if (known?.token === over.token)
    return {
      key,
      etag: over.token,
      sizeBytes: over.sizeBytes,
      blockBytes: known.blockBytes,
      sums: known.sums,
    };
  const info = await headObject(run.destination, over.path, run.tasks.signal);
  return info && previousFromParts(store, key, info, { signal: run.tasks.signal });
}

/** A peer's files have a mode; objects do not. */
function modeFor({ destination, request }: UploadRun, mode: number | undefined): { readonly mode?: number } {
  return destination.store.files ? travelling(mode, request) : {};
}

function sourcePath({ source }: UploadRun, item: TreeItem): string {
  return join(source.root, source.pathOf(item.path));
}

/** A link's content is its target; its stat is that of the scan. */
function readItem(
  run: UploadRun,
  item: TreeItem,
  into: Uint8Array | undefined,
): Pick<SmallFile, 'bytes'> & Partial<SmallFile> {
  const path = sourcePath(run, item);
  if (run.request.links && item.path.endsWith(LINK_SUFFIX)) return { bytes: readLink(path) };
  return readSmallFile(path, { bytesMax: ONE_PUT_BYTES, ...(into ? { into } : {}) });
}
