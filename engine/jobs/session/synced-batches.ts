/**
 * Holds the records of written files back until the files are synced, so that after a power cut no record
 * vouches for lost content. A killed run loses its records: the next run reads these files again.
 */

/** Records and bytes between two syncs. */
const RECORDS_AT_ONCE = 16_384;
const BYTES_AT_ONCE = 1024 ** 3;

export interface SyncedBatches<Kept> {
  /** @param writtenBytes Size of the content that must be on the disk first. */
  add(record: Kept, writtenBytes: number): void;
  /**
   * Syncs, then keeps the remaining records. Throws what `sync` and `keep` throw, and keeps nothing more
   * then.
   */
  flush(): Promise<void>;
}

export interface BatchSteps<Kept> {
  /** @param writtenBytes Since the last sync. */
  readonly sync: (writtenBytes: number) => Promise<void>;
  /** Gets at least one record. */
  readonly keep: (records: readonly Kept[]) => void;
  /** Gets the error of a sync that ran in the background. */
  readonly onFailure: (error: unknown) => void;
}

export function createSyncedBatches<Kept>({ keep, onFailure, sync }: BatchSteps<Kept>): SyncedBatches<Kept> {
  let records: Kept[] = [];
  let bytes = 0;
  let last: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    const [taken, takenBytes] = [records, bytes];
    records = [];
    bytes = 0;
    last = last.then(async () => {
      await sync(takenBytes);
      if (taken.length > 0) keep(taken);
    });
    return last;
  };
  return {
    add(record, writtenBytes) {
      records.push(record);
      bytes += writtenBytes;
      if (records.length >= RECORDS_AT_ONCE || bytes >= BYTES_AT_ONCE) flush().catch(onFailure);
    },
    flush,
  };
}
