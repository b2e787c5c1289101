/**
 * The folder of a `file:` remote: where keys lie, and the one folder in it that is not the user's.
 *
 *   ROOT/<key>                objects, as plain files
 *   ROOT/.dray-tmp/writes/    files that are being written; never listed
 *   ROOT/.dray-tmp/uploads/   multipart uploads
 *   ROOT/.dray-tmp/locks/     one file for each key that is being replaced
 *
 * `.dray-tmp` lies inside the root because a file moves atomically within one file system only. It appears with the first
 * write and is removed at `close` when nothing is left in it.
 */
import { type FileHandle, lstat, mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import { checkKey } from '../object-key.ts';
import type { RemoteKey } from '../object-store.ts';
import { isAbsent, systemCode } from './file-errors.ts';

export const TEMP_FOLDER = '.dray-tmp';
const AREAS = ['writes', 'uploads', 'locks'] as const;
export type TempArea = (typeof AREAS)[number];

/** What a crash left in `writes` is removed after a day; an upload that nobody came back to, after a week. */
const HOUR_MS = 3_600_000;
const KEEP_MS: Readonly<Partial<Record<TempArea, number>>> = {
  writes: 24 * HOUR_MS,
  uploads: 7 * 24 * HOUR_MS,
};

export interface FileRoot {
  readonly path: string;
  /** The file of a key. Throws `unsafePath` for keys that no file can have. */
  pathOf(key: RemoteKey): string;
  /** A folder below `.dray-tmp`, made when it is not there. */
  area(area: TempArea): Promise<string>;
  /** The path of a name in an area that may not be there yet. */
  pathIn(area: TempArea, name: string): string;
  /** Makes a new file in `writes`, for reading and writing. */
  openNew(path: string): Promise<FileHandle>;
  /** Throws `bucketMissing` when the root itself is gone: an absent file then means nothing. */
  checkPresent(): Promise<void>;
  /** Makes the folder of a file below the root. Returns the folders that got a new name in them, innermost last. */
  makeFolderOf(path: string): Promise<readonly string[]>;
  /** Removes the folders above a removed file, as far as they are empty. */
  pruneAbove(path: string): Promise<void>;
  /** Removes `.dray-tmp` when it is empty. */
  tidy(): Promise<void>;
}

export function createFileRoot(path: string, clock: Clock): FileRoot {
  const temp = join(path, TEMP_FOLDER);
  let swept = false;

  const root: FileRoot = {
    path,
    pathOf(key) {
      checkKey(key);
      checkName(key);
      return join(path, key);
    },
    async area(area) {
      const folder = join(temp, area);
      await root.makeFolderOf(join(folder, 'x'));
      if (!swept) {
        swept = true;
        await sweep(temp, clock.nowMs());
      }
      return folder;
    },
    pathIn: (area, name) => join(temp, area, name),
    async openNew(file) {
      if (!swept) await root.area('writes');
      try {
        return await open(file, 'wx+');
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') throw error;
        // Another process tidied it away when it was done.
        await root.area('writes');
        return open(file, 'wx+');
      }
    },
    async checkPresent() {
      const stats = await stat(path).catch(() => undefined);
      if (stats?.isDirectory()) return;
      throw new DrayError(
        'bucketMissing',
        `The folder ${path} does not exist (or is not mounted). Make it, or mount its disk, and try again.`,
        {
          data: { path },
        },
      );
    },
    async makeFolderOf(file) {
      await root.checkPresent();
      const folder = dirname(file);
      const first = await mkdir(folder, { recursive: true });
      const changed: string[] = [];
      if (first === undefined) return changed;
      for (let at = folder; at.length >= first.length; at = dirname(at)) changed.unshift(dirname(at));
      return changed;
    },
    async pruneAbove(file) {
      for (let at = dirname(file); at !== path && at.startsWith(path); at = dirname(at)) {
        try {
          await rmdir(at);
        } catch (error) {
          // Not empty, or not ours to remove: it stays. Gone already: its parent may be empty now.
          if (!isAbsent(error)) return;
        }
      }
    },
    async tidy() {
      for (const area of AREAS) await rmdir(join(temp, area)).catch(() => {});
      await rmdir(temp).catch(() => {});
    },
  };
  return root;
}

async function sweep(temp: string, nowMs: number): Promise<void> {
  for (const area of AREAS) {
    const keepMs = KEEP_MS[area];
    if (keepMs === undefined) continue;
    for (const name of await readdir(join(temp, area)).catch(() => [])) {
      const left = join(temp, area, name);
      const stats = await lstat(left).catch(() => undefined);
      // Best effort: what cannot be removed now is tried again by the next writer.
      if (stats && stats.mtimeMs < nowMs - keepMs)
        await rm(left, { recursive: true, force: true }).catch(() => {});
    }
  }
}

const RESERVED_ON_WINDOWS = /[<>:"\\|?*]|[. ](\/|$)|(^|\/)(con|prn|aux|nul|com\d|lpt\d)(\.|\/|$)/i;

function checkName(key: RemoteKey): void {
  const isOurs = key.split('/', 1)[0]?.toLowerCase() === TEMP_FOLDER;
  if (!isOurs && !(process.platform === 'win32' && RESERVED_ON_WINDOWS.test(key))) return;
  const reason = isOurs ? `${TEMP_FOLDER} is for Dray itself` : 'Windows has no such file name';
  throw new DrayError('unsafePath', `The key ${JSON.stringify(key)} cannot be stored: ${reason}.`, {
    data: { key },
  });
}
