/** From a folder of one other machine to one of another: small files, links and empty folders, many to a request on either side. */
import { Budget } from '../base/budget.ts';
import type { TreeItem } from '../model/tree-item.ts';
import { SENT_IN_BATCHES_BYTES_MAX } from './batch-limits.ts';
import { createReadBatches } from './read-batches.ts';
import { createSendBatches } from './send-batches.ts';
import { MOVED_SPECIAL, type Moved } from './tree-mover.ts';
import type { TreeRun } from './tree-run.ts';
import type { RemoteSide } from './tree-sides.ts';

/** Of files that were read and are not written yet. */
const MEMORY_BYTES = 64 * 1024 * 1024;

export interface PassBatches {
  /** Undefined when the item has to go by itself. */
  pass(item: TreeItem): Promise<Moved> | undefined;
  flush(): void;
}

/** Undefined unless both sides are folders of other machines. */
export function createPassBatches(run: TreeRun<RemoteSide, RemoteSide>): PassBatches | undefined {
  const from = run.source.store.files;
  const to = run.destination.store.files;
  if (!from || !to) return undefined;
  const reads = createReadBatches(run, from);
  const sends = createSendBatches(run, to);
  const memory = new Budget(MEMORY_BYTES);

  async function passSpecial(item: TreeItem, special: NonNullable<TreeItem['special']>): Promise<Moved> {
    await sends.sendSpecial(run.destination.pathOf(item.path), special);
    return MOVED_SPECIAL;
  }

  async function passFile(item: TreeItem): Promise<Moved> {
    const permit = await memory.acquire(item.sizeBytes, run.tasks.signal);
    try {
      const file = await reads.read(run.source.pathOf(item.path), item.sizeBytes);
      const key = run.destination.pathOf(item.path);
      const sizeBytes = file.bytes.length;
      const { etag } = await sends.send({ key, read: () => file, sizeBytes });
      return {
        sourceToken: file.etag,
        destinationToken: etag,
        sentBytes: sizeBytes,
        receivedBytes: sizeBytes,
        inStore: false,
        sizeBytes,
      };
    } finally {
      permit.release();
    }
  }

  return {
    pass(item) {
      if (item.special) return passSpecial(item, item.special);
      return item.sizeBytes <= SENT_IN_BATCHES_BYTES_MAX ? passFile(item) : undefined;
    },
    flush() {
      reads.flush();
      sends.flush();
    },
  };
}
