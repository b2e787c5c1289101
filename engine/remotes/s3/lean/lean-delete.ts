/** Removal by lean calls. */
import { createHash } from 'node:crypto';
import type { CallOptions } from '../../object-store.ts';
import { isAbsentKey, isStray } from '../answers/s3-errors.ts';
import { removalXml } from '../answers/s3-xml-requests.ts';
import { parseRemovalErrors } from '../answers/s3-xml-results.ts';
import { removeAll } from '../removal-page.ts';
import { failedCall, type LeanRequest } from '../s3-connection.ts';
import { exchangeXml, type Lean, requestFor, xmlBody } from './lean-call.ts';

export function deleteKeys(lean: Lean, keys: readonly string[], options: CallOptions): Promise<void> {
  const remover = {
    place: lean.connection.place,
    removeOne: (key: string) => deleteOne(lean, key, options),
    removePage: (page: readonly string[]) => deletePage(lean, page, options),
  };
  return removeAll(remover, keys);
}

async function deleteOne({ client, connection }: Lean, key: string, options: CallOptions): Promise<void> {
  const request = requestFor(connection, { operation: 'DELETE', method: 'DELETE', key }, options);
  const { failure } = await client.exchange(request, 0);
  if (failure && (!isAbsentKey(failure) || isStray(failure, request.call)))
    throw failedCall(failure, request.call, connection);
}

async function deletePage(lean: Lean, keys: readonly string[], options: CallOptions) {
  const { keyPrefix } = lean.connection.place;
  const body = removalXml(keys.map((key) => keyPrefix + key));
  const request: LeanRequest = {
    ...requestFor(lean.connection, { operation: 'DeleteObjects', method: 'POST' }, options),
    query: { delete: '' },
    headers: {
      'content-type': 'application/xml',
      // S3 wants a checksum here; this is the one that every S3-compatible store takes.
      'content-md5': createHash('md5').update(body).digest('base64'),
    },
    ...xmlBody(body),
  };
  const { xml, failure } = await exchangeXml(lean, request, 'DeleteResult');
  return failure ? { failure } : { errors: parseRemovalErrors(xml) };
}
