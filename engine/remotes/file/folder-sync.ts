/**
 * Makes names durable: a file's name survives a power cut only once its folder is synced. Writers of one
 * folder that wait at the same time share a sync, provided that it starts after their write.
 */
import { fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isAbsent, systemCode } from './file-errors.ts';
import type { FileRoot } from './file-root.ts';

export interface FolderSync {
  /** Resolves when a sync of the folder that began after this call has ended. */
  sync(folder: string): Promise<void>;
}

interface Syncs {
  readonly running: Promise<void>;
  next?: Promise<void>;
}

/** @param syncFolder Syncs a folder by the name that the callers of `sync` give it. */
export function createFolderSync(syncFolder: (folder: string) => Promise<void>): FolderSync {
  const syncs = new Map<string, Syncs>();

  const start = (folder: string): Promise<void> => {
    const running = syncFolder(folder).finally(() => {
      if (syncs.get(folder)?.running === running) syncs.delete(folder);
    });
    syncs.set(folder, { running });
    return running;
  };

  return {
    sync(folder) {
      const current = syncs.get(folder);
      if (!current) return start(folder);
      // The running one may have begun before the caller's write, so it does not count.
      current.next ??= current.running.catch(() => {}).then(() => start(folder));
      return current.next;
    },
  };
}

/** Systems that cannot sync a folder (Windows, some network mounts) report one of these. */
const UNSUPPORTED = new Set(['EISDIR', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

const syncDescriptor = promisify(fsync);

/** Syncs a folder below the root. */
export async function syncHeld(root: FileRoot, folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    using held = await root.hold(folder);
    if (held.fd === undefined) await syncByPath(held.at(''));
    else await syncDescriptor(held.fd);
  } catch (error) {
    // A missing folder was pruned, with everything that had to be durable in it.
    if (!isAbsent(error) && !UNSUPPORTED.has(systemCode(error) ?? '')) throw error;
  }
}

async function syncByPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
