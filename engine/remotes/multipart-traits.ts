import type { MultipartStore, MultipartTraits } from './object-store.ts';

export function traitsOf(multipart: MultipartStore): MultipartTraits {
  const { carriesStreams, confirmsWhole, partBytesMax } = multipart;
  return {
    ...(carriesStreams ? { carriesStreams } : {}),
    ...(confirmsWhole ? { confirmsWhole } : {}),
    ...(partBytesMax === undefined ? {} : { partBytesMax }),
  };
}
