/**
 * Fetches a stretch of an object, or all of it, by one request, and processes its bytes piece by piece as
 * they arrive.
 */
import { markAsUntransferable } from 'node:worker_threads';
import { DrayError } from '../../api/error.ts';
import { Budget } from '../../base/budget.ts';
import type { LeasedMemory } from '../../base/leased-memory.ts';
import { TaskSet } from '../../base/task-set.ts';
import type {
  BodyMemory,
  ByteRange,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  RemoteKey,
} from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../limit/adaptive-limit.ts';
import { changed, vanished } from '../upload/remote-source.ts';

const MIB = 1024 * 1024;
/**
 * Large enough that a message to another thread costs little, small enough to stay in a processor's cache.
 */
const PIECE_BYTES = MIB;
/** One is filled, and the others are on their way to disk. */
const PIECES = 4;
const DONE = Promise.resolve();

export interface Stretch {
  readonly store: ObjectStore;
  readonly key: RemoteKey;
  /** With an etag: the only accepted state. */
  readonly info: Pick<ObjectInfo, 'etag' | 'sizeBytes'>;
  readonly range: ByteRange;
  readonly limit: AdaptiveLimit;
  readonly memory: LeasedMemory;
  readonly signal: AbortSignal;
  /**
   * Called with one piece after the other, in order, without waiting for earlier ones. The callee owns the
   * bytes until it resolves. The signal also fires when another piece has failed.
   */
  readonly take: (offset: number, bytes: Uint8Array, signal: AbortSignal) => Promise<void>;
}

/**
 * Resolves when all pieces were processed. One request, and one more for the rest each time that the
 * connection breaks.
 * @throws DrayError `io` with reason `changedWhileRead` or `vanished`, `damaged` when the store sends another
 * number of bytes, and the errors of `take` and of reading. Nothing accesses the memory afterwards.
 */
export async function fetchStretch(stretch: Stretch): Promise<void> {
  const { limit, memory, range, signal } = stretch;
  const lease = await memory.take(PIECES * PIECE_BYTES, signal);
  const tasks = new TaskSet(signal);
  try {
    const work = { bytes: range.end - range.start, signal: tasks.signal };
    await limit.run(() => receive(stretch, createRing(lease.bytes), tasks), work);
  } catch (error) {
    tasks.fail(isConflict(error) ? changed(stretch.key, error) : error);
  }
  try {
    await tasks.settle();
  } finally {
    tasks.end();
    lease.release();
  }
}

async function receive(stretch: Stretch, ring: BodyMemory, tasks: TaskSet): Promise<void> {
  const { range, take } = stretch;
  const body = await open(stretch, ring, tasks.signal);
  const room = new Budget(PIECES);
  let at = range.start;
  try {
    for await (const bytes of body) {
      const offset = at;
      at += bytes.byteLength;
      if (at > range.end) break;
      // Several callees read them at once: none may move them to another thread.
      if (bytes.buffer instanceof ArrayBuffer) markAsUntransferable(bytes.buffer);
      const permit = await room.acquire(1, tasks.signal);
      tasks.spawn(() =>
        (bytes.byteLength === 0 ? DONE : take(offset, bytes, tasks.signal)).finally(() => {
          ring.giveBack(bytes);
          permit.release();
        }),
      );
    }
  } finally {
    body.destroy();
  }
  tasks.check();
  if (at !== range.end) throw wrongLength(stretch.key, range, at - range.start);
}

async function open(stretch: Stretch, ring: BodyMemory, signal: AbortSignal): Promise<ObjectRead['body']> {
  const { info, key, range, store } = stretch;
  // Servers send whole objects with less work than the same bytes as a range.
  const isWhole = range.start === 0 && range.end === info.sizeBytes;
  const part = isWhole ? {} : { range };
  const read = await store.get(key, { ifMatch: info.etag, ...part, memory: ring, isResumed: true, signal });
  if (!read) throw vanished(key);
  // The etag of the answer reveals a store that ignores If-Match. A chunked answer has no size.
  const { sizeBytes } = read.info;
  const isSame =
    sizeBytes === info.sizeBytes
      ? ['', info.etag].includes(read.etag)
      : Number.isNaN(sizeBytes) && read.etag === info.etag;
  if (isSame) return read.body;
  read.body.destroy();
  throw changed(key);
}

/**
 * Ignores memory of others. The piece that was returned last is given out first: the processor's cache still
 * holds it.
 */
function createRing(memory: Uint8Array): BodyMemory {
  const { buffer, byteOffset } = memory;
  const pieceAt = (offset: number) => new Uint8Array(buffer, offset, PIECE_BYTES);
  const free = Array.from({ length: PIECES }, (_, at) => pieceAt(byteOffset + at * PIECE_BYTES));
  let waiting: (() => void) | undefined;
  return {
    take: () => free.pop(),
    onRoom(listener) {
      waiting = listener;
    },
    giveBack(bytes) {
      if (bytes.buffer !== buffer) return;
      free.push(pieceAt(bytes.byteOffset));
      const listener = waiting;
      waiting = undefined;
      listener?.();
    },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'conflict';
}

function wrongLength(key: RemoteKey, { end, start }: ByteRange, bytes: number): DrayError {
  const message = `${key}: the store sent ${bytes} bytes of the ${end - start} asked for.`;
  return new DrayError('damaged', message, { data: { key } });
}
