import type { MultipartStore, MultipartTraits } from './object-store.ts';

export function traitsOf(multipart: MultipartStore): MultipartTraits {
  const { confirmsWhole, partBytesMax, putStreamBy } = multipart;
  return {
    ...(putStreamBy ? { putStreamBy } : {}),
    ...(confirmsWhole ? { confirmsWhole } : {}),
    ...(partBytesMax === undefined ? {} : { partBytesMax }),
  };
}
