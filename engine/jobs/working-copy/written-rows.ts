/** Index rows of files that were just written. They are saved after the files are synced. */

import { isRacy } from '../../files/read/open-file.ts';
import type { TreeWriter, WrittenStat } from '../../files/write/tree-writer-types.ts';
import type { FileEntry } from '../../model/entry.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { createSyncedBatches } from '../session/synced-batches.ts';

export interface WrittenRows {
  /** The next scan reads a file again whose mtime is as recent as its row. */
  add(entry: FileEntry, stat: WrittenStat): void;
  /** The number of all rows added. */
  count(): number;
  /**
   * Syncs, then writes the remaining rows. Throws what the writer's `sync` throws, and writes nothing more
   * then.
   */
  finish(): Promise<void>;
}

interface Row {
  readonly entry: FileEntry;
  readonly stat: WrittenStat;
}

export interface WrittenRowsOptions {
  readonly session: Pick<Session, 'clock' | 'index'>;
  readonly link: Pick<LinkedRepository, 'blobs'>;
  readonly writer: Pick<TreeWriter, 'sync'>;
  /** What the paths are based on stays. */
  readonly asEdits?: boolean | undefined;
  /** A sync in the background failed. */
  readonly onFailure: (error: unknown) => void;
}

export function createWrittenRows(options: WrittenRowsOptions): WrittenRows {
  const { asEdits = false, link, onFailure, session, writer } = options;
  const { clock, index } = session;
  let count = 0;
  const batches = createSyncedBatches<Row>({
    sync: () => writer.sync(),
    keep: (rows) =>
      index.transaction(() => {
        for (const { entry, stat } of rows) {
          if (asEdits) index.files.setWrittenAsEdit(entry, stat);
          else index.files.setWritten(entry, stat);
          link.blobs.add(entry.blob, entry.location);
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
