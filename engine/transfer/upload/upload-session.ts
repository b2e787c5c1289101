/**
 * Decides which multipart upload to resume, or begins one: compares the journal's row with the parts on the
 * store.
 */
import { createHash } from 'node:crypto';
import { DrayError, isNotAllowed } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type {
  MultipartStore,
  MultipartUpload,
  ObjectDescription,
  PartInfo,
  RemoteKey,
} from '../../remotes/object-store.ts';
import type { JoinedChecksumKind } from '../compare/part-sums.ts';
import { canBeParts, partSizeFor } from './part-size.ts';
import type { JournaledUpload, UploadJournal } from './upload-journal.ts';

export interface SessionRequest {
  readonly key: RemoteKey;
  readonly description?: ObjectDescription | undefined;
  /**
   * Absent when parts of an earlier attempt could not be identified: the upload cannot be resumed after a
   * crash.
   */
  readonly journal?: UploadJournal | undefined;
  readonly checksum: JoinedChecksumKind;
  readonly sizeBytes: number;
  /** The token of the source; '' identifies nothing. */
  readonly token: string;
  /** Parts of an earlier attempt can be compared with the source at little cost. */
  readonly isComparable: boolean;
  /** Begin in `plain` mode, in parts of this size. */
  readonly copiesPartsOf?: number | undefined;
  /** Otherwise: a preference. */
  readonly partSizeBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadSession {
  readonly upload: MultipartUpload;
  readonly partSizeBytes: number;
  /** The parts on the store from an earlier attempt, by part number. */
  readonly held: ReadonlyMap<number, PartInfo>;
  /** The held parts are of this very source, so they need not be compared with it. */
  readonly isVouched: boolean;
  /**
   * `summed`: each part and the whole are sent under their checksums, and the store keeps the whole's.
   * `plain`: without checksums, as copied parts need. In an upload with CRC64NVME, MinIO refuses to copy a
   * part (it finds no checksum for it), and versitygw uses the checksum of the whole source as that of the
   * part, and refuses the completion. In plain mode, AWS and versitygw still keep a CRC64NVME of the whole,
   * and MinIO's etags are MD5s.
   */
  readonly mode: UploadMode;
}

export type UploadMode = 'summed' | 'plain';

/** Resumes the journaled upload if the store still has it and it is useful, or begins one. */
export async function openUploadSession(
  request: SessionRequest,
  multipart: MultipartStore,
): Promise<UploadSession> {
  const { journal, key, signal } = request;
  const journaled = journal?.load(key);
  if (journaled !== undefined) {
    const upload = { key, uploadId: journaled.uploadId };
    const parts = await partsStillHeld(multipart, upload, signal);
    const fit = fitOf(request, multipart, journaled);
    if (typeof parts !== 'string' && fit !== undefined) {
      const held = new Map(parts.map((part) => [part.number, part]));
      return { upload, partSizeBytes: journaled.partSizeBytes, held, ...fit };
    }
    if (parts === 'gone') journal?.forget(key);
    else await abandon(request, multipart, upload);
  }
  checkAborted(signal);
  return beginSession(request, multipart);
}

async function beginSession(request: SessionRequest, multipart: MultipartStore): Promise<UploadSession> {
  const { checksum, copiesPartsOf, description, journal, key, signal } = request;
  const mode = copiesPartsOf === undefined ? 'summed' : 'plain';
  const partSizeBytes =
    copiesPartsOf ?? partSizeFor(request.sizeBytes, request.partSizeBytes, multipart.partBytesMax);
  const uploadId = await multipart.create(key, {
    ...description,
    ...(mode === 'summed' && { checksum }),
    sizeBytes: request.sizeBytes,
    partSizeBytes,
    ...(signal && { signal }),
  });
  journal?.save(key, { uploadId, partSizeBytes, token: `${describedAs(request, mode)} ${request.token}` });
  return { upload: { key, uploadId }, partSizeBytes, held: new Map(), isVouched: false, mode };
}

/** Frees the parts on the store and removes the upload from the journal. Never throws. */
export async function abandon(
  request: Pick<SessionRequest, 'journal' | 'key'>,
  multipart: MultipartStore,
  upload: MultipartUpload,
): Promise<void> {
  try {
    // Not under the caller's signal: leftover parts cost money even if nobody waits.
    await multipart.abort(upload);
    request.journal?.forget(request.key);
  } catch {
    // The row stays, so the next call tries again; the original error is the one to report.
  }
}

/**
 * Whether the upload is of this very source (`isVouched`) or at least one whose parts can be compared with it
 * by reading. Undefined: it is useless. Its parts are too small or too large, it has another description
 * (which cannot be changed), or the source would have to be fetched for the comparison.
 */
function fitOf(
  request: SessionRequest,
  multipart: MultipartStore,
  { partSizeBytes, token }: JournaledUpload,
): Pick<UploadSession, 'isVouched' | 'mode'> | undefined {
  const { copiesPartsOf, isComparable, sizeBytes } = request;
  if (!canBeParts(partSizeBytes, sizeBytes, multipart)) return undefined;
  if (token === undefined) return isComparable ? { isVouched: false, mode: 'summed' } : undefined;
  const [described, ...rest] = token.split(' ');
  const mode = MODES.find((each) => describedAs(request, each) === described);
  if (mode === undefined) return undefined;
  // A part that is not read here is copied by the store, and copied parts have no checksum.
  if (mode === 'summed' && copiesPartsOf !== undefined && !isComparable) return undefined;
  const isVouched = request.token !== '' && rest.join(' ') === request.token;
  return isVouched || isComparable ? { isVouched, mode } : undefined;
}

const MODES: readonly UploadMode[] = ['summed', 'plain'];

/** The properties that were fixed when the upload began. */
function describedAs({ checksum, description = {} }: SessionRequest, mode: UploadMode): string {
  const { metadata = {}, ...rest } = description;
  const fields = [mode === 'summed' ? checksum : 'plain', sorted(rest), sorted(metadata)];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 16);
}

function sorted(record: object): [string, unknown][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1));
}

/**
 * `gone`: the store no longer knows the upload. `unlisted`: these keys may not list its parts, so the upload
 * starts again.
 */
async function partsStillHeld(
  multipart: MultipartStore,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
): Promise<readonly PartInfo[] | 'gone' | 'unlisted'> {
  try {
    return await multipart.listParts(upload, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return 'gone';
    if (isNotAllowed(error)) return 'unlisted';
    throw error;
  }
}
