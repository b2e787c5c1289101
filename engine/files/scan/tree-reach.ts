/**
 * Opens the files of a tree by paths relative to its root.
 *
 * `plainReach` joins names, for trees that nobody else changes meanwhile. `heldReach` is for folders that
 * others write to as well, such as served ones: it holds the parent folder (`base/held-folders.ts`), so a
 * link that appears in the path is not followed.
 */
import {
  createHeldFolders,
  folderAbove,
  type HeldFolder,
  type HeldFolders,
  isLinkOnTheWay,
} from '../../base/held-folders.ts';
import { errnoOf, unsafePath } from '../write/write-error.ts';

export interface TreeReach {
  /**
   * An absolute path to the file or folder, which may not exist, valid until `release` or the next call.
   * @throws DrayError `unsafePath`; Node's errors.
   */
  absoluteOf(path: string): string;
  /** Releases the folder of the last call. */
  release(): void;
}

export function plainReach(root: string): TreeReach {
  return { absoluteOf: (path) => `${root}/${path}`, release: () => {} };
}

/** @param root With all links resolved; or its folders, when others use them too. */
export function heldReach(root: string | HeldFolders): TreeReach {
  const folders = typeof root === 'string' ? createHeldFolders(root) : root;
  let held: { readonly name: string; readonly folder: HeldFolder } | undefined;
  const release = () => {
    held?.folder.release();
    held = undefined;
  };
  return {
    absoluteOf(path) {
      const name = folderAbove(path);
      if (held?.name !== name) {
        release();
        held = { name, folder: holdReal(folders, name) };
      }
      return held!.folder.at(name === '' ? path : path.slice(name.length + 1));
    },
    release,
  };
}

/** @throws DrayError `unsafePath`, Node's errors. */
function holdReal(folders: HeldFolders, folder: string): HeldFolder {
  try {
    return folders.holdSync(folder);
  } catch (error) {
    if (!isLinkOnTheWay(error) && errnoOf(error) !== 'ENOTDIR') throw error;
    throw unsafePath(folder, 'a symbolic link or a file is in its path');
  }
}
