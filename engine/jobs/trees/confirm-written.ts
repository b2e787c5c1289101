/**
 * A store may answer 200 and keep nothing. So a copy or sync checks once for each object that it wrote to a
 * store, before it remembers them and before a sync deletes. One listing checks many of them. A missing
 * object counts as failed.
 */
import type { TreeItem } from '../../model/tree-item.ts';
import { findUnseen, notStored, type WrittenObject } from '../../query/existence/find-unseen.ts';
import { reportFailure, type TreeRun } from './copy-run.ts';
import type { Moved, TreeConfirmation } from './move/mover.ts';

/** Files that wait for the check, at most. After a kill the next run compares them again. */
const WAITING_MAX = 2_000;

interface WaitingFile extends WrittenObject {
  readonly source: TreeItem;
  readonly moved: Moved;
}

export function createTreeConfirmation(
  run: Pick<TreeRun, 'context' | 'counts' | 'destination' | 'knowledge' | 'request' | 'tasks'>,
): TreeConfirmation {
  const { counts, destination, knowledge, tasks } = run;
  const note = ({ path }: TreeItem, moved: Moved) => knowledge.note(path, moved, 'content', moved.sizeBytes);
  if (destination.kind === 'local' || destination.store.confirmsWrites || run.request.noConfirm)
    return { moved: (source, _, moved) => note(source, moved), settle: async () => {} };
  const { limit, store } = destination;
  let waiting: WaitingFile[] = [];
  const look = async (files: readonly WaitingFile[]) => {
    const lost = new Set(await findUnseen(store, files, { limit, signal: tasks.signal }));
    for (const file of files) {
      if (!lost.has(file)) {
        note(file.source, file.moved);
        continue;
      }
      counts.copiedFiles -= 1;
      counts.copiedBytes -= file.sizeBytes;
      if (file.moved.inStore) counts.copiedInStore -= 1;
      reportFailure(run, file.source.path, notStored(store, file));
    }
  };
  const flush = () => {
    const files = waiting;
    waiting = [];
    return files.length === 0 ? Promise.resolve() : look(files);
  };
  return {
    moved(source, over, moved) {
      waiting.push({
        key: destination.pathOf(source.path),
        sizeBytes: moved.sizeBytes,
        etag: moved.destinationToken,
        ...(over ? { replacedEtag: over.token } : {}),
        source,
        moved,
      });
      if (waiting.length >= WAITING_MAX) tasks.spawn(flush);
    },
    settle: flush,
  };
}
