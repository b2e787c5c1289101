/**
 * Whether two objects or files have the same content, with the cheapest proof. Downloads nothing unless asked
 * to.
 */
import type { ComparedBy } from '../../api/events.ts';
import type { LeasedMemory } from '../../base/leased-memory.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { ObjectInfo, ObjectStore } from '../../remotes/object-store.ts';
import type { ObjectSource } from '../upload/object-source.ts';
import { openContentCheck } from './content-check.ts';
import { multipartEtag, type ObjectSum, sumsOf } from './object-sums.ts';

export interface Compared {
  readonly result: 'same' | 'differs' | 'uncertain';
  readonly by: ComparedBy;
}

export interface StoredObject {
  readonly store: ObjectStore;
  /** From a HEAD with checksums. */
  readonly info: ObjectInfo;
}

const MIB = 1024 * 1024;
const PIECE_BYTES = 4 * MIB;

/**
 * Compares by any sum that both stores keep of the whole content. Equal multipart etags prove equal content;
 * different ones prove nothing, since the parts may have been cut at other offsets. An object in a single
 * part is compared with one put in one request.
 */
export function compareObjects(left: StoredObject, right: StoredObject): Compared {
  if (left.info.sizeBytes !== right.info.sizeBytes) return { result: 'differs', by: 'sizes' };
  const others = sumsOf(right.info);
  for (const sum of sumsOf(left.info)) {
    for (const other of others) {
      const compared = compareSums(sum, other);
      if (compared) return compared;
    }
  }
  const sha256 = sha256OfParts(left.info);
  if (sha256 !== undefined && sha256 === sha256OfParts(right.info)) return { result: 'same', by: 'sha256' };
  return { result: 'uncertain', by: 'sizes' };
}

/** Undefined when the two sums cannot be compared. */
function compareSums(left: ObjectSum, right: ObjectSum): Compared | undefined {
  const by = left.by === 'md5' ? right.by : left.by;
  const values = [left, right].map((sum) =>
    by === 'md5OfParts' && sum.by === 'md5' ? multipartEtag([Buffer.from(sum.value, 'hex')]) : sum.value,
  );
  const isOneKind = left.by === right.by;
  const isOnePart = [left, right].every(
    (sum) => sum.by === 'md5' || (sum.by === 'md5OfParts' && sum.partCount === 1),
  );
  if (!isOneKind && !isOnePart) return undefined;
  if (values[0] === values[1]) return { result: 'same', by };
  return by === 'md5OfParts' && !isOnePart ? undefined : { result: 'differs', by };
}

/** Like a multipart etag, but from checksums: equal values mean equal parts. */
function sha256OfParts({ checksums }: ObjectInfo): string | undefined {
  return checksums?.covers === 'ofParts' ? checksums.sha256 : undefined;
}

export interface FileAndObject {
  /** The local side; its reads can be repeated. */
  readonly source: ObjectSource;
  readonly store: ObjectStore;
  /** The object's, from a HEAD with checksums. */
  readonly info: ObjectInfo;
  readonly memory: LeasedMemory;
  readonly signal: AbortSignal;
}

/**
 * Reads the file once. CRC64NVME needs `loadCrc64`. @throws DrayError `io` when the file changes meanwhile.
 */
export async function compareFileWithObject(
  request: FileAndObject,
): Promise<Compared & { readonly readBytes: number }> {
  const { info, source } = request;
  if (source.sizeBytes !== info.sizeBytes) return { result: 'differs', by: 'sizes', readBytes: 0 };
  const check = await openContentCheck({ ...request, key: info.key });
  if (!check) return { result: 'uncertain', by: 'sizes', readBytes: 0 };
  await readInOrder(request, (bytes) => check.update(bytes));
  await source.checkUnchanged();
  const result = await check.result();
  return { result, by: result === 'uncertain' ? 'sizes' : check.by, readBytes: source.sizeBytes };
}

/** Reads one piece while the previous one is processed. */
async function readInOrder(
  { memory, signal, source }: Pick<FileAndObject, 'memory' | 'signal' | 'source'>,
  look: (bytes: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const { sizeBytes } = source;
  if (sizeBytes === 0) return;
  const lease = await memory.take(Math.min(2 * PIECE_BYTES, sizeBytes), signal);
  const readPiece = (start: number) => {
    const at = start % (2 * PIECE_BYTES);
    const length = Math.min(PIECE_BYTES, sizeBytes - start);
    return source.read(start, lease.bytes.subarray(at, at + length), signal);
  };
  let reading: Promise<Uint8Array> | undefined = readPiece(0);
  try {
    for (let next = PIECE_BYTES; reading; next += PIECE_BYTES) {
      const bytes: Uint8Array = await reading;
      reading = next < sizeBytes ? readPiece(next) : undefined;
      await look(bytes);
    }
  } finally {
    // Memory with a read in flight is not released.
    await reading?.catch(() => {});
    lease.release();
  }
}

export interface ComparedBytes extends Compared {
  /** Read from both sides together. */
  readonly readBytes: number;
  /** The offset of the first differing byte. */
  readonly differsAt?: number;
}

/** Reads both sides, several ranges at once, up to the first difference. */
export async function compareByReading(
  left: ObjectSource,
  right: ObjectSource,
  { memory, signal }: Pick<FileAndObject, 'memory' | 'signal'>,
): Promise<ComparedBytes> {
  if (left.sizeBytes !== right.sizeBytes) return { result: 'differs', by: 'sizes', readBytes: 0 };
  const tasks = new TaskSet(signal);
  let readBytes = 0;
  let differsAt = Number.POSITIVE_INFINITY;
  try {
    for (let start = 0; start < left.sizeBytes && start < differsAt; start += PIECE_BYTES) {
      tasks.check();
      const length = Math.min(PIECE_BYTES, left.sizeBytes - start);
      const lease = await memory.take(2 * length, tasks.signal);
      tasks.spawn(async () => {
        try {
          const pair = await readBoth([left, right], { start, length, into: lease.bytes }, tasks.signal);
          readBytes += 2 * length;
          if (Buffer.compare(...pair) !== 0)
            differsAt = Math.min(differsAt, start + firstDifference(...pair));
        } finally {
          lease.release();
        }
      });
    }
  } catch (error) {
    tasks.fail(error);
  }
  try {
    await tasks.settle();
  } finally {
    tasks.end();
  }
  await Promise.all([left.checkUnchanged(), right.checkUnchanged()]);
  if (differsAt < left.sizeBytes) return { result: 'differs', by: 'content', readBytes, differsAt };
  return { result: 'same', by: 'content', readBytes };
}

/** Both reads have ended when this returns or throws: their memory is released then. */
async function readBoth(
  sources: readonly [ObjectSource, ObjectSource],
  { into, length, start }: { readonly start: number; readonly length: number; readonly into: Uint8Array },
  signal: AbortSignal,
): Promise<[Uint8Array, Uint8Array]> {
  const [left, right] = await Promise.allSettled(
    sources.map((source, at) => source.read(start, into.subarray(at * length, (at + 1) * length), signal)),
  );
  if (left!.status === 'rejected') throw left!.reason;
  if (right!.status === 'rejected') throw right!.reason;
  return [left!.value, right!.value];
}

function firstDifference(left: Uint8Array, right: Uint8Array): number {
  let at = 0;
  while (left[at] === right[at]) at += 1;
  return at;
}
