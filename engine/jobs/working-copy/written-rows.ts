/** Rows of the index for files that were just written. They are kept once the files are on the disk. */

import { isRacy } from '../../files/read/open-file.ts';
import type { TreeWriter, WrittenStat } from '../../files/write/tree-writer-types.ts';
import type { FileEntry } from '../../model/entry.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/session.ts';
import { createSyncedBatches } from '../session/synced-batches.ts';

export interface WrittenRows {
  /** A file whose mtime is as young as its record is read again by the next scan. */
  add(entry: FileEntry, stat: WrittenStat): void;
  /** Of all that were added. */
  count(): number;
  /** Syncs, and writes what is left. Throws as the writer's `sync`: nothing more is written then. */
  finish(): Promise<void>;
}

interface Row {
  readonly entry: FileEntry;
  readonly stat: WrittenStat;
}

/** @param onFailure A sync beside the work failed. */
export function createWrittenRows(
  { clock, index }: Pick<Session, 'clock' | 'index'>,
  { blobs }: Pick<LinkedRepository, 'blobs'>,
  writer: Pick<TreeWriter, 'sync'>,
  onFailure: (error: unknown) => void,
): WrittenRows {
  let count = 0;
  const batches = createSyncedBatches<Row>({
    sync: () => writer.sync(),
    keep: (rows) =>
      index.transaction(() => {
        for (const { entry, stat } of rows) {
          index.files.setWritten(entry, stat);
          blobs.add(entry.blob, entry.location);
        }
      }),
    onFailure,
  });
  return {
    add(entry, stat) {
      const isYoung = isRacy(stat.mtimeMs, clock.nowMs());
      count += 1;
      batches.add({ entry, stat: isYoung ? { ...stat, inode: -1 } : stat }, entry.sizeBytes);
    },
    count: () => count,
    finish: batches.flush,
  };
}
