/** The parts of an object, as far as the store reports them. */
import type { Part } from '@aws-sdk/client-s3';
import { isNotAllowed } from '../../../api/error.ts';
import { incompleteListing } from '../../listing-advance.ts';
import type { CallOptions, ObjectParts, PartInfo } from '../../object-store.ts';
import { isAbsentKey, translateFailure } from '../answers/s3-errors.ts';
import { unquote } from '../answers/s3-xml.ts';
import { objectPartsOf, partChecksumsOf } from '../s3-values.ts';
import { head } from './objects.ts';
import type { S3Caller } from './s3-call.ts';
import { attemptBySdk, UNUSED_PLACE } from './sdk-call.ts';

/**
 * @returns Undefined where the store does not know the call, does not allow it, or keeps nothing of the
 * parts.
 */
export async function partsOf(
  caller: S3Caller,
  key: string,
  options: CallOptions,
): Promise<ObjectParts | undefined> {
  // The etag first: if the object is replaced in between, a call that relies on this etag meets a conflict.
  const info = await head(caller, key, options);
  if (!info) return undefined;
  const { place } = caller.connection;
  const parts: PartInfo[] = [];
  for (let marker: string | undefined; ; ) {
    const operation = 'GetObjectAttributes';
    const answer = await attemptBySdk(
      caller,
      { operation, key, root: 'GetObjectAttributesResponse' },
      ({ GetObjectAttributesCommand }) =>
        new GetObjectAttributesCommand({
          ...UNUSED_PLACE,
          // Some servers refuse a request for several attributes at once.
          ObjectAttributes: ['ObjectParts'],
          ...(marker === undefined ? {} : { PartNumberMarker: marker }),
        }),
      options,
    );
    if (answer.failure) {
      const error = translateFailure(answer.failure, { operation, key: place.keyPrefix + key }, place);
      if (isAbsentKey(answer.failure) || error.code === 'unsupported' || isNotAllowed(error))
        return undefined;
      throw error;
    }
    const page = answer.output.ObjectParts;
    const found = (page?.Parts ?? []).map(partInfoOf);
    parts.push(...found);
    marker = nextMarker(page ?? {}, { marker, count: found.length });
    if (marker === undefined) break;
  }
  return objectPartsOf(info.etag, parts);
}

/**
 * The last page names its last part too, so only what it says itself counts; where it does not say whether
 * more follow, one more page is read.
 * @throws `remoteFailed` when more parts are announced and cannot be read
 */
export function nextMarker(
  page: { readonly IsTruncated?: boolean | undefined; readonly NextPartNumberMarker?: string | undefined },
  { count, marker }: { readonly marker: string | undefined; readonly count: number },
): string | undefined {
  const next = page.NextPartNumberMarker;
  if (page.IsTruncated === false || (page.IsTruncated === undefined && (!Number(next) || count === 0)))
    return undefined;
  if (next !== undefined && Number(next) > Number(marker ?? 0)) return next;
  throw incompleteListing('it announces more parts and names no next one');
}

/** The etag is '' where the store does not report one. */
export function partInfoOf({ ETag, PartNumber, Size, ...sums }: Part): PartInfo {
  return {
    number: PartNumber ?? 0,
    etag: unquote(ETag ?? ''),
    sizeBytes: Size ?? 0,
    ...partChecksumsOf({
      sha256: sums.ChecksumSHA256,
      crc32: sums.ChecksumCRC32,
      crc64nvme: sums.ChecksumCRC64NVME,
    }),
  };
}
