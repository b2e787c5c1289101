/** What the store tells of an object's parts, by lean calls. */
import { isNotAllowed } from '../../../api/error.ts';
import type { CallOptions, ObjectParts, PartInfo } from '../../object-store.ts';
import { isAbsentKey, translateFailure } from '../answers/s3-errors.ts';
import { parsePartsPage } from '../answers/s3-xml-results.ts';
import type { LeanRequest } from '../s3-connection.ts';
import { objectPartsOf } from '../s3-values.ts';
import { exchangeXml, type Lean, requestFor } from './lean-call.ts';
import { head } from './lean-objects.ts';

/** The attribute that tells of parts. Some servers refuse a request for several at once. */
const PARTS_ATTRIBUTE = { 'x-amz-object-attributes': 'ObjectParts' };

/** @returns Undefined where the store does not know the call, does not allow it, or keeps nothing of the parts. */
export async function partsOf(
  lean: Lean,
  key: string,
  options: CallOptions,
): Promise<ObjectParts | undefined> {
  // The etag first: should the object be replaced in between, then whoever relies on it meets a conflict.
  const info = await head(lean, key, options);
  if (!info) return undefined;
  const parts: PartInfo[] = [];
  for (let marker: string | undefined; ; ) {
    const request: LeanRequest = {
      ...requestFor(lean.connection, { operation: 'GetObjectAttributes', method: 'GET', key }, options),
      query: { attributes: '' },
      headers: {
        ...PARTS_ATTRIBUTE,
        ...(marker === undefined ? {} : { 'x-amz-part-number-marker': marker }),
      },
    };
    const { xml, failure } = await exchangeXml(lean, request, 'GetObjectAttributesResponse');
    if (failure) {
      const error = translateFailure(failure, request.call, lean.connection.place);
      if (isAbsentKey(failure) || error.code === 'unsupported' || isNotAllowed(error)) return undefined;
      throw error;
    }
    const page = parsePartsPage(xml);
    parts.push(...page.parts);
    if (page.next === undefined || page.next === marker) break;
    marker = page.next;
  }
  return objectPartsOf(info.etag, parts);
}
