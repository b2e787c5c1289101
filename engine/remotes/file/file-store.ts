/**
 * A plain folder as an object store: each object is the file of its key, so every other tool can read it.
 * Writes are atomic, durable and conditional among all processes that use this store (see
 * `file/object-placer.ts`). It keeps no content type and no metadata, and hides symbolic links and special
 * files. The root may be a link, which is resolved once. Links below it are not followed: a key through one
 * is refused, and nothing behind it is listed.
 */
import { type BigIntStats, constants } from 'node:fs';
import { copyFile, type FileHandle, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import {
  CAN_HOLD_FOLDERS,
  createHeldFolders,
  type HeldFolders,
  pathOfDescriptor,
} from '../../base/held-folders.ts';
import { hasUnstatedContent, wrongSize } from '../../base/wrong-size.ts';
import { checkReadSize, resolveRange } from '../byte-range.ts';
import { noSource, ownKeyOf, sourceChanged } from '../copy-source.ts';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  GetOptions,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  RemoteKey,
} from '../object-store.ts';
import { bodyOf, bytesOf, type FileSlice, piecesOf } from './file-bytes.ts';
import { isAbsent, systemCode, toFileError, translating } from './file-errors.ts';
import { etagOf } from './file-etag.ts';
import { listFiles } from './file-list.ts';
import { createFileMultipart } from './file-multipart.ts';
import { createFileRoot, type FileRoot, missingRoot, openNoFollow, type TemporaryFile } from './file-root.ts';
import { createFolderReader } from './folder-reader.ts';
import { createObjectPlacer } from './object-placer.ts';
import { writeReceived } from './received-file.ts';

export interface FileStoreOptions {
  /** An absolute path, or folders that are already held and that the caller closes. */
  readonly root: string | HeldFolders;
  /**
   * Create a missing folder, with its parents. `alone`: only if its parent exists, because its disk may not
   * be mounted.
   */
  readonly create?: boolean | 'alone';
  /** Treat a missing folder as empty, if its parent exists. */
  readonly mayBeMissing?: boolean;
  readonly clock?: Clock;
  /** False: do without hard links even if the file system has them. For tests. */
  readonly hardLinks?: boolean;
}

/** Removals that run at once: each takes and releases a lock. */
const REMOVALS_AT_ONCE = 16;

/** Fails with `bucketMissing` if the folder does not exist, with `usage` if it is a file. */
export async function openFileStore(options: FileStoreOptions): Promise<ObjectStore> {
  const clock = options.clock ?? systemClock;
  const folders = await openRoot(options);
  const root = createFileRoot(folders, clock, options.mayBeMissing);
  const placer = createObjectPlacer(root, clock, options.hardLinks ?? true);
  const reader = createFolderReader(clock.nowMs);

  const putPieces = (
    key: RemoteKey,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    put: PutOptions = {},
  ) => placer.place(key, put, ({ file }) => writeReceived(file, pieces, key, put));

  return {
    address: pathToFileURL(root.path).href,
    provider: 'local',
    confirmsWrites: true,
    head: (key, call) => headFile(root, key, clock, call),
    async get(key, call) {
      const slice = await openSlice(root, key, call);
      if (!slice) return undefined;
      const { start, end } = slice.range;
      return { sizeBytes: end - start, etag: slice.info.etag, body: bodyOf(slice), info: slice.info };
    },
    async read(key, call) {
      const slice = await openSlice(root, key, call);
      if (!slice) return undefined;
      try {
        checkReadSize(key, slice.range.end - slice.range.start, call.maxBytes);
        return { bytes: await bytesOf(slice), etag: slice.info.etag, info: slice.info };
      } finally {
        await slice.file.close();
      }
    },
    put: (key, bytes, put) => putPieces(key, piecesOf(bytes), put),
    putStream: putPieces,
    list: (request, call) => listFiles(root, reader, request, call),
    async delete(keys, call) {
      await root.checkPresent();
      for (let at = 0; at < keys.length; at += REMOVALS_AT_ONCE) {
        const batch = keys.slice(at, at + REMOVALS_AT_ONCE);
        const removed = await Promise.all(batch.map((key) => placer.remove(key, call)));
        for (const [index, key] of batch.entries()) if (removed[index]) await root.pruneAbove(key);
      }
      checkAborted(call?.signal);
    },
    copy: (from, to, call) => copyObject(root, placer, from, to, call),
    multipart: createFileMultipart(root, placer, clock),
    close: () => root.tidy(),
  };
}

async function openRoot({
  create = false,
  mayBeMissing = false,
  root,
}: FileStoreOptions): Promise<HeldFolders> {
  if (typeof root !== 'string') {
    const { path } = root;
    return translating(path, async () => {
      const held = await root.hold('', create ? { onMake: () => {} } : {}).catch((error) => {
        throw isAbsent(error) ? missingRoot(path) : error;
      });
      held.release();
      return root;
    });
  }
  return translating(root, async () => {
    const stats = await stat(root).catch((error) => {
      if (!isAbsent(error)) throw error;
      return undefined;
    });
    if (!stats) {
      const above = await realpath(dirname(root)).catch(() => undefined);
      if (create !== true && (above === undefined || !(create || mayBeMissing))) throw missingRoot(root);
      if (!create) return createHeldFolders(join(above!, basename(root)));
      await makeFolders(root);
    } else if (!stats.isDirectory())
      throw new DrayError('usage', `${root} is a file; a remote needs a folder.`, { data: { path: root } });
    return createHeldFolders(await realpath(root));
  });
}

/** Node's own recursion reports a read-only disk as a missing folder. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    if (!isAbsent(error) || dirname(path) === path) throw error;
    await makeFolders(dirname(path));
    await makeFolders(path);
  }
}

async function headFile(
  root: FileRoot,
  key: RemoteKey,
  clock: Clock,
  call?: CallOptions,
): Promise<ObjectInfo | undefined> {
  checkAborted(call?.signal);
  const path = root.pathOf(key);
  try {
    const stats = await root.within(key, (file) => lstat(file, { bigint: true }));
    if (!stats.isFile()) return undefined;
    return { ...infoOf(key, stats), remoteTimeMs: clock.nowMs() };
  } catch (error) {
    if (!isAbsent(error)) throw toFileError(error, path);
    await root.checkPresent();
    return undefined;
  }
}

function infoOf(key: RemoteKey, stats: BigIntStats): ObjectInfo {
  const [sizeBytes, modifiedMs] = [Number(stats.size), Number(stats.mtimeMs)];
  return { key, sizeBytes, etag: etagOf(stats), modifiedMs };
}

/** The open file and the requested range of it. The caller closes it. */
async function openSlice(
  root: FileRoot,
  key: RemoteKey,
  call: GetOptions = {},
): Promise<(FileSlice & { readonly info: ObjectInfo }) | undefined> {
  checkAborted(call.signal);
  const path = root.pathOf(key);
  const file = await openToRead(root, key);
  if (!file) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) {
      await file.close();
      return undefined;
    }
    if (hasUnstatedContent(file.fd, stats.size)) throw wrongSize(path);
    const info = infoOf(key, stats);
    if (call.ifMatch !== undefined && call.ifMatch !== info.etag) {
      throw new DrayError('conflict', `${path} was replaced in the meantime.`, { data: { key, path } });
    }
    const range = resolveRange(key, info.sizeBytes, call.range);
    return { file, path, key, range, info, signal: call.signal };
  } catch (error) {
    await file.close();
    throw toFileError(error, path);
  }
}

async function openToRead(root: FileRoot, key: RemoteKey): Promise<FileHandle | undefined> {
  try {
    return await root.within(key, openNoFollow);
  } catch (error) {
    if (!isAbsent(error)) throw toFileError(error, root.pathOf(key));
    await root.checkPresent();
    return undefined;
  }
}

async function copyObject(
  root: FileRoot,
  placer: ReturnType<typeof createObjectPlacer>,
  from: CopySource,
  to: RemoteKey,
  call: CopyOptions = {},
) {
  const key = ownKeyOf(from);
  return placer.place(to, call, async (temporary) => {
    // Compared before and after the copy: the source is only ever replaced by renames, never written in
    // place.
    await checkSource(root, key, call);
    const source = await openToRead(root, key);
    if (!source) throw noSource(key);
    try {
      const stats = await source.stat();
      if (!stats.isFile()) throw noSource(key);
      if (hasUnstatedContent(source.fd, stats.size)) throw wrongSize(root.pathOf(key));
      await root.within(key, (path) => copyOpened({ source, path, temporary }));
    } finally {
      await source.close();
    }
    await checkSource(root, key, call);
    return undefined;
  });
}

/** Shares the bytes if the file system can (btrfs, XFS, APFS); otherwise copies them in the kernel. */
async function copyOpened({
  path,
  source,
  temporary,
}: {
  readonly source: FileHandle;
  readonly path: string;
  readonly temporary: TemporaryFile;
}): Promise<void> {
  const [from, to] = CAN_HOLD_FOLDERS
    ? [pathOfDescriptor(source.fd), pathOfDescriptor(temporary.file.fd)]
    : [path, temporary.path];
  await copyFile(from, to, constants.COPYFILE_FICLONE);
}

async function checkSource(root: FileRoot, key: RemoteKey, call: CopyOptions): Promise<void> {
  if (call.ifMatch === undefined) return;
  const found = await headFile(root, key, systemClock, call);
  if (!found) throw noSource(key);
  if (found.etag !== call.ifMatch) throw sourceChanged(key);
}
