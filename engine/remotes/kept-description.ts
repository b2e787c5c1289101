/** The part of an object's description that is given again when its content is written again. */
import { given } from '../api/given.ts';
import type { ObjectDescription, ObjectInfo } from './object-store.ts';

/** Without the storage class: a copy uses the default one, unless one is requested. */
export function keptDescription(info: ObjectInfo): ObjectDescription {
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage, contentType, metadata } = info;
  return given({
    contentType,
    metadata,
    cacheControl,
    contentDisposition,
    contentEncoding,
    contentLanguage,
  });
}
