/** `dray uploads list|abort URL`: unfinished multipart uploads of any program. Their parts cost storage. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { UploadsRequest, UploadsSummary } from '../../api/jobs/trees.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { MultipartStore, PartInfo, PendingUpload } from '../../remotes/object-store.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { parseNamedPlace } from '../places/open-side.ts';
import { nameOfPlace, openPlace, type RemotePlace } from '../places/places.ts';
import { type RepositoryCache, refuseRepositoryAbove } from '../places/repository-guard.ts';
import { addTotals } from '../session/traffic.ts';

export async function uploads(context: JobContext, request: UploadsRequest): Promise<UploadsSummary> {
  const place = parseNamedPlace(context, request);
  if (place.kind === 'local')
    throw new DrayError('usage', `${place.text} is a local path, which has no pending uploads.`);
  // An upload of a single object has exactly that key; those of a folder start with its name and a slash, so
  // that `data` does not match `data-2024/x`.
  await using remote = await openPlace(context, place, {
    at: place.isFolderForm ? 'place' : 'parent',
  });
  const { limit, meter, store } = remote;
  const meters: Meter[] = [];
  const visit = new UploadVisit(context, request, {
    limit,
    guard: createUploadGuard(context, place, { request, meters }),
  });
  if (store.multipart) await visit.all(store.multipart, place.isFolderForm ? undefined : nameOfPlace(place));
  return { place: place.text, ...visit.counts, requests: addTotals([meter, ...meters]) };
}

/** Handles one page of the listing at a time, and the uploads of a page in parallel. */
class UploadVisit {
  readonly counts = { uploads: 0, aborted: 0 };
  readonly #context: JobContext;
  readonly #request: UploadsRequest;
  readonly #limit: AdaptiveLimit;
  readonly #guard: UploadGuard;

  constructor(
    context: JobContext,
    request: UploadsRequest,
    { guard, limit }: { readonly guard: UploadGuard; readonly limit: AdaptiveLimit },
  ) {
    this.#context = context;
    this.#request = request;
    this.#limit = limit;
    this.#guard = guard;
  }

  /** @param name An object or a folder; absent: all. */
  async all(multipart: MultipartStore, name: string | undefined): Promise<void> {
    const { signal } = this.#context;
    const prefix = name ?? '';
    const isMeant = (key: string) => name === undefined || key === name || key.startsWith(`${name}/`);
    const before = this.#request.olderThanMs ?? Number.POSITIVE_INFINITY;
    for (let continuation: string | undefined; ; ) {
      const page = await multipart.listUploads(
        { prefix, ...(continuation === undefined ? {} : { continuation }) },
        { signal },
      );
      const meant = page.uploads.filter(({ key, startedMs }) => startedMs < before && isMeant(key));
      if (this.#request.abort) for (const { key } of meant) await this.#guard(key);
      const tasks = new TaskSet(signal);
      for (const upload of meant) tasks.spawn(() => this.#one(multipart, upload, tasks.signal));
      await tasks.settle();
      tasks.end();
      continuation = page.continuation;
      if (continuation === undefined) return;
    }
  }

  async #one(multipart: MultipartStore, upload: PendingUpload, signal: AbortSignal): Promise<void> {
    const ask = <T>(task: () => Promise<T>) => this.#limit.run(task, { bytes: 0, signal });
    const parts = await unlessEnded(ask(() => multipart.listParts(upload, { signal })));
    if (!parts) return;
    if (this.#request.abort) {
      await ask(() => multipart.abort(upload, { signal }));
      this.counts.aborted += 1;
    }
    this.counts.uploads += 1;
    this.#emitUpload(upload, parts);
  }

  #emitUpload({ key: path, startedMs, uploadId }: PendingUpload, parts: readonly PartInfo[]): void {
    const bytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const started = new Date(startedMs).toISOString();
    this.#context.emit({ type: 'upload', path, uploadId, started, parts: parts.length, bytes });
  }
}

/** @throws `conflict` for an upload at the key of a repository, which a push may be writing */
type UploadGuard = (key: string) => Promise<void>;

/** A request for each folder of the bucket that holds an upload, and for those above it. */
function createUploadGuard(
  context: JobContext,
  place: RemotePlace,
  { meters, request }: { readonly request: UploadsRequest; readonly meters: Meter[] },
): UploadGuard {
  const cache: RepositoryCache = new Map();
  const { prefix } = place.url;
  const root = place.isFolderForm ? prefix : prefix.slice(0, -nameOfPlace(place).length).replace(/\/$/, '');
  return (key) => {
    const path = root === '' ? key : `${root}/${key}`;
    const object: RemotePlace = { ...place, isFolderForm: false, url: { ...place.url, prefix: path } };
    return refuseRepositoryAbove(context, object, { allowed: request.allowRepositories, cache, meters });
  };
}

/** Undefined when the upload has ended meanwhile. */
async function unlessEnded<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DrayError && error.code === 'notFound') return undefined;
    throw error;
  }
}
