/** Cuts a buffer of many files into tasks, so that all threads have work and an abort takes effect soon. */
import type { PackedFile } from './tree-writer-types.ts';

export interface FileBatch {
  readonly bytes: Uint8Array;
  /** The position of `bytes` in the buffer that the items' offsets refer to. */
  readonly bytesStart: number;
  readonly items: readonly PackedFile[];
}

const BATCH_FILES_MAX = 512;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Items come out in the order of their offsets. A buffer that needs no cut is passed on as it is, so that it
 * can move to a thread, as is shared memory; otherwise each batch gets a copy of its range.
 */
export function cutBatches(bytes: Uint8Array, items: readonly PackedFile[]): FileBatch[] {
  const sorted = items.toSorted((a, b) => a.offset - b.offset);
  const runs: PackedFile[][] = [];
  let run: PackedFile[] = [];
  for (const item of sorted) {
    const isFull = run.length === BATCH_FILES_MAX || endOf(item) - (run[0] ?? item).offset > BATCH_BYTES_MAX;
    if (isFull && run.length > 0) {
      runs.push(run);
      run = [];
    }
    run.push(item);
  }
  if (run.length > 0) runs.push(run);
  if (runs.length <= 1) return runs.map((only) => ({ bytes, bytesStart: 0, items: only }));
  return runs.map((part) => copyRange(bytes, part));
}

function copyRange(bytes: Uint8Array, items: readonly PackedFile[]): FileBatch {
  const from = items[0]!.offset;
  const to = items.reduce((end, item) => Math.max(end, endOf(item)), from);
  const isShared = bytes.buffer instanceof SharedArrayBuffer;
  return { bytes: isShared ? bytes.subarray(from, to) : bytes.slice(from, to), bytesStart: from, items };
}

function endOf(item: PackedFile): number {
  return item.offset + (item.storedBytes ?? item.sizeBytes);
}
