/**
 * From a store to a local folder. Each file is verified before it gets its name, so a name always has old or
 * new content.
 */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fromErrorRecord } from '../../../api/error.ts';
import { Budget } from '../../../base/budget.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { LINK_SUFFIX } from '../../../files/scan/local-place.ts';
import { openTreeWriter } from '../../../files/write/tree-writer.ts';
import type { TreeWriter, WrittenStat } from '../../../files/write/tree-writer-types.ts';
import { travelling } from '../../../model/special-modes.ts';
import { fileToken, type TreeItem } from '../../../model/tree-item.ts';
import { TEMPORARY_FOLDER_NAME } from '../../../model/unfinished-name.ts';
import { mtimeOfObject } from '../../../query/trees/head-item.ts';
import { MODE_METADATA } from '../../../remotes/file-calls.ts';
import type { ObjectInfo } from '../../../remotes/object-store.ts';
import {
  createDigestThreads,
  type DigestThreads,
  openDigest,
} from '../../../transfer/download/digest-threads.ts';
import { downloadWhole, WHOLE_DOWNLOAD_BYTES_MAX } from '../../../transfer/download/download-object.ts';
import type { TreeRun } from '../copy-run.ts';
import { goneFromSource } from '../item-errors.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';
import { SENT_IN_BATCHES_BYTES_MAX } from './batch-limits.ts';
import type { DeltaMover, OpenDeltaMover } from './delta-mover.ts';
import { fetchLarge } from './fetch-large.ts';
import { MOVED_SPECIAL, type Moved, type Mover } from './mover.ts';
import { createReadBatches, type ReadBatches } from './read-small-files.ts';
import { touchHere } from './touch-here.ts';
import { BATCHED_BYTES_MAX, createWriteBatches, type WriteBatches } from './write-batches.ts';

type DownloadRun = TreeRun<RemoteSide, LocalSide>;

const LARGE_FILES_OPEN_MAX = 16;
/** This many large files, each over one connection, saturate most networks. */
const MANY_FILES = 8;
/** Until this much is fetched in ranges, a digest in this thread costs less than starting another one. */
const DIGESTED_HERE_BYTES = 32 * 1024 * 1024;

export async function createDownloader(run: DownloadRun, openDelta: OpenDeltaMover): Promise<Mover> {
  await loadCrc64();
  const { signal } = run.tasks;
  const { root } = run.destination;
  const writer = openTreeWriter({
    root,
    temporaryFolder: join(root, TEMPORARY_FOLDER_NAME),
    isTemporaryFolderOwn: true,
    refusals: run.refusals,
    unsyncedNote: run.runNote,
    // This thread is busy receiving and checking. With one more thread than cores, 1 GB took twice the CPU
    // time.
    threads: Math.max(1, availableParallelism() - 1),
    signal,
  });
  const delta = openDelta(writer);
  const parts: Parts = {
    writer,
    batches: createWriteBatches(writer, run.memory, signal),
    open: new Budget(LARGE_FILES_OPEN_MAX),
    digests: createDigestThreads(signal),
    rangedBytes: 0,
  };
  const { files } = run.source.store;
  const reads = files && createReadBatches(run, files);
  return {
    async move(item, over) {
      if (item.special) return writeSpecial(run, writer, item);
      if (reads && item.sizeBytes <= SENT_IN_BATCHES_BYTES_MAX) return fetchInBatch(run, parts, item, reads);
      const changed = await delta?.move(item, over);
      if (changed) return changed;
      return item.sizeBytes <= WHOLE_DOWNLOAD_BYTES_MAX
        ? fetchWhole(run, parts, item)
        : fetchInRanges(run, parts, item, delta);
    },
    touch: (item, over, to) => touchHere(run, item, { path: over.path, to }),
    async remove(paths, onFailed) {
      for (const path of paths) {
        try {
          writer.remove(run.destination.pathOf(path));
        } catch (error) {
          onFailed(path, error);
        }
      }
    },
    sync: () => writer.sync(),
    close: async () => {
      reads?.flush();
      parts.batches.flush();
      await Promise.all([writer.close(), parts.digests.close()]);
    },
  };
}

function writeSpecial(run: DownloadRun, writer: TreeWriter, { path, special }: TreeItem): Moved {
  const to = run.destination.pathOf(path);
  if (special?.kind === 'link') writer.writeLink(to, special.target);
  else writer.makeFolder(to);
  return MOVED_SPECIAL;
}

function isLinkObject({ request }: DownloadRun, { path }: TreeItem): boolean {
  return request.links === true && path.endsWith(LINK_SUFFIX);
}

interface Parts {
  readonly writer: TreeWriter;
  readonly batches: WriteBatches;
  readonly open: Budget;
  readonly digests: DigestThreads;
  /** Total of all files fetched in ranges so far. */
  rangedBytes: number;
}

async function fetchInBatch(
  run: DownloadRun,
  { batches, writer }: Parts,
  item: TreeItem,
  reads: ReadBatches,
): Promise<Moved> {
  const { bytes, etag, mode, mtimeNs } = await reads.read(run.source.pathOf(item.path), item.sizeBytes);
  const path = run.destination.pathOf(item.path);
  const stat = isLinkObject(run, item)
    ? writer.writeLink(path, bytes)
    : await batches.write(
        { path, sizeBytes: bytes.length, mtimeNs, executable: false, ...travelling(mode, run.request) },
        bytes,
      );
  const isRacy = stat.mtimeMs > run.clock.nowMs() - RACY_MS;
  return {
    sourceToken: etag,
    destinationToken: isRacy ? '' : fileToken(stat),
    receivedBytes: bytes.length,
    sizeBytes: bytes.length,
  };
}

async function fetchWhole(run: DownloadRun, parts: Parts, item: TreeItem): Promise<Moved> {
  const { limit, store } = run.source;
  const { signal } = run.tasks;
  const key = run.source.pathOf(item.path);
  using lease = await run.memory.take(Math.max(1, item.sizeBytes), signal);
  const { bytes, info } = await downloadWhole({
    store,
    key,
    etag: item.token,
    sizeBytes: item.sizeBytes,
    into: lease.bytes,
    limit,
    signal,
  });
  const stat = await writeWhole(run, parts, { item, info, bytes });
  return fetched(run, info, stat, bytes.length);
}

async function writeWhole(
  run: DownloadRun,
  { batches, writer }: Parts,
  { bytes, info, item }: { readonly item: TreeItem; readonly info: ObjectInfo; readonly bytes: Uint8Array },
): Promise<WrittenStat> {
  const path = run.destination.pathOf(item.path);
  if (isLinkObject(run, item)) return writer.writeLink(path, bytes);
  const file = {
    path,
    sizeBytes: bytes.length,
    mtimeNs: mtimeOf(info),
    executable: false,
    ...modeOf(run, info),
  };
  if (bytes.length <= BATCHED_BYTES_MAX) return batches.write(file, bytes);
  const [result] = await writer.writeMany(bytes, [{ ...file, offset: 0 }]);
  if ('stat' in result!) return result.stat;
  throw fromErrorRecord(result!.error);
}

async function fetchInRanges(
  run: DownloadRun,
  parts: Parts,
  item: TreeItem,
  delta: DeltaMover | undefined,
): Promise<Moved> {
  const { limit, store } = run.source;
  const { signal } = run.tasks;
  const key = run.source.pathOf(item.path);
  using _open = await parts.open.acquire(1, signal);
  const info = await limit.run(() => store.head(key, { checksums: true, signal }), { bytes: 0, signal });
  if (!info) throw goneFromSource(item.path);
  // The object was replaced since it was listed, maybe by an empty one, which has no ranges.
  if (info.sizeBytes <= WHOLE_DOWNLOAD_BYTES_MAX)
    return await fetchWhole(run, parts, { ...item, sizeBytes: info.sizeBytes, token: info.etag });
  const sparse = info.isSparse ? await delta?.move(item, undefined, { isSparse: true }) : undefined;
  if (sparse) return sparse;
  const meta = {
    path: run.destination.pathOf(item.path),
    sizeBytes: info.sizeBytes,
    mtimeNs: mtimeOf(info),
    executable: false,
    ...modeOf(run, info),
  };
  const onProgress = (bytes: number) => run.progress.add(0, bytes, item.path);
  const isOneOfMany = () => parts.open.used >= Math.min(MANY_FILES, limit.current);
  parts.rangedBytes += info.sizeBytes;
  const download = {
    store,
    key,
    info,
    limit,
    memory: run.memory,
    openDigest: parts.rangedBytes > DIGESTED_HERE_BYTES ? parts.digests.open : openDigest,
    signal,
    onProgress,
    // A peer's folder verifies each range by itself, and serves ranges as cheaply.
    ...(store.files ? {} : { isOneOfMany }),
  };
  const { receivedBytes, stat } = await fetchLarge({ writer: parts.writer, meta, download });
  return { ...fetched(run, info, stat, receivedBytes), isProgressCounted: true };
}

/** Only a peer's file has a mode: an object's metadata may come from anybody. */
function modeOf({ request, source }: DownloadRun, { metadata }: ObjectInfo): { readonly mode?: number } {
  const text = source.store.files ? metadata?.[MODE_METADATA] : undefined;
  return text === undefined ? {} : travelling(Number.parseInt(text, 8), request);
}

/** When the content last changed or, if that is unknown, when it was stored. */
function mtimeOf(info: ObjectInfo): bigint {
  return mtimeOfObject(info) ?? BigInt(Math.round(info.modifiedMs)) * 1_000_000n;
}

const RACY_MS = 20;

function fetched(run: DownloadRun, info: ObjectInfo, stat: WrittenStat, receivedBytes: number): Moved {
  const isRacy = stat.mtimeMs > run.clock.nowMs() - RACY_MS;
  return {
    sourceToken: info.etag,
    destinationToken: isRacy ? '' : fileToken(stat),
    receivedBytes,
    sizeBytes: info.sizeBytes,
  };
}
