/** Uploads in progress. */
import { incompleteListing } from '../../listing-advance.ts';
import type { CallOptions, PendingUpload, UploadPage } from '../../object-store.ts';
import { translateFailure } from '../answers/s3-errors.ts';
import { decodeUploadMarker, type UploadMarker, uploadPageOf } from '../answers/s3-upload-page.ts';
import { decodeFormUrl } from '../answers/s3-xml.ts';
import type { S3Caller } from './s3-call.ts';
import { attemptBySdk, UNUSED_PLACE } from './sdk-call.ts';

/**
 * MinIO finds uploads by a prefix only if that is a whole key. Asked for all of the bucket's, it lists those
 * that began since its start. So where it lists none under a prefix, the bucket's are read and filtered.
 */
export async function listUploads(
  caller: S3Caller,
  { prefix, continuation }: { readonly prefix: string; readonly continuation?: string },
  options: CallOptions,
): Promise<UploadPage> {
  const { keyPrefix } = caller.connection.place;
  const wanted = keyPrefix + prefix;
  const marker = continuation === undefined ? undefined : decodeUploadMarker(continuation);
  let isWide = marker?.isWide ?? false;
  let page = await uploadsPage(caller, { prefix: isWide ? '' : wanted, marker }, options);
  if (!marker && wanted !== '' && page.uploads.length === 0 && page.isMinio) {
    isWide = true;
    page = await uploadsPage(caller, { prefix: '', marker }, options);
  }
  const next = nextOf(page, marker);
  const uploads = page.uploads
    .filter(({ key }) => key.startsWith(wanted))
    .map((upload) => ({ ...upload, key: upload.key.slice(keyPrefix.length) }));
  return uploadPageOf(uploads, { ...next, isWide });
}

/**
 * Some servers name the last upload of the last page too: what follows is read once more, and is empty.
 * @throws `remoteFailed` when more is announced from where this page began
 */
function nextOf(
  { isTruncated, key, uploadId, uploads }: RawUploadsPage,
  marker: UploadMarker | undefined,
): Pick<RawUploadsPage, 'isTruncated' | 'key' | 'uploadId'> {
  const isSame = key !== undefined && key === marker?.key && (uploadId ?? '') === marker.uploadId;
  if (isTruncated && isSame) throw incompleteListing('its next page begins where this one did');
  const isLast = !isTruncated && (isSame || uploads.length === 0);
  return { isTruncated, uploadId, key: isLast ? undefined : key };
}

/** Its keys are in full, with the remote's prefix. */
interface RawUploadsPage {
  readonly uploads: readonly PendingUpload[];
  readonly isTruncated: boolean;
  readonly key: string | undefined;
  readonly uploadId: string | undefined;
  readonly isMinio: boolean;
}

async function uploadsPage(
  caller: S3Caller,
  { prefix, marker }: { readonly prefix: string; readonly marker: UploadMarker | undefined },
  options: CallOptions,
): Promise<RawUploadsPage> {
  const call = { operation: 'ListMultipartUploads' };
  const answer = await attemptBySdk(
    caller,
    { ...call, root: 'ListMultipartUploadsResult' },
    ({ ListMultipartUploadsCommand }) =>
      new ListMultipartUploadsCommand({
        ...UNUSED_PLACE,
        EncodingType: 'url',
        Prefix: prefix,
        ...(marker ? { KeyMarker: marker.key, UploadIdMarker: marker.uploadId } : {}),
      }),
    options,
  );
  if (answer.failure) throw translateFailure(answer.failure, call, caller.connection.place);
  const { EncodingType, IsTruncated, NextKeyMarker, NextUploadIdMarker, Uploads } = answer.output;
  const decodeKey = (key: string) => (EncodingType === 'url' ? decodeFormUrl(key) : key);
  const uploads = (Uploads ?? []).map(({ Initiated, Key = '', UploadId = '' }) => ({
    key: decodeKey(Key),
    uploadId: UploadId,
    startedMs: Initiated?.getTime() ?? 0,
  }));
  return {
    uploads,
    isTruncated: IsTruncated ?? false,
    key: NextKeyMarker ? decodeKey(NextKeyMarker) : undefined,
    uploadId: NextUploadIdMarker,
    isMinio: answer.isMinio,
  };
}
