/** Which multipart upload goes on, or begins: the journal's row against what the store still holds. */
import { createHash } from 'node:crypto';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import type { MultipartStore, MultipartUpload, PartInfo } from '../remotes/object-store.ts';
import { DELTA_BLOCK_MAX_BYTES, PARTS_MAX, partSizeFor } from './part-size.ts';
import type { PartsUpload } from './parts-upload.ts';
import type { JournaledUpload } from './upload-journal.ts';

export interface UploadSession {
  readonly upload: MultipartUpload;
  readonly partSizeBytes: number;
  /** What the store holds from an earlier attempt, by part number. */
  readonly held: ReadonlyMap<number, PartInfo>;
  /** The source is the one that the held parts are of, so they need not be compared with it. */
  readonly isVouched: boolean;
}

/** Goes on with the journalled upload where the store still has it and it is of use, or begins one. */
export async function openSession(request: PartsUpload, multipart: MultipartStore): Promise<UploadSession> {
  const { journal, key, signal } = request;
  const journaled = journal.load(key);
  if (journaled !== undefined) {
    const upload = { key, uploadId: journaled.uploadId };
    const parts = await partsStillHeld(multipart, upload, signal);
    const fit = fitOf(request, journaled);
    if (parts !== undefined && fit !== 'none') {
      const held = new Map(parts.map((part) => [part.number, part]));
      return { upload, partSizeBytes: journaled.partSizeBytes, held, isVouched: fit === 'same' };
    }
    if (parts === undefined) journal.forget(key);
    else await abandon(request, multipart, upload);
  }
  checkAborted(signal);
  const partSizeBytes = newPartSize(request);
  const { checksum, description } = request;
  const uploadId = await multipart.create(key, { ...description, checksum, ...(signal && { signal }) });
  journal.save(key, { uploadId, partSizeBytes, token: tokenOf(request) });
  return { upload: { key, uploadId }, partSizeBytes, held: new Map(), isVouched: false };
}

/** Frees the parts on the store and forgets the upload. Never throws. */
export async function abandon(
  request: Pick<PartsUpload, 'journal' | 'key'>,
  multipart: MultipartStore,
  upload: MultipartUpload,
): Promise<void> {
  try {
    // Not under the caller's signal: what is left behind costs money whether or not somebody still waits.
    await multipart.abort(upload);
    request.journal.forget(request.key);
  } catch {
    // The row stays, so the next call tries again; the error that led here is the one to tell.
  }
}

/** A new object is cut as the one that it replaces, so that its unchanged parts can be copied. */
function newPartSize({ partSizeBytes, previous, source }: PartsUpload): number {
  const blockBytes = previous?.blockBytes ?? Number.POSITIVE_INFINITY;
  if (blockBytes <= DELTA_BLOCK_MAX_BYTES && blockBytes * PARTS_MAX >= source.sizeBytes) return blockBytes;
  return partSizeFor(source.sizeBytes, partSizeBytes);
}

/**
 * `same`: the upload is of this very source. `compare`: perhaps not, but its parts can be compared with it, by reading. `none`: it is of no
 * use: too small parts, another description (which cannot be changed any more), or a source that would have to be fetched to compare.
 */
function fitOf(request: PartsUpload, journaled: JournaledUpload): 'same' | 'compare' | 'none' {
  const { source } = request;
  if (journaled.partSizeBytes * PARTS_MAX < source.sizeBytes) return 'none';
  const isRemote = source.limit !== undefined;
  if (journaled.token === undefined) return isRemote ? 'none' : 'compare';
  if (!journaled.token.startsWith(`${describedAs(request)} `)) return 'none';
  if (source.token !== '' && journaled.token === tokenOf(request)) return 'same';
  return isRemote ? 'none' : 'compare';
}

function tokenOf(request: PartsUpload): string {
  return `${describedAs(request)} ${request.source.token}`;
}

/** Of what was fixed when the upload began. */
function describedAs({ checksum, description = {} }: PartsUpload): string {
  const { metadata = {}, ...rest } = description;
  const fields = [checksum, sorted(rest), sorted(metadata)];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 16);
}

function sorted(record: object): [string, unknown][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Undefined when the store does not know the upload any more. */
async function partsStillHeld(
  multipart: MultipartStore,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
): Promise<readonly PartInfo[] | undefined> {
  try {
    return await multipart.listParts(upload, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return undefined;
    throw error;
  }
}
