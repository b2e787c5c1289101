/** `--backup-dir`: keeps what would be overwritten or deleted, under its own path. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import type { PlaceRequest } from '../../../api/jobs/trees.ts';
import { keepAside } from '../../../files/disk/keep-aside.ts';
import { newFolderMode } from '../../../files/scan/local-place.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import type { Meter } from '../../../remotes/wrappers/with-meter.ts';
import { copyInStore } from '../../../transfer/copy/copy-in-store.ts';
import { checkApart, checkStoresApart, openPlace, parsePlace } from '../../places/places.ts';
import { refuseRepositoryAbove } from '../../places/repository-guard.ts';
import { sharesService } from '../../session/opened-remote.ts';
import type { TreeRun } from '../copy-run.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';

export interface Backup {
  /** Resolves when the item's present content is in the backup folder, over that of an earlier run. */
  keep(item: TreeItem): Promise<void>;
  close(): Promise<void>;
}

/** @param store Rooted at the backup folder, of the same service as the destination's. */
function createRemoteBackup(
  destination: RemoteSide,
  store: ObjectStore,
  { askOnce, signal }: { readonly askOnce: () => Promise<void>; readonly signal: AbortSignal },
): Backup {
  const { files } = store;
  return {
    async keep(item) {
      if (item.special?.kind === 'folder') return;
      await askOnce();
      const fromKey = destination.pathOf(item.path);
      if (files) {
        const fromPath = destination.store.files!.pathOf(fromKey);
        await destination.limit.run(() => files.keep({ fromPath, to: item.path }, { signal }), {
          bytes: 0,
          signal,
        });
        return;
      }
      const info = { key: fromKey, sizeBytes: item.sizeBytes, etag: item.token, modifiedMs: item.modifiedMs };
      const copied = await destination.limit.run(
        () => copyInStore({ from: destination.store, fromKey, to: store, toKey: item.path, info, signal }),
        { bytes: 0, signal },
      );
      if (copied) return;
      throw new DrayError(
        'unsupported',
        `${store.address} cannot store backups: it refuses to copy to that place.`,
        {
          data: { key: fromKey },
        },
      );
    },
    close: () => store.close(),
  };
}

function createLocalBackup(destination: LocalSide, folder: string): Backup {
  return {
    async keep(item) {
      // An empty folder has nothing to keep.
      if (item.special?.kind === 'folder') return;
      const from = join(destination.root, destination.pathOf(item.path));
      const to = join(folder, item.path);
      try {
        makeFolderLike(dirname(from), dirname(to), item.path.split('/').length);
        rmSync(to, { force: true });
        await keepAside(from, to);
      } catch (cause) {
        throw new DrayError('io', `${item.path} could not be kept in ${folder}, so it was left as it is.`, {
          cause,
        });
      }
    },
    close: async () => {},
  };
}

/** Makes a folder of the backup, and its parents, no more open than the folders that they mirror. */
function makeFolderLike(from: string, to: string, levels: number): void {
  if (existsSync(to)) return;
  if (levels === 1) mkdirSync(dirname(to), { recursive: true });
  else makeFolderLike(dirname(from), dirname(to), levels - 1);
  // Another item of the same folder may have made it.
  mkdirSync(to, { mode: newFolderMode(from), recursive: true });
}

/** @throws `usage` when the folder is at another store or lies inside one of the trees */
export async function openBackup(
  run: TreeRun,
  request: PlaceRequest,
  { isSingle, meters }: { readonly isSingle: boolean; readonly meters: Meter[] },
): Promise<Backup> {
  const { context, destination, source, tasks } = run;
  const place = parsePlace(context, request);
  const to = parsePlace(context, run.request.destination);
  const from = parsePlace(context, run.request.source);
  const guard = { isFolder: true, allowed: run.request.allowRepositories, meters };
  checkApart(place, to, context.environment);
  checkApart(place, from, context.environment);
  if (destination.kind === 'local') {
    if (place.kind !== 'local') throw elsewhere(request.place);
    await refuseRepositoryAbove(context, place, guard);
    return createLocalBackup(destination, place.path);
  }
  if (place.kind !== 'remote') throw elsewhere(request.place);
  const { store } = await openPlace(context, place, { at: 'place' });
  try {
    const { files } = store;
    const areOneMachine = files !== undefined && files.machine === destination.store.files?.machine;
    if (!areOneMachine && !sharesService(destination.store, store)) throw elsewhere(request.place);
    // A single object's store is rooted at its parent folder, which may also contain the backups.
    if (!isSingle) {
      checkStoresApart([place, store], [to, destination.store]);
      if (source.kind === 'remote') checkStoresApart([place, store], [from, source.store]);
    }
  } catch (error) {
    await store.close();
    throw error;
  }
  let asking: Promise<void> | undefined;
  const askOnce = () => (asking ??= refuseRepositoryAbove(context, place, guard));
  return createRemoteBackup(destination, store, { askOnce, signal: tasks.signal });
}

function elsewhere(place: string): DrayError {
  return new DrayError(
    'usage',
    `--backup-dir ${place} must be at the same store, or on the same machine, as the destination.`,
  );
}
