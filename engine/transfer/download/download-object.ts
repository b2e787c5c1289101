/**
 * Reads objects from a store, verified: small ones whole in memory, others as an ordered stream.
 * `download-ranges.ts` writes large ones to a file.
 */
import { DrayError } from '../../api/error.ts';
import { readChecked } from '../../base/read-checked.ts';
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
/** The largest object that is fetched in one request. */
export const WHOLE_DOWNLOAD_BYTES_MAX = 8 * MIB;

export interface WholeDownload {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /**
   * The listed etag; another state is `io` with reason `changedWhileRead`. '' accepts any state of that size.
   */
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

/**
 * @throws DrayError `damaged` when the bytes do not match the store's sums, `io` when the object changed or
 * was deleted.
 */
export async function downloadWhole(request: WholeDownload): Promise<WholeDownloaded> {
  const { etag, key, sizeBytes } = request;
  const downloaded = await readChecked(
    () => readWhole(request),
    ({ bytes, info }) => {
      if (bytes.length !== sizeBytes) throw wrongLength(key, bytes.length, sizeBytes);
      // An answer without an etag is compared with the listed one.
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
  // The etag of the answer reveals a store that ignores If-Match.
  if (read && etag !== '' && read.etag !== '' && read.etag !== etag) throw changed(key);
  if (read && etag === '' && read.bytes.length !== sizeBytes) throw changed(key);
  return read;
}

export interface CatRequest extends RangesRequest {
  /** Default: all of it. Cut at the object's end. */
  readonly range?: ByteRange;
  /** Called with one piece after the other; the callee owns a piece until it resolves. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Writes an object's bytes in order, with ranges fetched ahead. The whole is verified after its last byte; a
 * part cannot be verified.
 * @throws As `downloadInRanges`; bytes written before are then unverified.
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
  return new DrayError('damaged', `${key}: the store sent ${bytes} bytes of ${wanted}.`, {
    data: { key },
  });
}
