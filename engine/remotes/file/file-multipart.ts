/**
 * Multipart uploads in a folder: `.dray-tmp/uploads/<id>/` with `upload.json` and one file per part, named by
 * its number and put there by a rename. A part's etag is its file's etag. Beside it is the checksum that it
 * came with, if any, with the etag of its file: a checksum of an earlier sending of the part does not match
 * and is never used. A file there is used only if Dray may have made it: a plain file of this user with one
 * name. No link is followed.
 */
import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { HeldFolder } from '../../base/held-folders.ts';
import { resolveRange } from '../byte-range.ts';
import { noSource, ownKeyOf, sourceChanged } from '../copy-source.ts';
import type {
  CallOptions,
  MultipartStore,
  MultipartUpload,
  PartInfo,
  PendingUpload,
  PutOptions,
  PutOutcome,
  RemoteKey,
  UploadId,
} from '../object-store.ts';
import { partChecksum } from '../received-checksum.ts';
import { pageOfUploads } from '../upload-page.ts';
import { bodyOf, piecesOf } from './file-bytes.ts';
import { isAbsent, translating } from './file-errors.ts';
import { etagOf, stamp } from './file-etag.ts';
import { areaPath, type FileRoot, isOwnFile, openNoFollow, removeUpload } from './file-root.ts';
import type { ObjectPlacer } from './object-placer.ts';
import { writeReceived } from './received-file.ts';

/** The most that their names can count. S3 has 10,000. */
const PARTS_MAX = 99_999;

interface PartSource extends Pick<PutOptions, 'checksum' | 'signal'> {
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

interface Parent {
  readonly root: FileRoot;
  readonly placer: ObjectPlacer;
  readonly clock: Clock;
}

export function createFileMultipart(root: FileRoot, placer: ObjectPlacer, clock: Clock): MultipartStore {
  const parent = { root, placer, clock };
  return {
    create: async (key, options) => {
      checkAborted(options?.signal);
      return translating(root.pathOf(key), () => createUpload(root, key));
    },
    uploadPart: (upload, number, bytes, options = {}) =>
      translating(root.path, () => keepPart(parent, upload, number, { ...options, pieces: piecesOf(bytes) })),
    uploadPartCopy: (upload, number, source, options) =>
      translating(root.path, () => copyPart(parent, upload, number, { ...options, ...source })),
    listParts: (upload, options) =>
      translating(root.path, () => inUpload(root, upload, options?.signal, listParts)),
    complete: (upload, parts, options = {}) =>
      translating(root.path, () => joinParts(parent, upload, parts, options)),
    abort: (upload, options) =>
      translating(root.path, async () => {
        checkAborted(options?.signal);
        const folder = await holdUpload(root, upload);
        if (!folder) return;
        folder.release();
        await dropUpload(root, upload.uploadId);
      }),
    listUploads: (request, options) =>
      translating(root.path, async () => {
        checkAborted(options?.signal);
        await root.checkPresent();
        return pageOfUploads(await pendingUploads(root), request);
      }),
  };
}

async function createUpload(root: FileRoot, key: RemoteKey): Promise<UploadId> {
  const uploadId = randomUUID();
  const uploads = await root.area('uploads');
  try {
    await mkdir(uploads.at(uploadId));
    using folder = await root.hold(areaPath('uploads', uploadId));
    await writeFile(folder.at('upload.json'), JSON.stringify({ key }), { flag: 'wx' });
  } finally {
    uploads.release();
  }
  return uploadId;
}

/** Runs work while the upload's folder is held. */
async function inUpload<T>(
  root: FileRoot,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
  work: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
  checkAborted(signal);
  using folder = await holdUpload(root, upload);
  if (!folder)
    throw new DrayError('notFound', `There is no upload ${upload.uploadId} of ${upload.key}.`, {
      data: { key: upload.key, uploadId: upload.uploadId },
    });
  return await work(folder);
}

async function dropUpload(root: FileRoot, uploadId: string): Promise<void> {
  using uploads = await root.hold(areaPath('uploads'));
  await removeUpload(root, uploads, uploadId);
}

function keepPart(
  { clock, root }: Parent,
  upload: MultipartUpload,
  number: number,
  source: PartSource,
): Promise<PartInfo> {
  return inUpload(root, upload, source.signal, async (folder) => {
    checkPartNumber(number);
    await using temporary = await root.newTemporary();
    const part = await writePart(temporary.file, { key: upload.key, number, source, clock });
    const path = folder.at(partName(number));
    await rename(temporary.path, path);
    if (source.checksum) await replaceFile(root, `${path}.json`, JSON.stringify(part, sumsAsText));
    return part;
  });
}

async function copyPart(
  parent: Parent,
  upload: MultipartUpload,
  number: number,
  source: Parameters<MultipartStore['uploadPartCopy']>[2] & CallOptions,
): Promise<PartInfo> {
  const { root } = parent;
  const { ifMatch, signal } = source;
  checkAborted(signal);
  const key = ownKeyOf(source.key);
  const path = root.pathOf(key);
  const file = await root.within(key, openNoFollow).catch((error) => {
    throw isAbsent(error) ? noSource(key) : error;
  });
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw noSource(key);
    if (ifMatch !== undefined && ifMatch !== etagOf(stats)) throw sourceChanged(key);
    const range = resolveRange(key, Number(stats.size), source.range);
    const pieces = bodyOf({ file, path, key, range, signal });
    return await keepPart(parent, upload, number, { pieces, ...(signal ? { signal } : {}) });
  } finally {
    await file.close().catch(() => {});
  }
}

function joinParts(
  { placer, root }: Parent,
  upload: MultipartUpload,
  parts: readonly PartInfo[],
  options: PutOptions,
): Promise<PutOutcome> {
  return inUpload(root, upload, options.signal, async (folder) => {
    const ordered = [...parts].sort((a, b) => a.number - b.number);
    const held = new Map((await listParts(folder)).map((part) => [part.number, part.etag]));
    const missing = ordered.find((part) => held.get(part.number) !== part.etag);
    if (missing || ordered.length === 0) throw invalidPart(upload, missing?.number ?? 1);
    const outcome = await placer.place(upload.key, options, ({ file }) =>
      writeReceived(file, partBytes(folder, upload, ordered), upload.key, options),
    );
    if (outcome.written) await dropUpload(root, upload.uploadId);
    return outcome;
  });
}

async function writePart(
  file: FileHandle,
  {
    clock,
    key,
    number,
    source,
  }: { readonly key: string; readonly number: number; readonly source: PartSource; readonly clock: Clock },
): Promise<PartInfo> {
  try {
    await writeReceived(file, source.pieces, key, source);
    await stamp(file, clock);
    await file.sync();
    const stats = await file.stat({ bigint: true });
    return { number, etag: etagOf(stats), sizeBytes: Number(stats.size), ...partChecksum(source.checksum) };
  } finally {
    await file.close();
  }
}

/** Never writes through a link at its name. */
async function replaceFile(root: FileRoot, path: string, text: string): Promise<void> {
  await using temporary = await root.newTemporary();
  try {
    await temporary.file.writeFile(text);
  } finally {
    await temporary.file.close();
  }
  await rename(temporary.path, path);
}

/** All of them: they are few, and their folders have random names. */
async function pendingUploads(root: FileRoot): Promise<readonly PendingUpload[]> {
  const ids = await root
    .within(areaPath('uploads'), (path) => readdir(path))
    .catch((error) => {
      if (isAbsent(error)) return [];
      throw error;
    });
  const found: PendingUpload[] = [];
  for (const uploadId of ids.filter((id) => UPLOAD_ID.test(id))) {
    const upload = await readUpload(root, uploadId);
    if (!upload) continue;
    upload.folder.release();
    found.push({ key: upload.key, uploadId, startedMs: upload.startedMs });
  }
  return found;
}

const UPLOAD_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const partName = (number: number): string => String(number).padStart(5, '0');

/** Undefined if there is no such upload, or it belongs to another key. The caller releases the folder. */
async function holdUpload(
  root: FileRoot,
  { key, uploadId }: MultipartUpload,
): Promise<HeldFolder | undefined> {
  root.pathOf(key);
  if (!UPLOAD_ID.test(uploadId)) return undefined;
  const upload = await readUpload(root, uploadId);
  if (upload?.key === key) return upload.folder;
  upload?.folder.release();
  return undefined;
}

interface FoundUpload {
  readonly key: string;
  readonly startedMs: number;
  readonly folder: HeldFolder;
}

async function readUpload(root: FileRoot, uploadId: string): Promise<FoundUpload | undefined> {
  let folder: HeldFolder;
  try {
    folder = await root.hold(areaPath('uploads', uploadId));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const record = await readRecord(folder, 'upload.json').catch((error) => {
    folder.release();
    throw error;
  });
  if (typeof record?.fields.key === 'string')
    return { key: record.fields.key, startedMs: record.mtimeMs, folder };
  folder.release();
  return undefined;
}

/** The largest record is that of an upload, which contains its key. */
const RECORD_BYTES_MAX = 16 * 1024;

/** A small JSON file; undefined if it is missing, cut off by a crash, or not Dray's own. */
async function readRecord(
  folder: HeldFolder,
  name: string,
): Promise<{ readonly fields: Readonly<Record<string, unknown>>; readonly mtimeMs: number } | undefined> {
  const found = await openOwn(folder, name);
  if (!found) return undefined;
  const { file, stats } = found;
  try {
    if (stats.size > RECORD_BYTES_MAX) return undefined;
    const fields: unknown = JSON.parse(await file.readFile('utf8'));
    if (typeof fields !== 'object' || fields === null) return undefined;
    return { fields: fields as Record<string, unknown>, mtimeMs: Number(stats.mtimeMs) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

/** A file of Dray's own, open for reading. The caller closes it. */
async function openOwn(
  folder: HeldFolder,
  name: string,
): Promise<{ readonly file: FileHandle; readonly stats: BigIntStats } | undefined> {
  let file: FileHandle;
  try {
    file = await openNoFollow(folder.at(name));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  try {
    const stats = await file.stat({ bigint: true });
    if (isOwnFile(stats, await lstat(folder.at('')))) return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** A link or another user's file is not a part. */
async function listParts(folder: HeldFolder): Promise<readonly PartInfo[]> {
  const names = (await readdir(folder.at(''))).filter((name) => /^\d{5}$/.test(name)).sort();
  const owner = await lstat(folder.at(''));
  const parts: PartInfo[] = [];
  for (const name of names) {
    const stats = await lstat(folder.at(name), { bigint: true });
    if (!isOwnFile(stats, owner)) continue;
    const part = { number: Number(name), etag: etagOf(stats), sizeBytes: Number(stats.size) };
    parts.push({ ...part, ...(await storedChecksum(folder, name, part.etag)) });
  }
  return parts;
}

/** JSON has no 64-bit numbers. */
function sumsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

async function storedChecksum(
  folder: HeldFolder,
  name: string,
  etag: string,
): Promise<Pick<PartInfo, 'sha256' | 'crc32' | 'crc64nvme'>> {
  // No checksum was given, or a crash cut the record off: the part counts as one without.
  const stored = (await readRecord(folder, `${name}.json`))?.fields;
  if (!stored || stored.etag !== etag) return {};
  if (typeof stored.sha256 === 'string') return { sha256: stored.sha256 };
  if (typeof stored.crc64nvme === 'string' && /^\d{1,20}$/.test(stored.crc64nvme))
    return { crc64nvme: BigInt(stored.crc64nvme) };
  return typeof stored.crc32 === 'number' ? { crc32: stored.crc32 } : {};
}

/** Checks each part again once it is open: another file may have taken its name since the listing. */
async function* partBytes(
  folder: HeldFolder,
  upload: MultipartUpload,
  parts: readonly PartInfo[],
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const name = partName(part.number);
    const found = await openOwn(folder, name);
    if (!found) throw invalidPart(upload, part.number);
    const { file, stats } = found;
    if (etagOf(stats) !== part.etag) {
      await file.close();
      throw invalidPart(upload, part.number);
    }
    yield* bodyOf({ file, path: name, key: upload.key, range: { start: 0, end: Number(stats.size) } });
  }
}

function checkPartNumber(number: number): void {
  if (Number.isInteger(number) && number >= 1 && number <= PARTS_MAX) return;
  throw new DrayError('usage', `Part numbers go from 1 to ${PARTS_MAX}. ${number} is not one of them.`);
}

function invalidPart(upload: MultipartUpload, number: number): DrayError {
  return new DrayError('notFound', `Part ${number} of the upload of ${upload.key} is not the stored one.`, {
    data: { key: upload.key, part: number },
  });
}
