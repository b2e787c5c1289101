/** Uploads under way, by lean calls. */
import type { CallOptions, UploadPage } from '../../object-store.ts';
import { translateFailure } from '../answers/s3-errors.ts';
import { decodeUploadMarker, type UploadMarker, uploadPageOf } from '../answers/s3-upload-page.ts';
import { parseUploadsPage, type RawUploadsPage } from '../answers/s3-xml-results.ts';
import type { LeanRequest } from '../s3-connection.ts';
import { exchangeXml, type Lean, requestFor } from './lean-call.ts';

/**
 * MinIO knows uploads by a prefix only if that is a whole key; asked for all of the bucket's, it tells those that began since
 * it was started. So where it tells none under a prefix, the bucket's are gone through.
 */
export async function listUploads(
  lean: Lean,
  { prefix, continuation }: { readonly prefix: string; readonly continuation?: string },
  options: CallOptions,
): Promise<UploadPage> {
  const { keyPrefix } = lean.connection.place;
  const wanted = keyPrefix + prefix;
  const marker = continuation === undefined ? undefined : decodeUploadMarker(continuation);
  let isWide = marker?.isWide ?? false;
  let page = await uploadsPage(lean, { prefix: isWide ? '' : wanted, marker }, options);
  if (!marker && wanted !== '' && page.uploads.length === 0 && page.isMinio) {
    isWide = true;
    page = await uploadsPage(lean, { prefix: '', marker }, options);
  }
  const uploads = page.uploads
    .filter(({ key }) => key.startsWith(wanted))
    .map((upload) => ({ ...upload, key: upload.key.slice(keyPrefix.length) }));
  return uploadPageOf(uploads, { ...page, isWide });
}

/** @param page `prefix` and the marker's key in full, with the remote's prefix. */
async function uploadsPage(
  lean: Lean,
  { prefix, marker }: { readonly prefix: string; readonly marker: UploadMarker | undefined },
  options: CallOptions,
): Promise<RawUploadsPage & { readonly isMinio: boolean }> {
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'ListMultipartUploads', method: 'GET' }, options),
    query: {
      'encoding-type': 'url',
      ...(marker ? { 'key-marker': marker.key } : {}),
      prefix,
      ...(marker ? { 'upload-id-marker': marker.uploadId } : {}),
      uploads: '',
    },
  };
  const answer = await exchangeXml(lean, request, 'ListMultipartUploadsResult');
  if (answer.failure) throw translateFailure(answer.failure, request.call, lean.connection.place);
  return { ...parseUploadsPage(answer.xml), isMinio: answer.isMinio };
}
