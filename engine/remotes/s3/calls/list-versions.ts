/** All versions of the objects of a bucket that keeps them. */
import { checkListed, incompleteListing } from '../../listing-advance.ts';
import type { CallOptions, VersionsPage, VersionsRequest } from '../../object-store.ts';
import { readVersionsPage } from '../answers/s3-versions-page.ts';
import { failedCall } from '../s3-connection.ts';
import { exchangeXml, requestFor, type S3Caller } from './s3-call.ts';

/** @throws `unsupported` where the server does not know the call */
export async function listVersions(
  caller: S3Caller,
  { continuation, prefix }: VersionsRequest,
  options: CallOptions,
): Promise<VersionsPage> {
  const { connection } = caller;
  const { keyPrefix } = connection.place;
  const call = { operation: 'ListObjectVersions', method: 'GET' } as const;
  const query = {
    'encoding-type': 'url',
    'max-keys': '1000',
    prefix: keyPrefix + prefix,
    versions: '',
    ...(continuation && { 'key-marker': keyPrefix + continuation.key }),
    ...(continuation?.versionId !== undefined && { 'version-id-marker': continuation.versionId }),
  };
  const request = { ...requestFor(connection, call, options), query };
  const answer = await exchangeXml(caller, request, 'ListVersionsResult');
  if (answer.failure) throw failedCall(answer.failure, request.call, connection);
  const { next, versions: listed } = readVersionsPage(answer.xml);
  checkListed(
    listed.map(({ key }) => key),
    (key) => key.startsWith(keyPrefix + prefix),
  );
  const versions = listed.map((version) => ({ ...version, key: version.key.slice(keyPrefix.length) }));
  if (!next) return { versions };
  if (!next.key.startsWith(keyPrefix)) throw incompleteListing('its next page is not below the prefix');
  const key = next.key.slice(keyPrefix.length);
  if (key === continuation?.key && next.versionId === continuation.versionId)
    throw incompleteListing('its next page begins where this one did');
  return { versions, continuation: { key, ...(next.versionId && { versionId: next.versionId }) } };
}
