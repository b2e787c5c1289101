/** Copies the user's folder, because trying out Dray must not change the original. */
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, statfs, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Larger folders are for the real command, not for a demonstration. */
const BYTES_MAX = 20 * 1024 ** 3;
const FILES_MAX = 500_000;
/** The copy, its stored data, and the clone. */
const COPIES = 3;

export interface FolderSize {
  readonly files: number;
  readonly bytes: number;
}

/** Returns why the folder cannot be used, or undefined when it can. */
export async function refuseFolder(size: FolderSize, target: string): Promise<string | undefined> {
  if (size.files > FILES_MAX || size.bytes > BYTES_MAX) {
    return 'it is too large for a demonstration, which works on a copy. Give a folder within it, or run the commands below in it yourself.';
  }
  const { bavail, bsize } = await statfs(target);
  const freeBytes = bavail * bsize;
  if (freeBytes >= size.bytes * COPIES * 1.05) return undefined;
  return `the demonstration needs ${COPIES} times its size below ${target}, and there is not that much room. Set TMPDIR to a folder on a larger disk.`;
}

export async function measureFolder(folder: string): Promise<FolderSize> {
  let files = 0;
  let bytes = 0;
  await walk(folder, '', async (path, kind) => {
    if (kind !== 'file') return;
    files += 1;
    bytes += (await lstat(join(folder, path))).size;
  });
  return { files, bytes };
}

/**
 * Files share their blocks with the original where the file system supports that (reflink), and separate when
 * written. Never hard links.
 */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await walk(from, '', async (path, kind) => {
    if (kind === 'folder') await mkdir(join(to, path));
    else if (kind === 'link') await symlink(await readlink(join(from, path)), join(to, path));
    else await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
  });
}

type Kind = 'file' | 'link' | 'folder';

/**
 * Dray's own files: the copy must not be a workspace, and nothing in it may be ignored, so that everything
 * can be compared.
 */
const LEFT_OUT: readonly string[] = ['.dray', '.drayignore'];

/** Yields folders before their content. Leaves out sockets and devices. */
async function walk(
  root: string,
  folder: string,
  visit: (path: string, kind: Kind) => Promise<void>,
): Promise<void> {
  for (const item of await readdir(join(root, folder), { withFileTypes: true })) {
    if (LEFT_OUT.includes(item.name)) continue;
    const path = join(folder, item.name);
    if (item.isSymbolicLink()) await visit(path, 'link');
    else if (item.isFile()) await visit(path, 'file');
    else if (item.isDirectory()) {
      await visit(path, 'folder');
      await walk(root, path, visit);
    }
  }
}
