/** Where an object in parts was cut: asked of the store, or guessed from its size and the number of its parts. */
import type { ObjectInfo, ObjectStore, RemoteKey } from '../remotes/object-store.ts';

const MIB = 1024 * 1024;
const MB = 1_000_000;
/** What tools are known to cut at: the AWS SDKs and command line, rclone, s5cmd, MinIO's client, Cyberduck and others. */
const USUAL_BYTES: readonly number[] = [
  5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 512,
].flatMap((size) => [size * MIB, size * MB]);

/**
 * The size of all parts but the last, if they have one. One request. Undefined where the store does not tell.
 * @param info As a HEAD told it; the parts must be of this very object.
 */
export async function askPartBytes(
  store: ObjectStore,
  key: RemoteKey,
  info: Pick<ObjectInfo, 'etag' | 'sizeBytes'>,
  partCount: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (partCount === 1) return info.sizeBytes;
  const first = await store.head(key, { partNumber: 1, signal });
  if (!first || first.etag !== info.etag || first.partCount !== partCount) return undefined;
  return isPartSize(first.sizeBytes, info.sizeBytes, partCount) ? first.sizeBytes : undefined;
}

/** Sizes that give the number of parts, usual ones first, then the one that rounds evenly. */
export function candidatePartBytes(sizeBytes: number, partCount: number): readonly number[] {
  const even = Math.ceil(sizeBytes / partCount);
  const wholeMib = Math.ceil(even / MIB) * MIB;
  const candidates = [...USUAL_BYTES, wholeMib, even].filter((size) =>
    isPartSize(size, sizeBytes, partCount),
  );
  return [...new Set(candidates)];
}

function isPartSize(partBytes: number, sizeBytes: number, partCount: number): boolean {
  return partBytes > 0 && Math.ceil(sizeBytes / partBytes) === partCount;
}
