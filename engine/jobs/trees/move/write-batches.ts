/**
 * Sends small files to the tree writer's threads, many in one message: a message of a hundred files costs as
 * much as one of a single file. A batch is sent when it is full, or when no file has come for a moment.
 */
import { fromErrorRecord } from '../../../api/error.ts';
import type { Lease, LeasedMemory } from '../../../base/leased-memory.ts';
import type {
  PackedFile,
  TreeWriter,
  WriteResult,
  WrittenStat,
} from '../../../files/write/tree-writer-types.ts';

/** Bytes of a batch, unless it has a single larger file. */
export const WRITER_BATCH_BYTES = 1024 * 1024;
const BATCH_FILES = 128;
/** Files up to this size share a batch. */
export const BATCHED_BYTES_MAX = 64 * 1024;
const PATIENCE_MS = 2;

export interface WriteBatches {
  /** Copies the bytes. Resolves when the file is in place; rejects with the writer's error. */
  write(file: Omit<PackedFile, 'offset'>, bytes: Uint8Array): Promise<WrittenStat>;
  /** Sends waiting files. */
  flush(): void;
}

interface Waiting {
  readonly file: PackedFile;
  readonly resolve: (stat: WrittenStat) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly lease: Lease;
  readonly waiting: Waiting[];
  filledBytes: number;
}

export function createWriteBatches(
  writer: TreeWriter,
  memory: LeasedMemory,
  signal: AbortSignal,
): WriteBatches {
  let batch: Batch | undefined;
  let opening: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const send = async ({ lease, waiting }: Batch): Promise<void> => {
    try {
      const results = await writer.writeMany(
        lease.bytes,
        waiting.map(({ file }) => file),
      );
      for (const [at, each] of waiting.entries()) settle(each, results[at]!);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    } finally {
      lease.release();
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const full = batch;
    batch = undefined;
    if (full) void send(full);
  };
  /**
   * @param bytes Size of the file that needs room. A file that grew since it was listed may need a batch of
   * its own.
   */
  const open = async (bytes: number) => {
    const lease = await memory.take(Math.max(WRITER_BATCH_BYTES, bytes), signal);
    batch = { lease, waiting: [], filledBytes: 0 };
  };
  const roomIn = (bytes: number): Batch | undefined =>
    batch && batch.filledBytes + bytes <= batch.lease.bytes.length ? batch : undefined;
  const openNext = (bytes: number): Promise<void> => {
    flush();
    opening ??= open(bytes).finally(() => {
      opening = undefined;
    });
    return opening;
  };
  /**
   * Call in the same tick as the room check: other callers wait for the same batch and may fill or send it.
   */
  const put = (to: Batch, file: Omit<PackedFile, 'offset'>, bytes: Uint8Array): Promise<WrittenStat> => {
    const offset = to.filledBytes;
    to.lease.bytes.set(bytes, offset);
    to.filledBytes += bytes.length;
    const written = new Promise<WrittenStat>((resolve, reject) => {
      to.waiting.push({ file: { ...file, offset }, resolve, reject });
    });
    if (to.waiting.length >= BATCH_FILES) flush();
    else timer ??= setTimeout(flush, PATIENCE_MS);
    return written;
  };
  return {
    async write(file, bytes) {
      for (;;) {
        const to = roomIn(bytes.length);
        if (to) return put(to, file, bytes);
        await openNext(bytes.length);
      }
    },
    flush,
  };
}

function settle({ resolve, reject }: Waiting, result: WriteResult): void {
  if ('stat' in result) resolve(result.stat);
  else reject(fromErrorRecord(result.error));
}
