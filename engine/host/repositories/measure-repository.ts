/** Adds up the sizes of a repository's objects by listing them: one request for each 1,000 objects. */
import type { ProgressEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { openRemoteAt } from '../../jobs/session/opened-remote.ts';
import {
  COMMITS_PREFIX,
  MANIFESTS_PREFIX,
  OBJECTS_PREFIX,
  PACKS_PREFIX,
  REFS_PREFIX,
} from '../../repository/keys.ts';
import type { KnownPlace } from './known-places.ts';

const CONTENT = [OBJECTS_PREFIX, PACKS_PREFIX];
const RECORDS = [COMMITS_PREFIX, MANIFESTS_PREFIX, REFS_PREFIX];

export interface MeasuredSize {
  readonly objects: number;
  readonly bytes: number;
  /** The bytes of commits, manifests and refs. */
  readonly recordBytes: number;
}

/** Ignores other objects beside the repository. Emits progress after each page. */
export async function measureRepository(context: JobContext, { url }: KnownPlace): Promise<MeasuredSize> {
  await using remote = await openRemoteAt(context, url);
  const { meter, store } = remote;
  let objects = 0;
  let bytes = 0;
  let recordBytes = 0;
  for (const prefix of [...CONTENT, ...RECORDS]) {
    let continuation: string | undefined;
    do {
      const request = { prefix, ...(continuation === undefined ? {} : { continuation }) };
      const page = await store.list(request, { signal: context.signal });
      objects += page.objects.length;
      const sum = page.objects.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
      bytes += sum;
      if (RECORDS.includes(prefix)) recordBytes += sum;
      continuation = page.continuation;
      context.emit(progressOf(objects, bytes, meter.totals().total));
    } while (continuation !== undefined);
  }
  return { objects, bytes, recordBytes };
}

function progressOf(filesDone: number, bytesDone: number, requests: number): ProgressEvent {
  return { type: 'progress', phase: 'query', filesDone, bytesDone, isCounting: true, requests };
}
