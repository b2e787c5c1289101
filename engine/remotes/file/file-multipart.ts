/**
 * Multipart uploads in a folder: `.dray-tmp/uploads/<id>/` with `upload.json` and one file for each part, named by its
 * number, each put there by a rename. A part's etag is its file's. Beside it lies the checksum that it came with, if any,
 * with the etag of the file that it belongs to: a checksum left by an earlier sending of the part is so never believed.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { resolveRange } from '../byte-range.ts';
import { noSource, ownKeyOf, sourceChanged } from '../copy-source.ts';
import type {
  MultipartStore,
  MultipartUpload,
  PartInfo,
  PendingUpload,
  PutOptions,
} from '../object-store.ts';
import { partChecksum, receiveChecksum } from '../received-checksum.ts';
import { pageOfUploads } from '../upload-page.ts';
import { bodyOf, fillFile, piecesOf } from './file-bytes.ts';
import { isAbsent, systemCode, translating } from './file-errors.ts';
import { etagOf, stamp } from './file-etag.ts';
import type { FileRoot } from './file-root.ts';
import type { ObjectPlacer } from './object-placer.ts';
import { writeReceived } from './received-file.ts';

/** What their names can count. S3 has 10,000. */
const PARTS_MAX = 99_999;

interface PartSource {
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly signal: AbortSignal | undefined;
  readonly checksum?: PutOptions['checksum'];
}

export function createFileMultipart(root: FileRoot, placer: ObjectPlacer, clock: Clock): MultipartStore {
  const folderOf = async (upload: MultipartUpload, signal: AbortSignal | undefined): Promise<string> => {
    checkAborted(signal);
    const folder = await findUpload(root, upload);
    if (folder !== undefined) return folder;
    throw new DrayError('notFound', `There is no upload ${upload.uploadId} of ${upload.key}.`, {
      data: { key: upload.key, uploadId: upload.uploadId },
    });
  };

  const keepPart = async (upload: MultipartUpload, number: number, source: PartSource): Promise<PartInfo> => {
    checkPartNumber(number);
    const folder = await folderOf(upload, source.signal);
    const path = join(folder, partName(number));
    const temp = `${path}.${randomUUID()}`;
    try {
      const checksum = await receiveChecksum(source.checksum);
      const file = await fillFile(await open(temp, 'wx+'), source.pieces, source.signal, checksum.update);
      try {
        checksum.verify(upload.key);
        await stamp(file, clock);
        await file.sync();
        const stats = await file.stat({ bigint: true });
        const part = {
          number,
          etag: etagOf(stats),
          sizeBytes: Number(stats.size),
          ...partChecksum(source.checksum),
        };
        await rename(temp, path);
        if (source.checksum) await writeFile(`${path}.json`, JSON.stringify(part, sumsAsText));
        return part;
      } finally {
        await file.close();
      }
    } finally {
      await rm(temp, { force: true });
    }
  };

  return {
    async create(key, options) {
      checkAborted(options?.signal);
      return translating(root.pathOf(key), async () => {
        const uploadId = randomUUID();
        const folder = join(await root.area('uploads'), uploadId);
        await mkdir(folder);
        await writeFile(join(folder, 'upload.json'), JSON.stringify({ key }));
        return uploadId;
      });
    },
    uploadPart: (upload, number, bytes, options = {}) =>
      translating(root.path, () =>
        keepPart(upload, number, { ...options, pieces: piecesOf(bytes), signal: options.signal }),
      ),
    uploadPartCopy: (upload, number, source, options) =>
      translating(root.path, async () => {
        await folderOf(upload, options?.signal);
        const key = ownKeyOf(source.key);
        const path = root.pathOf(key);
        const file = await open(path, 'r').catch((error) => {
          if (!isAbsent(error)) throw error;
          throw noSource(key);
        });
        try {
          const stats = await file.stat({ bigint: true });
          if (source.ifMatch !== undefined && source.ifMatch !== etagOf(stats)) throw sourceChanged(key);
          const range = resolveRange(key, Number(stats.size), source.range);
          const slice = { file, path, key, range, signal: options?.signal };
          return await keepPart(upload, number, { pieces: bodyOf(slice), signal: options?.signal });
        } finally {
          await file.close().catch(() => {});
        }
      }),
    listParts: (upload, options) =>
      translating(root.path, async () => listParts(await folderOf(upload, options?.signal))),
    complete: (upload, parts, options = {}) =>
      translating(root.path, async () => {
        const folder = await folderOf(upload, options.signal);
        const ordered = [...parts].sort((a, b) => a.number - b.number);
        const held = new Map((await listParts(folder)).map((part) => [part.number, part.etag]));
        const missing = ordered.find((part) => held.get(part.number) !== part.etag);
        if (missing || ordered.length === 0) throw invalidPart(upload, missing?.number ?? 1);
        const outcome = await placer.place(upload.key, options, (path) =>
          writeReceived(root, path, partBytes(folder, ordered), upload.key, options),
        );
        if (outcome.written) await rm(folder, { recursive: true, force: true });
        return outcome;
      }),
    abort: (upload, options) =>
      translating(root.path, async () => {
        checkAborted(options?.signal);
        const folder = await findUpload(root, upload);
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      }),
    listUploads: (request, options) =>
      translating(root.path, async () => {
        checkAborted(options?.signal);
        await root.checkPresent();
        return pageOfUploads(await pendingUploads(root), request);
      }),
  };
}

/** All of them: they are few, and their folders are named at random. */
async function pendingUploads(root: FileRoot): Promise<readonly PendingUpload[]> {
  const ids = await readdir(root.pathIn('uploads', '')).catch((error) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  const found: PendingUpload[] = [];
  for (const uploadId of ids.filter((id) => UPLOAD_ID.test(id))) {
    const path = join(root.pathIn('uploads', uploadId), 'upload.json');
    const key = await uploadKeyOf(path);
    const stats = key === undefined ? undefined : await lstat(path).catch(() => undefined);
    if (key !== undefined && stats) found.push({ key, uploadId, startedMs: stats.mtimeMs });
  }
  return found;
}

const UPLOAD_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const partName = (number: number): string => String(number).padStart(5, '0');

/** Undefined when there is no such upload, or it is of another key. */
async function findUpload(root: FileRoot, upload: MultipartUpload): Promise<string | undefined> {
  root.pathOf(upload.key);
  if (!UPLOAD_ID.test(upload.uploadId)) return undefined;
  const folder = root.pathIn('uploads', upload.uploadId);
  return (await uploadKeyOf(join(folder, 'upload.json'))) === upload.key ? folder : undefined;
}

async function uploadKeyOf(path: string): Promise<string | undefined> {
  try {
    const record: { key?: unknown } = JSON.parse(await readFile(path, 'utf8'));
    return typeof record.key === 'string' ? record.key : undefined;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function listParts(folder: string): Promise<readonly PartInfo[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{5}$/.test(name)).sort();
  const parts: PartInfo[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const stats = await lstat(path, { bigint: true });
    const part = { number: Number(name), etag: etagOf(stats), sizeBytes: Number(stats.size) };
    parts.push({ ...part, ...(await storedChecksum(path, part.etag)) });
  }
  return parts;
}

/** JSON has no numbers of 64 bits. */
function sumsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

async function storedChecksum(
  path: string,
  etag: string,
): Promise<Pick<PartInfo, 'sha256' | 'crc32' | 'crc64nvme'>> {
  try {
    const stored: Readonly<Record<string, unknown>> = JSON.parse(await readFile(`${path}.json`, 'utf8'));
    if (stored.etag !== etag) return {};
    if (typeof stored.sha256 === 'string') return { sha256: stored.sha256 };
    if (typeof stored.crc64nvme === 'string') return { crc64nvme: BigInt(stored.crc64nvme) };
    return typeof stored.crc32 === 'number' ? { crc32: stored.crc32 } : {};
  } catch (error) {
    // None was given, or a crash cut the record off: the part is as good as one without.
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

async function* partBytes(folder: string, parts: readonly PartInfo[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const path = join(folder, partName(part.number));
    const file = await open(path, 'r');
    yield* bodyOf({ file, path, key: path, range: { start: 0, end: part.sizeBytes } });
  }
}

function checkPartNumber(number: number): void {
  if (Number.isInteger(number) && number >= 1 && number <= PARTS_MAX) return;
  throw new DrayError('usage', `Part numbers go from 1 to ${PARTS_MAX}, and ${number} is none.`);
}

function invalidPart(upload: MultipartUpload, number: number): DrayError {
  return new DrayError('notFound', `Part ${number} of the upload of ${upload.key} is not the one held.`, {
    data: { key: upload.key, part: number },
  });
}
