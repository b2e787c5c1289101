/**
 * Rows of the index for files that were just written. They are written after the files are on the disk, so
 * that after a power cut no row vouches for lost content. If a run is killed before, the next run reads these
 * files again instead of fetching them.
 */
import type { FileEntry } from '../model/entry.ts';
import { isRacy } from '../workspace/file-reader-open.ts';
import type { TreeWriter, WrittenStat } from '../workspace/tree-writer-contract.ts';
import type { LinkedRepository } from './link-repository.ts';
import type { Session } from './session.ts';

/** Files and bytes between two syncs. */
const ROWS_AT_ONCE = 16_384;
const BYTES_AT_ONCE = 1024 ** 3;

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
  let rows: Row[] = [];
  let bytes = 0;
  let count = 0;
  let last: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    const taken = rows;
    rows = [];
    bytes = 0;
    last = last.then(async () => {
      await writer.sync();
      if (taken.length === 0) return;
      index.transaction(() => {
        for (const { entry, stat } of taken) {
          index.files.setWritten(entry, stat);
          blobs.add(entry.blob, entry.location);
        }
      });
    });
    return last;
  };
  return {
    add(entry, stat) {
      const isYoung = isRacy(stat.mtimeMs, clock.nowMs());
      rows.push({ entry, stat: isYoung ? { ...stat, inode: -1 } : stat });
      bytes += entry.sizeBytes;
      count += 1;
      if (rows.length >= ROWS_AT_ONCE || bytes >= BYTES_AT_ONCE) flush().catch(onFailure);
    },
    count: () => count,
    finish: flush,
  };
}
