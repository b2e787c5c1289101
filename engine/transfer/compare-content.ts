/** Whether two things hold the same content, found out as cheaply as it can be proved. Nothing is downloaded unless that is asked for. */
import type { ComparedBy } from '../api/events.ts';
import type { LeasedMemory } from '../base/leased-memory.ts';
import type { ObjectInfo, ObjectStore } from '../remotes/object-store.ts';
import type { ObjectSource } from './object-source.ts';
import { type ContentHasher, createContentHasher, type ObjectSum, sumsOf } from './object-sums.ts';
import { askPartBytes, candidatePartBytes } from './part-layout.ts';

export interface Compared {
  readonly result: 'same' | 'differs' | 'uncertain';
  readonly by: ComparedBy;
}

export interface StoredObject {
  readonly store: ObjectStore;
  /** From a HEAD with checksums. */
  readonly info: ObjectInfo;
}

/**
 * By any sum that both stores keep of the whole content. Equal multipart etags prove equal content; different ones prove nothing, since
 * the parts may have been cut elsewhere.
 */
export function compareObjects(left: StoredObject, right: StoredObject): Compared {
  if (left.info.sizeBytes !== right.info.sizeBytes) return { result: 'differs', by: 'sizes' };
  const others = sumsOf(right.info);
  for (const sum of sumsOf(left.info)) {
    const other = others.find(({ by }) => by === sum.by);
    if (!other) continue;
    if (other.value === sum.value) return { result: 'same', by: sum.by };
    if (sum.by !== 'md5OfParts') return { result: 'differs', by: sum.by };
  }
  return { result: 'uncertain', by: 'sizes' };
}

export interface FileAndObject {
  /** The local side; its reads may be repeated. */
  readonly source: ObjectSource;
  readonly store: ObjectStore;
  /** Of the object, from a HEAD with checksums. */
  readonly info: ObjectInfo;
  readonly memory: LeasedMemory;
  readonly signal: AbortSignal;
}

const MIB = 1024 * 1024;
const PIECE_BYTES = 8 * MIB;
/** MD5s of so many ways to cut the file are computed in one reading. */
const CANDIDATES_MAX = 6;

/** Reads the file once. @throws DrayError `io` when it changes meanwhile. */
export async function compareFileWithObject(
  request: FileAndObject,
): Promise<Compared & { readonly readBytes: number }> {
  const { info, source } = request;
  if (source.sizeBytes !== info.sizeBytes) return { result: 'differs', by: 'sizes', readBytes: 0 };
  const [sum] = sumsOf(info);
  if (!sum) return { result: 'uncertain', by: 'sizes', readBytes: 0 };
  const { hashers, isExact } = await hashersFor(request, sum);
  if (hashers.length === 0) return { result: 'uncertain', by: 'sizes', readBytes: 0 };
  await readAll(request, hashers);
  await source.checkUnchanged();
  const readBytes = source.sizeBytes;
  if (hashers.some((hasher) => hasher.matches())) return { result: 'same', by: sum.by, readBytes };
  return isExact
    ? { result: 'differs', by: sum.by, readBytes }
    : { result: 'uncertain', by: 'sizes', readBytes };
}

/** `isExact`: when none of them matches, the content is another one. */
async function hashersFor(
  { info, signal, source, store }: FileAndObject,
  sum: ObjectSum,
): Promise<{ readonly hashers: readonly ContentHasher[]; readonly isExact: boolean }> {
  if (sum.by !== 'md5OfParts') return { hashers: [createContentHasher(sum)], isExact: true };
  const asked = await askPartBytes(store, info.key, info, sum.partCount, signal);
  if (asked !== undefined) return { hashers: [createContentHasher(sum, asked)], isExact: true };
  const guessed = candidatePartBytes(source.sizeBytes, sum.partCount).slice(0, CANDIDATES_MAX);
  return { hashers: guessed.map((partBytes) => createContentHasher(sum, partBytes)), isExact: false };
}

async function readAll(
  { memory, signal, source }: Pick<FileAndObject, 'memory' | 'signal' | 'source'>,
  hashers: readonly ContentHasher[],
): Promise<void> {
  const lease = await memory.take(Math.max(1, Math.min(PIECE_BYTES, source.sizeBytes)), signal);
  try {
    for (let start = 0; start < source.sizeBytes; start += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, source.sizeBytes - start);
      const bytes = await source.read(start, lease.bytes.subarray(0, length), signal);
      for (const hasher of hashers) hasher.update(bytes);
    }
  } finally {
    lease.release();
  }
}

/** Both read whole, side by side. */
export async function compareByReading(
  left: ObjectSource,
  right: ObjectSource,
  { memory, signal }: Pick<FileAndObject, 'memory' | 'signal'>,
): Promise<Compared & { readonly readBytes: number; readonly differsAt?: number }> {
  if (left.sizeBytes !== right.sizeBytes) return { result: 'differs', by: 'sizes', readBytes: 0 };
  const lease = await memory.take(2 * Math.max(1, Math.min(PIECE_BYTES, left.sizeBytes)), signal);
  let readBytes = 0;
  try {
    for (let start = 0; start < left.sizeBytes; start += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, left.sizeBytes - start);
      const [one, other] = await Promise.all([
        left.read(start, lease.bytes.subarray(0, length), signal),
        right.read(start, lease.bytes.subarray(length, 2 * length), signal),
      ]);
      readBytes += 2 * length;
      if (Buffer.compare(one, other) !== 0)
        return {
          result: 'differs',
          by: 'content',
          readBytes,
          differsAt: start + firstDifference(one, other),
        };
    }
  } finally {
    lease.release();
  }
  await Promise.all([left.checkUnchanged(), right.checkUnchanged()]);
  return { result: 'same', by: 'content', readBytes };
}

function firstDifference(left: Uint8Array, right: Uint8Array): number {
  let at = 0;
  while (left[at] === right[at]) at += 1;
  return at;
}
