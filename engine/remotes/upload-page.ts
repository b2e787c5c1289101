/** One page of the running uploads, for stores that hold them all in a list. */
import { comparePaths } from '../model/entry.ts';
import { decodeContinuation, encodeContinuation } from './list-continuation.ts';
import type { PendingUpload, UploadPage } from './object-store.ts';

const UPLOADS_MAX = 1000;

/** @param uploads In any order. Returned by key, then by id. */
export function pageOfUploads(
  uploads: readonly PendingUpload[],
  request: { readonly prefix: string; readonly continuation?: string },
): UploadPage {
  const after =
    request.continuation === undefined ? undefined : decodeContinuation(request.continuation).last;
  const rest = uploads
    .filter((upload) => upload.key.startsWith(request.prefix))
    .filter((upload) => after === undefined || comparePaths(placeOf(upload), after) > 0)
    .sort((left, right) => comparePaths(placeOf(left), placeOf(right)));
  const page = rest.slice(0, UPLOADS_MAX);
  return {
    uploads: page,
    ...(rest.length > page.length ? { continuation: encodeContinuation(placeOf(page.at(-1)!)) } : {}),
  };
}

/** No key contains a NUL, so this orders by key first. */
function placeOf({ key, uploadId }: PendingUpload): string {
  return `${key}\0${uploadId}`;
}
