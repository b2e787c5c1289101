/** What describes an object and is given anew where its content goes on. */
import type { ObjectDescription, ObjectInfo } from './object-store.ts';

/** Without the storage class: a copy takes the default one, if none is asked for. */
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
