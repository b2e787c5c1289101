/** From a folder to a folder on this machine. */
import { join } from 'node:path';
import { Budget } from '../../../base/budget.ts';
import { copyLocalFile } from '../../../files/disk/copy-local-file.ts';
import { LINK_SUFFIX, newFolderMode, readLink } from '../../../files/scan/local-place.ts';
import { openTreeWriter } from '../../../files/write/tree-writer.ts';
import type { TreeWriter } from '../../../files/write/tree-writer-types.ts';
import { fileToken, type TreeItem } from '../../../model/tree-item.ts';
import { TEMPORARY_FOLDER_NAME } from '../../../model/unfinished-name.ts';
import type { TreeRun } from '../copy-run.ts';
import type { LocalSide } from '../sides.ts';
import type { Moved, Mover } from './mover.ts';
import { touchHere } from './touch-here.ts';

const COPIES_AT_ONCE = 8;

type LocalRun = TreeRun<LocalSide, LocalSide>;

export function createLocalCopier(run: LocalRun): Mover {
  const { destination, source, tasks } = run;
  const { root } = destination;
  const { signal } = tasks;
  const room = new Budget(COPIES_AT_ONCE);
  const temporaryFolder = join(root, TEMPORARY_FOLDER_NAME);
  const writer = openTreeWriter({
    ...{ root, temporaryFolder, isTemporaryFolderOwn: true, threads: 0, signal },
    refusals: run.refusals,
    unsyncedNote: run.runNote,
    folderModeOf: (folder) => newFolderMode(join(source.root, folder)),
  });
  return {
    sync: () => writer.sync(),
    async move(item) {
      if (run.request.links && item.path.endsWith(LINK_SUFFIX)) return copyLink(run, writer, item);
      const permit = await room.acquire(1, signal);
      let counted = 0;
      const count = (bytes: number) => {
        counted += bytes;
        run.progress.add(0, bytes, item.path);
      };
      try {
        const path = destination.pathOf(item.path);
        makeParent(writer, path);
        const { sizeBytes, sourceToken, stat } = await copyLocalFile({
          from: join(source.root, source.pathOf(item.path)),
          to: join(root, path),
          temporary: writer.newTemporary(),
          refusals: run.refusals,
          signal,
          onProgress: count,
        });
        return {
          sourceToken,
          destinationToken: fileToken(stat),
          sizeBytes,
          isProgressCounted: counted > 0,
        };
      } catch (error) {
        count(-counted);
        throw error;
      } finally {
        permit.release();
      }
    },
    touch: (item, over, to) => touchHere(run, item, { path: over.path, to }),
    async remove(paths, onFailed) {
      for (const path of paths) {
        try {
          writer.remove(destination.pathOf(path));
        } catch (error) {
          onFailed(path, error);
        }
      }
    },
    close: () => writer.close(),
  };
}

function copyLink({ destination, source }: LocalRun, writer: TreeWriter, item: TreeItem): Moved {
  const target = readLink(join(source.root, source.pathOf(item.path)));
  const stat = writer.writeLink(destination.pathOf(item.path), target);
  return {
    sourceToken: item.token,
    destinationToken: fileToken(stat),
    sizeBytes: target.length,
  };
}

/** Never through a link: the writer refuses that. */
function makeParent(writer: TreeWriter, path: string): void {
  const slash = path.lastIndexOf('/');
  if (slash > 0) writer.makeFolder(path.slice(0, slash));
}
