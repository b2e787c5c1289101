/** Objects from a store, verified: small ones whole in memory, others as a stream in order. Large ones to a file: `download-ranges.ts`. */
import { DrayError } from '../api/error.ts';
import type { ByteRange, ObjectBytes, ObjectInfo, ObjectStore, RemoteKey } from '../remotes/object-store.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import { fetchRanges, type RangesRequest } from './fetch-ranges.ts';
import { bestSum, matchesSum } from './object-sums.ts';
import { createTurns, type VerifiedBy, wrongContent } from './range-check.ts';
import { changed, vanished } from './remote-source.ts';

const MIB = 1024 * 1024;
/** Objects of at most so much come in one request. */
export const WHOLE_BYTES_MAX = 8 * MIB;

export interface WholeDownload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** As it was listed; another state is `io` with reason `changedWhileRead`. '' takes what is there, if it fits. */
  readonly etag: string;
  readonly sizeBytes: number;
  /** Room for `sizeBytes`. */
  readonly into: Uint8Array;
  readonly limit: AdaptiveLimit;
  readonly signal: AbortSignal;
}

export interface WholeDownloaded {
  /** Usually in `into`. */
  readonly bytes: Uint8Array;
  readonly info: ObjectInfo;
  readonly by: VerifiedBy;
}

/** What was damaged on the way is not damaged twice. */
const ATTEMPTS_MAX = 2;

/** @throws DrayError `damaged` when the bytes are not what the store vouches for, `io` when the object changed or is gone. */
export async function downloadWhole(request: WholeDownload): Promise<WholeDownloaded> {
  for (let attempt = 1; ; attempt += 1) {
    const { bytes, info } = await readWhole(request);
    const sum = bestSum(info);
    const isRight = sum && matchesSum(bytes, sum);
    if (isRight !== false) return { bytes, info, by: isRight ? sum!.by : 'sizes' };
    if (attempt === ATTEMPTS_MAX) throw wrongContent(request.key, sum!.by);
  }
}

async function readWhole(request: WholeDownload): Promise<ObjectBytes> {
  const { etag, into, key, limit, signal, sizeBytes, store } = request;
  const pinned = etag === '' ? {} : { ifMatch: etag };
  const call = { ...pinned, maxBytes: sizeBytes, into, checksums: true, signal };
  const read = await limit
    .run(() => store.read(key, call), { bytes: sizeBytes, signal })
    .catch((error: unknown) => {
      throw error instanceof DrayError && error.code === 'conflict' ? changed(key, error) : error;
    });
  if (!read) throw vanished(key);
  // A store that does not honour If-Match is noticed by the etag of its answer.
  if (etag !== '' && read.etag !== '' && read.etag !== etag) throw changed(key);
  if (read.bytes.length === sizeBytes) return read;
  throw etag === '' ? changed(key) : wrongLength(key, read.bytes.length, sizeBytes);
}

export interface CatRequest extends RangesRequest {
  /** Default: all of it. Cut at the object's end. */
  readonly range?: ByteRange;
  /** Called with one piece after the other, which are the callee's until it resolves. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

/**
 * An object's bytes in order, ranges fetched ahead. All of it is checked once its last byte is out; nothing vouches for a part of it.
 * @throws As `downloadInRanges`; what was written until then is not to be relied on.
 */
export async function catObject(
  request: CatRequest,
): Promise<{ readonly bytes: number; readonly by: VerifiedBy }> {
  const { info, range, write } = request;
  const start = Math.min(range?.start ?? 0, info.sizeBytes);
  const end = Math.max(start, Math.min(range?.end ?? info.sizeBytes, info.sizeBytes));
  const turns = createTurns();
  const by = await fetchRanges(request, { start, end }, ({ pass, read, signal }) => {
    const turn = turns.next();
    return (async () => {
      const bytes = await read();
      await pass(bytes, signal);
      await turn(signal, () => write(bytes));
    })();
  });
  return { bytes: end - start, by };
}

function wrongLength(key: RemoteKey, bytes: number, wanted: number): DrayError {
  return new DrayError('damaged', `${key}: the store sent ${bytes} bytes of the ${wanted} that it has.`, {
    data: { key },
  });
}
