/** Which multipart upload goes on, or begins: the journal's row against what the store still holds. */
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
  /** Absent where nothing could be found out about parts of an earlier attempt: the upload cannot go on after a crash. */
  readonly journal?: UploadJournal | undefined;
  readonly checksum: JoinedChecksumKind;
  readonly sizeBytes: number;
  /** Of the source; '' vouches for nothing. */
  readonly token: string;
  /** Parts of an earlier attempt can be compared with the source at little cost. */
  readonly isComparable: boolean;
  /** Begin in `plain` mode, in parts of this size. */
  readonly copiesPartsOf?: number | undefined;
  /** Otherwise: a wish. */
  readonly partSizeBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadSession {
  readonly upload: MultipartUpload;
  readonly partSizeBytes: number;
  /** What the store holds from an earlier attempt, by part number. */
  readonly held: ReadonlyMap<number, PartInfo>;
  /** The source is the one that the held parts are of, so they need not be compared with it. */
  readonly isVouched: boolean;
  /**
   * `summed`: each part and the whole are sent under their checksums, and the store keeps the whole's. `plain`: without, as copied
   * parts want it. In an upload with CRC64NVME, MinIO refuses to copy a part (it finds no checksum for it), and versitygw
   * takes the checksum of the whole source for that of the part, and refuses the completion. Without, AWS and versitygw keep a
   * CRC64NVME of the whole all the same, and MinIO's etags are MD5s.
   */
  readonly mode: UploadMode;
}

export type UploadMode = 'summed' | 'plain';

/** Goes on with the journalled upload where the store still has it and it is of use, or begins one. */
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

/** Frees the parts on the store and forgets the upload. Never throws. */
export async function abandon(
  request: Pick<SessionRequest, 'journal' | 'key'>,
  multipart: MultipartStore,
  upload: MultipartUpload,
): Promise<void> {
  try {
    // Not under the caller's signal: what is left behind costs money whether or not somebody still waits.
    await multipart.abort(upload);
    request.journal?.forget(request.key);
  } catch {
    // The row stays, so the next call tries again; the error that led here is the one to tell.
  }
}

/**
 * Whether the upload is of this very source (`isVouched`) or at least one whose parts can be compared with it, by reading. Undefined: it is of no
 * use: parts too small or too large, another description (which cannot be changed any more), or a source that would have to be fetched to compare.
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
  // What is not read here is copied by the store, and copied parts do not go with a checksum.
  if (mode === 'summed' && copiesPartsOf !== undefined && !isComparable) return undefined;
  const isVouched = request.token !== '' && rest.join(' ') === request.token;
  return isVouched || isComparable ? { isVouched, mode } : undefined;
}

const MODES: readonly UploadMode[] = ['summed', 'plain'];

/** Of what was fixed when the upload began. */
function describedAs({ checksum, description = {} }: SessionRequest, mode: UploadMode): string {
  const { metadata = {}, ...rest } = description;
  const fields = [mode === 'summed' ? checksum : 'plain', sorted(rest), sorted(metadata)];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 16);
}

function sorted(record: object): [string, unknown][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1));
}

/** `gone`: the store does not know the upload any more. `untold`: these keys may not ask for it, and so have to begin anew. */
async function partsStillHeld(
  multipart: MultipartStore,
  upload: MultipartUpload,
  signal: AbortSignal | undefined,
): Promise<readonly PartInfo[] | 'gone' | 'untold'> {
  try {
    return await multipart.listParts(upload, signal ? { signal } : {});
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return 'gone';
    if (isNotAllowed(error)) return 'untold';
    throw error;
  }
}
