/**
 * The folder of a `file:` remote: where keys lie, and the one folder in it that is not the user's.
 *
 *   ROOT/<key>                objects, as plain files
 *   ROOT/.dray-tmp/writes/    files that are being written; never listed
 *   ROOT/.dray-tmp/uploads/   multipart uploads
 *   ROOT/.dray-tmp/locks/     one file for each key that is being replaced
 *
 * `.dray-tmp` lies inside the root because a file moves atomically within one file system only. It appears
 * with the first write and is removed at `close` when nothing is left in it. Everything is reached by held
 * folders (`base/held-folders.ts`), so no link below the root is followed, and no temporary folder is used
 * that belongs to somebody else.
 */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import { absoluteIn, folderAbove, type HeldFolder, type HeldFolders } from '../../base/held-folders.ts';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { isMakerGone, makerTag } from '../../base/process-life.ts';
import { isOwn, TEMPORARY_FOLDER_NAME } from '../../base/temporary-owner.ts';
import { isOwnFolderName } from '../../model/safe-path.ts';
import { checkKey } from '../object-key.ts';
import type { RemoteKey } from '../object-store.ts';
import { isAbsent, systemCode } from './file-errors.ts';

const AREAS = ['writes', 'uploads', 'locks'] as const;
export type TempArea = (typeof AREAS)[number];

/** A temporary file of unknown maker is removed after a day; an unused upload after a week. */
const HOUR_MS = 3_600_000;
const WRITE_KEPT_MS = 24 * HOUR_MS;
const UPLOAD_KEPT_MS = 7 * 24 * HOUR_MS;
/** Another process may remove an empty folder each time that it is created. */
const MAKE_ATTEMPTS_MAX = 8;

/** A new file of our own in `writes`. Its end, by `await using`, removes it unless it was put in place. */
export interface TemporaryFile extends AsyncDisposable {
  /** Its path, while it is there. */
  readonly path: string;
  /** Open for reading and writing. The caller that fills it closes it. */
  readonly file: FileHandle;
}

export interface FileRoot {
  /** For messages. */
  readonly path: string;
  /** The file of a key, for messages. Throws `unsafePath` for keys that no file can have. */
  pathOf(key: RemoteKey): string;
  /**
   * Runs work with the path of the key's file while its folder is held. Throws Node's errors; ENOENT without
   * the folder.
   */
  within<T>(key: RemoteKey, work: (path: string) => Promise<T>): Promise<T>;
  /** Holds a folder below the root; the caller releases it. Throws Node's errors. */
  hold(folder: string): Promise<HeldFolder>;
  /**
   * The same, creating missing folders; `changed` gets the folders that have a new name in them, innermost
   * last.
   */
  holdMade(folder: string, changed?: string[]): Promise<HeldFolder>;
  /** Holds a folder below `.dray-tmp`, created if missing. */
  area(area: TempArea): Promise<HeldFolder>;
  /** Areas that existed when they were first held: dead writers may have left files in them. */
  readonly found: Set<TempArea>;
  newTemporary(): Promise<TemporaryFile>;
  /** Throws `bucketMissing` if the root itself is gone, because then an absent file means nothing. */
  checkPresent(): Promise<void>;
  /** Removes the folders above a removed file while they are empty. */
  pruneAbove(key: RemoteKey): Promise<void>;
  /** Removes `.dray-tmp` if it is empty, and releases all folders. */
  tidy(): Promise<void>;
}

/** @param mayBeMissing Treats a missing root as empty. */
export function createFileRoot(folders: HeldFolders, clock: Clock, mayBeMissing = false): FileRoot {
  const { path } = folders;
  let swept = false;
  const entered = new Set<TempArea>();

  const root: FileRoot = {
    path,
    pathOf(key) {
      checkKey(key);
      checkName(key);
      return absoluteIn(path, key);
    },
    async within(key, work) {
      using folder = await folders.hold(folderAbove(key));
      return await work(folder.at(keyOfPath(key)));
    },
    hold: (folder) => folders.hold(folder),
    async holdMade(folder, changed) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await folders.hold(folder, { onMake: (made) => void changed?.push(made) });
        } catch (error) {
          if (!isAbsent(error)) throw error;
          // The root is never created here: its disk may not be mounted.
          await root.checkPresent();
          if (systemCode(error) !== 'ENOENT' || attempt === MAKE_ATTEMPTS_MAX) throw error;
        }
      }
    },
    found: new Set(),
    async area(area) {
      const made: string[] = [];
      const held = await root.holdMade(areaPath(area), made);
      if (!entered.has(area) && made.length === 0) root.found.add(area);
      entered.add(area);
      if (swept) return held;
      swept = true;
      try {
        await sweep(folders, clock.nowMs());
      } catch (error) {
        held.release();
        throw error;
      }
      return held;
    },
    async newTemporary() {
      for (let attempt = 1; ; attempt += 1) {
        const folder = await root.area('writes');
        const file = folder.at(`${makerTag()}.${randomUUID()}`);
        try {
          return {
            path: file,
            file: await open(file, 'wx+'),
            async [Symbol.asyncDispose]() {
              await unlink(file).catch(() => {});
              folder.release();
            },
          };
        } catch (error) {
          folder.release();
          // Another process removed the empty folder when it was done.
          if (systemCode(error) !== 'ENOENT' || attempt === MAKE_ATTEMPTS_MAX) throw error;
        }
      }
    },
    async checkPresent() {
      try {
        (await folders.hold('')).release();
      } catch (error) {
        if (isAbsent(error) && mayBeMissing) return;
        throw isAbsent(error) ? missingRoot(path) : error;
      }
    },
    async pruneAbove(key) {
      for (let at = folderAbove(key); at !== ''; at = folderAbove(at)) {
        try {
          await root.within(at, rmdir);
        } catch (error) {
          // Not empty, or not ours to remove: it stays. If it is already gone, its parent may be empty now.
          if (!isAbsent(error)) return;
        }
      }
    },
    async tidy() {
      for (const area of AREAS) await root.within(areaPath(area), rmdir).catch(() => {});
      await root.within(TEMPORARY_FOLDER_NAME, rmdir).catch(() => {});
      folders.close();
    },
  };
  return root;
}

export function missingRoot(path: string): DrayError {
  return new DrayError(
    'bucketMissing',
    `The folder ${path} does not exist (or is not mounted). Create it, or mount its disk, and try again.`,
    { data: { path } },
  );
}

export function areaPath(area: TempArea, name?: string): string {
  return `${TEMPORARY_FOLDER_NAME}/${area}${name === undefined ? '' : `/${name}`}`;
}

export function keyOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Opens a file for reading. Does not follow a link at its place, and does not hang on a pipe. */
export function openNoFollow(path: string): Promise<FileHandle> {
  return open(path, OPEN_TO_READ);
}

/**
 * A plain file with one name, made by this user or the folder's owner: what Dray itself may have put into a
 * temporary folder.
 */
export function isOwnFile(
  file: Pick<Stats, 'isFile'> & { uid: number | bigint; nlink: number | bigint },
  folder: Stats,
): boolean {
  return file.isFile() && Number(file.nlink) === 1 && isOwn({ uid: Number(file.uid) }, folder);
}

/** Best effort: the next writer retries a failed removal. */
async function sweep(folders: HeldFolders, nowMs: number): Promise<void> {
  await sweepArea(folders, 'writes', async (writes, name) => {
    const maker = name.slice(0, Math.max(0, name.indexOf('.')));
    if (isMakerGone(maker) || (await ageOf(writes.at(name), nowMs)) > WRITE_KEPT_MS)
      await unlink(writes.at(name));
  });
  await sweepArea(folders, 'uploads', async (uploads, name) => {
    if ((await ageOf(uploads.at(name), nowMs)) > UPLOAD_KEPT_MS) await removeUpload(folders, uploads, name);
  });
}

async function sweepArea(
  folders: HeldFolders,
  area: TempArea,
  sweepOne: (held: HeldFolder, name: string) => Promise<void>,
): Promise<void> {
  let held: HeldFolder;
  try {
    held = await folders.hold(areaPath(area));
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  try {
    for (const name of await readdir(held.at(''))) await sweepOne(held, name).catch(() => {});
  } finally {
    held.release();
  }
}

async function ageOf(path: string, nowMs: number): Promise<number> {
  return nowMs - (await lstat(path)).mtimeMs;
}

/** An upload's folder contains only files. A link in its place, or in it, is removed and not followed. */
export async function removeUpload(
  folders: Pick<HeldFolders, 'hold'>,
  uploads: HeldFolder,
  name: string,
): Promise<void> {
  let upload: HeldFolder;
  try {
    upload = await folders.hold(areaPath('uploads', name));
  } catch (error) {
    if (isAbsent(error)) return;
    await unlink(uploads.at(name));
    return;
  }
  try {
    for (const file of await readdir(upload.at(''))) await unlink(upload.at(file)).catch(() => {});
  } finally {
    upload.release();
  }
  await rmdir(uploads.at(name)).catch((error) => {
    if (!isAbsent(error)) throw error;
  });
}

const RESERVED_ON_WINDOWS = /[<>:"|?*\\]|[. ](\/|$)|(^|\/)(con|prn|aux|nul|com\d|lpt\d)(\.|\/|$)/i;

function checkName(key: RemoteKey): void {
  const own = key.split('/').find(isOwnFolderName);
  if (own === undefined && !(process.platform === 'win32' && RESERVED_ON_WINDOWS.test(key))) return;
  const reason =
    own === undefined ? 'Windows does not allow this file name' : `"${own}" is reserved for Dray`;
  throw new DrayError('unsafePath', `The key ${JSON.stringify(key)} cannot be stored: ${reason}.`, {
    data: { key },
  });
}
