/** `dray uploads list|abort URL`: multipart uploads that were begun and never ended, whoever began them. Their parts cost storage. */
import { DrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs.ts';
import type { UploadsRequest, UploadsSummary } from '../api/trees.ts';
import type { MultipartStore, MultipartUpload, PartInfo } from '../remotes/object-store.ts';
import { parseNamedPlace } from './open-side.ts';
import { connectPlace, nameOfPlace } from './places.ts';
import { addTotals } from './tree-sides.ts';

export async function uploads(context: JobContext, request: UploadsRequest): Promise<UploadsSummary> {
  const place = parseNamedPlace(context, request);
  if (place.kind === 'local')
    throw new DrayError('usage', `${place.text} is a local path, where no uploads are pending.`);
  // A single object's uploads are named by its own key, so what is asked for is a prefix of keys, with or without a slash.
  const { limit, meter, store } = await connectPlace(context, place, {
    at: place.isFolderForm ? 'place' : 'parent',
  });
  const { signal } = context;
  try {
    const { multipart } = store;
    const counts = { uploads: 0, aborted: 0 };
    const summary = () => ({ place: place.text, ...counts, requests: addTotals([meter]) });
    if (!multipart) return summary();
    const prefix = place.isFolderForm ? '' : nameOfPlace(place);
    for (let continuation: string | undefined; ; ) {
      const page = await multipart.listUploads(
        { prefix, ...(continuation === undefined ? {} : { continuation }) },
        { signal },
      );
      const due = page.uploads.filter(
        ({ startedMs }) => startedMs < (request.olderThanMs ?? Number.POSITIVE_INFINITY),
      );
      await Promise.all(
        due.map(async (upload) => {
          const parts = await limit.run(() => partsOf(multipart, upload, signal), { bytes: 0, signal });
          if (request.abort) {
            await limit.run(() => multipart.abort(upload, { signal }), { bytes: 0, signal });
            counts.aborted += 1;
          }
          counts.uploads += 1;
          context.emit({
            type: 'upload',
            path: upload.key,
            uploadId: upload.uploadId,
            started: new Date(upload.startedMs).toISOString(),
            parts: parts.length,
            bytes: parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
          });
        }),
      );
      continuation = page.continuation;
      if (continuation === undefined) return summary();
    }
  } finally {
    await store.close();
  }
}

/** None for one that has ended meanwhile. */
async function partsOf(
  multipart: MultipartStore,
  upload: MultipartUpload,
  signal: AbortSignal,
): Promise<readonly PartInfo[]> {
  try {
    return await multipart.listParts(upload, { signal });
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return [];
    throw error;
  }
}
