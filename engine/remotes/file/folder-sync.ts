/**
 * Makes names durable: a file's name survives a power cut only once its folder is synced. Writers of one folder who wait
 * at the same time share a sync, provided that it starts after their write.
 */
import { open } from 'node:fs/promises';
import { isAbsent, systemCode } from './file-errors.ts';

export interface FolderSync {
  /** Resolves when a sync of the folder that began after this call has ended. */
  sync(folder: string): Promise<void>;
}

interface Syncs {
  readonly running: Promise<void>;
  next?: Promise<void>;
}

export function createFolderSync(syncFolder = syncOnce): FolderSync {
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
      // The one that runs may have begun before the caller's write: it does not count.
      current.next ??= current.running.catch(() => {}).then(() => start(folder));
      return current.next;
    },
  };
}

/** Systems that cannot sync a folder (Windows, some network mounts) say so in one of these ways. */
const UNSUPPORTED = new Set(['EISDIR', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

async function syncOnce(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // A folder that is gone was pruned, together with what had to be durable.
    if (!isAbsent(error) && !UNSUPPORTED.has(systemCode(error) ?? '')) throw error;
  }
}
