/** Multipart uploads of the memory store. */
import { createHash } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { resolveRange } from '../byte-range.ts';
import { computeChecksum } from '../contract/compute-checksum.fixture.ts';
import { noSource, ownKeyOf, sourceChanged } from '../copy-source.ts';
import { checkKey } from '../object-key.ts';
import type {
  CreateUploadOptions,
  MultipartStore,
  MultipartUpload,
  ObjectChecksums,
  PartInfo,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from '../object-store.ts';
import { checksumsOf, partChecksum, receiveChecksum } from '../received-checksum.ts';
import { pageOfUploads } from '../upload-page.ts';
import { descriptionIn, type MemoryObject, type MemoryWrite } from './memory-object.fixture.ts';

interface Part extends PartInfo {
  readonly bytes: Uint8Array;
}

interface Upload {
  readonly key: RemoteKey;
  readonly startedMs: number;
  readonly options: CreateUploadOptions;
  readonly parts: Map<number, Part>;
}

interface Parent {
  readonly partSizeMinBytes: number;
  readonly md5Etags: boolean;
  readonly clock: Clock;
  write(key: RemoteKey, written: MemoryWrite): PutOutcome;
  find(key: RemoteKey): MemoryObject | undefined;
}

export function createMemoryMultipart(parent: Parent): MultipartStore {
  const uploads = new Map<string, Upload>();
  let created = 0;
  let sent = 0;

  /** With the checksum that it came with, or else one of the upload's kind. */
  const keep = async (
    upload: Upload,
    { bytes, number }: { readonly number: number; readonly bytes: Uint8Array },
    claimed?: PutOptions['checksum'],
  ): Promise<PartInfo> => {
    const kind = upload.options.checksum;
    const sum = claimed ?? (kind ? await computeChecksum(kind, bytes) : undefined);
    sent += 1;
    const etag = parent.md5Etags ? createHash('md5').update(bytes).digest('hex') : `p${sent}`;
    const info = { number, etag, sizeBytes: bytes.byteLength, ...partChecksum(sum) };
    upload.parts.set(number, { ...info, bytes });
    return info;
  };

  return {
    async create(key, options = {}) {
      checkAborted(options.signal);
      checkKey(key);
      created += 1;
      const startedMs = parent.clock.nowMs();
      uploads.set(`u${created}`, { key, startedMs, options, parts: new Map() });
      return `u${created}`;
    },
    async uploadPart(upload, number, bytes, options = {}) {
      uploadOf(uploads, upload, options.signal);
      const copy = new Uint8Array(bytes);
      const checksum = await receiveChecksum(options.checksum);
      checksum.update(copy);
      checksum.verify(upload.key);
      return keep(uploadOf(uploads, upload, options.signal), { number, bytes: copy }, options.checksum);
    },
    async uploadPartCopy(upload, number, source, options) {
      const found = uploadOf(uploads, upload, options?.signal);
      const key = ownKeyOf(source.key);
      const object = parent.find(key);
      if (!object) throw noSource(key);
      if (source.ifMatch !== undefined && source.ifMatch !== object.etag) throw sourceChanged(key);
      const { start, end } = resolveRange(key, object.bytes.byteLength, source.range);
      return keep(found, { number, bytes: object.bytes.subarray(start, end) });
    },
    async listParts(upload, options) {
      return sortedParts(uploadOf(uploads, upload, options?.signal).parts.values()).map(withoutBytes);
    },
    complete: (upload, parts, options = {}) => joinParts(parent, uploads, { upload, parts, options }),
    async abort(upload, options) {
      checkAborted(options?.signal);
      uploads.delete(upload.uploadId);
    },
    async listUploads(request, options) {
      checkAborted(options?.signal);
      const pending = [...uploads].map(([uploadId, { key, startedMs }]) => ({ key, uploadId, startedMs }));
      return pageOfUploads(pending, request);
    },
  };
}

function uploadOf(
  uploads: ReadonlyMap<string, Upload>,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
): Upload {
  checkAborted(signal);
  const found = uploads.get(upload.uploadId);
  if (found?.key === upload.key) return found;
  throw new DrayError('notFound', `There is no upload ${upload.uploadId} of ${upload.key}.`, {
    data: { key: upload.key, uploadId: upload.uploadId },
  });
}

async function joinParts(
  parent: Parent,
  uploads: Map<string, Upload>,
  {
    options,
    parts,
    upload,
  }: {
    readonly upload: MultipartUpload;
    readonly parts: readonly PartInfo[];
    readonly options: PutOptions;
  },
): Promise<PutOutcome> {
  const { parts: held, options: created } = uploadOf(uploads, upload, options.signal);
  const chosen = sortedParts(parts).map((part, at, all) => {
    const piece = held.get(part.number);
    if (!piece || piece.etag !== part.etag) throw invalidPart(upload, part.number, 'is not the stored one');
    if (at < all.length - 1 && piece.sizeBytes < parent.partSizeMinBytes)
      throw invalidPart(upload, part.number, 'is too small; only the last part may be');
    return piece;
  });
  if (chosen.length === 0) throw invalidPart(upload, 1, 'is missing');
  const bytes = new Uint8Array(Buffer.concat(chosen.map((part) => part.bytes)));
  const received = await receiveChecksum(options.checksum);
  received.update(bytes);
  received.verify(upload.key);
  const { checksums, ...sums } = await wholeSums(created, bytes, chosen);
  uploadOf(uploads, upload, options.signal);
  const object = { description: descriptionIn(created), parts: chosen.map(withoutBytes), ...sums };
  const outcome = parent.write(upload.key, { bytes, options, object });
  if (!outcome.written) return outcome;
  uploads.delete(upload.uploadId);
  return checksums ? { ...outcome, checksums } : outcome;
}

/** CRCs of parts are joined to the whole's. For SHA-256 the store keeps a hash of the parts' hashes. */
async function wholeSums(
  { checksum: kind }: CreateUploadOptions,
  bytes: Uint8Array,
  parts: readonly PartInfo[],
): Promise<Pick<MemoryObject, 'checksum' | 'sha256OfParts'> & { readonly checksums?: ObjectChecksums }> {
  if (kind === undefined) return {};
  if (kind !== 'sha256') {
    const checksum = await computeChecksum(kind, bytes);
    return { checksum, checksums: checksumsOf(checksum) };
  }
  const hash = createHash('sha256');
  for (const part of parts) hash.update(Buffer.from(part.sha256 ?? '', 'base64'));
  const sha256OfParts = `${hash.digest('base64')}-${parts.length}`;
  return { sha256OfParts, checksums: { covers: 'ofParts', sha256: sha256OfParts } };
}

function sortedParts<T extends PartInfo>(parts: Iterable<T>): T[] {
  return [...parts].sort((left, right) => left.number - right.number);
}

function withoutBytes({ bytes: _, ...info }: Part): PartInfo {
  return info;
}

function invalidPart(upload: MultipartUpload, number: number, fault: string): DrayError {
  return new DrayError('notFound', `Part ${number} of the upload of ${upload.key} ${fault}.`, {
    data: { key: upload.key, part: number },
  });
}
