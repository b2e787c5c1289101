/** The continuation of a listing of uploads: S3 names the last one of a page by its key and its id. */
import { DrayError } from '../../../api/error.ts';
import { incompleteListing } from '../../listing-advance.ts';
import type { PendingUpload, UploadPage } from '../../object-store.ts';

export interface UploadMarker {
  /** In full, with the remote's prefix. */
  readonly key: string;
  readonly uploadId: string;
  /** The listing goes over the whole bucket, and what lies outside the prefix is left out here. */
  readonly isWide?: boolean;
}

export function uploadPageOf(
  uploads: readonly PendingUpload[],
  next: {
    readonly isTruncated: boolean;
    readonly key: string | undefined;
    readonly uploadId: string | undefined;
    readonly isWide?: boolean;
  },
): UploadPage {
  if (next.key === undefined) {
    if (next.isTruncated) throw incompleteListing('it announces more uploads and names no next page');
    return { uploads };
  }
  const isWide = next.isWide ?? false;
  const marker: UploadMarker = { key: next.key, uploadId: next.uploadId ?? '', isWide };
  return { uploads, continuation: Buffer.from(JSON.stringify(marker)).toString('base64url') };
}

export function decodeUploadMarker(continuation: string): UploadMarker {
  try {
    const { key, uploadId, isWide } = JSON.parse(Buffer.from(continuation, 'base64url').toString());
    if (typeof key === 'string' && typeof uploadId === 'string') return { key, uploadId, isWide };
  } catch {
    // Set below.
  }
  throw new DrayError('usage', 'This continuation does not belong to this listing.');
}
