/** Objects from a store, verified: small ones whole in memory, others as a stream in order. Large ones to a file: `download-ranges.ts`. */
import { DrayError } from '../../api/error.ts';
import { readChecked } from '../../base/read-again.ts';
import type {
  ByteRange,
  ObjectBytes,
  ObjectInfo,
  ObjectStore,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { bestSum, matchesSum } from '../compare/object-sums.ts';
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';
import { changed, vanished } from '../upload/remote-source.ts';
import { fetchRanges, type RangesRequest } from './fetch-ranges.ts';
import { createTurns, type VerifiedBy, wrongContent } from './range-check.ts';

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

/** @throws DrayError `damaged` when the bytes are not what the store vouches for, `io` when the object changed or is gone. */
export async function downloadWhole(request: WholeDownload): Promise<WholeDownloaded> {
  const { etag, key, sizeBytes } = request;
  const downloaded = await readChecked(
    () => readWhole(request),
    ({ bytes, info }) => {
      if (bytes.length !== sizeBytes) throw wrongLength(key, bytes.length, sizeBytes);
      // An answer without an etag is compared with the listing.
      const sum = bestSum(info) ?? bestSum({ ...info, etag });
      const isRight = sum && matchesSum(bytes, sum);
      if (isRight === false) throw wrongContent(key, sum!.by);
      return { bytes, info, by: isRight ? sum!.by : ('sizes' as const) };
    },
  );
  if (!downloaded) throw vanished(key);
  return downloaded;
}

async function readWhole(request: WholeDownload): Promise<ObjectBytes | undefined> {
  const { etag, into, key, limit, signal, sizeBytes, store } = request;
  const pinned = etag === '' ? {} : { ifMatch: etag };
  const call = { ...pinned, maxBytes: sizeBytes, into, checksums: true, signal };
  const read = await limit
    .run(() => store.read(key, call), { bytes: sizeBytes, signal })
    .catch((error: unknown) => {
      throw error instanceof DrayError && error.code === 'conflict' ? changed(key, error) : error;
    });
  // A store that does not honour If-Match is noticed by the etag of its answer.
  if (read && etag !== '' && read.etag !== '' && read.etag !== etag) throw changed(key);
  if (read && etag === '' && read.bytes.length !== sizeBytes) throw changed(key);
  return read;
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
