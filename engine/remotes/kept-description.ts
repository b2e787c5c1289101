/** The part of an object's description that is given again when its content is written again. */
import type { ObjectDescription, ObjectInfo } from './object-store.ts';

/** Without the storage class: a copy uses the default one, unless one is requested. */
export function keptDescription(info: ObjectInfo): ObjectDescription {
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage, contentType, metadata } = info;
  return {
    ...(contentType === undefined ? {} : { contentType }),
    ...(metadata ? { metadata } : {}),
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...(contentDisposition === undefined ? {} : { contentDisposition }),
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
    ...(contentLanguage === undefined ? {} : { contentLanguage }),
  };
}
