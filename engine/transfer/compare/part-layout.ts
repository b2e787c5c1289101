/**
 * The part sizes of a multipart object: from the store, or guessed from its size and the number of its parts.
 */
import pLimit from 'p-limit';
import { toDrayError } from '../../api/error.ts';
import type { ObjectInfo, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';

const MIB = 1024 * 1024;
const MB = 1_000_000;
/**
 * The part sizes of common tools: the AWS SDKs and command line, rclone, s5cmd, MinIO's client, Cyberduck and
 * others.
 */
const USUAL_BYTES: readonly number[] = [
  5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 512,
].flatMap((size) => [size * MIB, size * MB]);

const HEADS_AT_ONCE = 8;

export interface PartedObject {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** From a HEAD with checksums; the parts must belong to this very object. */
  readonly info: ObjectInfo;
  readonly signal: AbortSignal;
}

/**
 * The size of all parts but the last, if they are equal. One request. Undefined when the store does not
 * answer.
 */
export async function askPartBytes(object: PartedObject, partCount: number): Promise<number | undefined> {
  const { info } = object;
  if (partCount === 1) return info.sizeBytes;
  const first = await askPart(object, 1);
  if (first?.partCount !== partCount) return undefined;
  return isPartSize(first.sizeBytes, info.sizeBytes, partCount) ? first.sizeBytes : undefined;
}

/**
 * Whether all parts but the last have this size. One request for each part but the first and the last, so
 * only for important cases.
 */
export async function arePartsEqual(
  object: PartedObject,
  { partBytes, partCount }: { readonly partBytes: number; readonly partCount: number },
): Promise<boolean> {
  const numbers = Array.from({ length: Math.max(0, partCount - 2) }, (_, at) => at + 2);
  let areEqual = true;
  await pLimit(HEADS_AT_ONCE).map(numbers, async (number) => {
    if (!areEqual) return;
    const part = await askPart(object, number);
    if (part?.sizeBytes !== partBytes) areEqual = false;
  });
  return areEqual;
}

async function askPart(
  { info, key, signal, store }: PartedObject,
  number: number,
): Promise<ObjectInfo | undefined> {
  try {
    const part = await store.head(key, { partNumber: number, signal });
    return part?.etag === info.etag ? part : undefined;
  } catch (error) {
    // Some stores forget the parts after completion; then their sizes stay unknown.
    const { code, retry } = toDrayError(error);
    if (retry === 'no' && code !== 'aborted' && code !== 'internal') return undefined;
    throw error;
  }
}

/** Sizes that give this number of parts: usual ones first, then the even division, rounded. */
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
