/**
 * Passes small files, links and empty folders from one peer's folder to another's, many in one request at
 * each end.
 */
import { Budget } from '../../../base/budget.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { TreeRun } from '../copy-run.ts';
import type { RemoteSide } from '../sides.ts';
import type { Moved } from './mover.ts';
import { createReadBatches } from './read-small-files.ts';
import { createSendBatches, type FileContent } from './send-small-files.ts';

/** Bytes of files that were read and are not written yet. */
const MEMORY_BYTES = 64 * 1024 * 1024;

export interface PassBatches {
  /** Undefined when the item needs requests of its own. */
  pass(item: TreeItem): Promise<Moved> | undefined;
  flush(): void;
}

/** Undefined unless both sides are folders of peers. */
export function createPassBatches(run: TreeRun<RemoteSide, RemoteSide>): PassBatches | undefined {
  const from = run.source.store.files;
  const to = run.destination.store.files;
  if (!from || !to) return undefined;
  const memory = new Budget(MEMORY_BYTES);
  const reads = createReadBatches(run, from);
  /** Files that were read and are not written yet. */
  const contents = new Map<TreeItem, FileContent>();
  const sends = createSendBatches(run, { files: to, read: (item) => contents.get(item)! });

  async function passFile(item: TreeItem): Promise<Moved> {
    const permit = await memory.acquire(item.sizeBytes, run.tasks.signal);
    try {
      const file = await reads.read(run.source.pathOf(item.path), item.sizeBytes);
      contents.set(item, file);
      const moved = await sends.send(item);
      return { ...moved, sourceToken: file.etag, receivedBytes: moved.sentBytes ?? 0 };
    } finally {
      contents.delete(item);
      permit.release();
    }
  }

  return {
    pass(item) {
      if (!sends.takes(item)) return undefined;
      return item.special ? sends.send(item) : passFile(item);
    },
    flush() {
      reads.flush();
      sends.flush();
    },
  };
}
