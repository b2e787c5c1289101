/** All versions of the objects of a bucket that keeps them. */
import type { DeleteMarkerEntry } from '@aws-sdk/client-s3';
import { comparePaths } from '../../../model/entry.ts';
import type { CallOptions, ListedVersion, VersionsPage, VersionsRequest } from '../../object-store.ts';
import { incompleteListing } from '../answers/s3-list-page.ts';
import { decodeFormUrl, unquote } from '../answers/s3-xml.ts';
import type { S3Caller } from './s3-call.ts';
import { sendBySdk, UNUSED_PLACE } from './sdk-call.ts';

/** The answer has two lists, each in order. Of one key, only their times say which comes first. */
function inOrder(kept: readonly ListedVersion[], deleted: readonly ListedVersion[]): ListedVersion[] {
  const merged: ListedVersion[] = [];
  let at = 0;
  for (const version of kept) {
    for (; at < deleted.length && isBefore(deleted[at]!, version); at += 1) merged.push(deleted[at]!);
    merged.push(version);
  }
  return [...merged, ...deleted.slice(at)];
}

function isBefore(left: ListedVersion, right: ListedVersion): boolean {
  const byKey = comparePaths(left.key, right.key);
  if (byKey !== 0) return byKey < 0;
  if (left.isLatest !== right.isLatest) return left.isLatest;
  return left.modifiedMs > right.modifiedMs;
}

/** @throws `unsupported` where the server does not know the call */
export async function listVersions(
  caller: S3Caller,
  { continuation, prefix }: VersionsRequest,
  options: CallOptions,
): Promise<VersionsPage> {
  const { keyPrefix } = caller.connection.place;
  const output = await sendBySdk(
    caller,
    { operation: 'ListObjectVersions', root: 'ListVersionsResult' },
    ({ ListObjectVersionsCommand }) =>
      new ListObjectVersionsCommand({
        ...UNUSED_PLACE,
        EncodingType: 'url',
        Prefix: keyPrefix + prefix,
        ...(continuation && {
          KeyMarker: keyPrefix + continuation.key,
          ...(continuation.versionId !== undefined && { VersionIdMarker: continuation.versionId }),
        }),
      }),
    options,
  );
  const keyOf = (text: string) =>
    (output.EncodingType === 'url' ? decodeFormUrl(text) : text).slice(keyPrefix.length);
  const { DeleteMarkers = [], NextKeyMarker, NextVersionIdMarker, Versions = [] } = output;
  const describe = ({ IsLatest, Key = '', LastModified, VersionId = 'null' }: DeleteMarkerEntry) => ({
    key: keyOf(Key),
    versionId: VersionId,
    isLatest: IsLatest ?? false,
    modifiedMs: LastModified?.getTime() ?? 0,
  });
  const kept = Versions.map((version): ListedVersion => {
    const content = { sizeBytes: version.Size ?? 0, etag: unquote(version.ETag ?? '') };
    return { ...describe(version), content };
  });
  const versions = inOrder(kept, DeleteMarkers.map(describe));
  if (!output.IsTruncated) return { versions };
  if (NextKeyMarker === undefined) throw incompleteListing('it names no next page');
  const next = { key: keyOf(NextKeyMarker), versionId: NextVersionIdMarker };
  if (next.key === continuation?.key && next.versionId === continuation.versionId)
    throw incompleteListing('its next page begins where this one did');
  const { key, versionId } = next;
  return { versions, continuation: { key, ...(versionId && { versionId }) } };
}
