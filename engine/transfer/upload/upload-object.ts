/**
 * Uploads one object from memory in one request, verified: by the checksum in the answer, or by an etag that
 * is the MD5; without both, by one HEAD.
 */
import { DrayError } from '../../api/error.ts';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type {
  ObjectDescription,
  ObjectStore,
  PutOptions,
  PutOutcome,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { type ConfirmedBy, confirmObject } from './confirm-object.ts';
import { matchesEtag } from './held-parts.ts';

/** The largest object that is uploaded in one request; larger ones are uploaded in parts. */
export const ONE_PUT_BYTES = 16 * 1024 * 1024;

export interface PutObjectRequest {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  readonly bytes: Uint8Array;
  readonly description?: ObjectDescription;
  readonly condition?: NonNullable<PutOptions['condition']>;
  readonly signal?: AbortSignal | undefined;
}

export interface PutObject {
  /** `written: false` when the condition did not hold. */
  readonly outcome: PutOutcome;
  /** '' when the store returns none, or nothing was written. */
  readonly etag: string;
  readonly crc64nvme: bigint;
  readonly confirmedBy?: ConfirmedBy;
}

/**
 * Stores that are known to keep the checksum of a put, though they do not return it: they refuse a wrong one.
 */
const keepersOfSums = new WeakSet<ObjectStore>();

/** @throws DrayError `damaged` when the object was damaged during the upload, and the store's errors. */
export async function putObject(request: PutObjectRequest): Promise<PutObject> {
  const { bytes, condition, description, key, signal, store } = request;
  await loadCrc64();
  const crc64nvme = crc64Nvme(bytes);
  const outcome = await store.put(key, bytes, {
    ...description,
    checksum: { crc64nvme },
    ...(condition && { condition }),
    ...(signal && { signal }),
  });
  if (!outcome.written) return { outcome, etag: '', crc64nvme };
  const { checksums, etag } = outcome;
  const done = { outcome, etag, crc64nvme };
  if (checksums?.covers === 'whole' && checksums.crc64nvme !== undefined) {
    if (checksums.crc64nvme === crc64nvme) return { ...done, confirmedBy: 'checksum' };
    throw new DrayError(
      'damaged',
      `${key} was damaged during the upload: the store computed another checksum.`,
      {
        data: { key },
      },
    );
  }
  // Another etag does not prove damage: with some kinds of encryption it only looks like an MD5.
  if (matchesEtag(etag, bytes)) return { ...done, confirmedBy: 'md5' };
  if (keepersOfSums.has(store)) return { ...done, confirmedBy: 'checksum' };
  const expected = { key, etag, sizeBytes: bytes.byteLength, sum: { crc64nvme }, signal };
  const { by, info } = await confirmObject(store, expected);
  if (by === 'checksum') keepersOfSums.add(store);
  return { ...done, etag: info.etag, confirmedBy: by };
}

export interface StreamUpload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** Read once, to its end. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly description?: ObjectDescription;
  /** Default: the store's, of which 10,000 parts hold 156 GiB. */
  readonly partSizeBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StreamUploaded {
  readonly etag: string;
  readonly sizeBytes: number;
  readonly crc64nvme: bigint;
  readonly confirmedBy?: ConfirmedBy;
}

/**
 * Uploads an object of unknown length: summed as it passes, and confirmed at the end. It cannot be resumed
 * after a crash, because the bytes read before are gone.
 */
export async function uploadStream(request: StreamUpload): Promise<StreamUploaded> {
  const { description, key, partSizeBytes, signal, store } = request;
  await loadCrc64();
  let sizeBytes = 0;
  let crc64nvme = crc64Nvme(new Uint8Array());
  const summed = async function* () {
    for await (const piece of request.body) {
      sizeBytes += piece.byteLength;
      crc64nvme = crc64Nvme(piece, crc64nvme);
      yield piece;
    }
  };
  const outcome = await store.putStream(key, summed(), {
    ...description,
    ...(partSizeBytes === undefined ? {} : { partSizeBytes }),
    ...(signal && { signal }),
  });
  const etag = outcome.written ? outcome.etag : '';
  const { by, info } = await confirmObject(store, { key, sizeBytes, sum: { crc64nvme }, etag, signal });
  return { etag: info.etag, sizeBytes, crc64nvme, confirmedBy: by };
}
