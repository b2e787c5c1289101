/**
 * The folders of a walk over two trees. It forgets folders that the walk has left, so that memory stays flat.
 */
import { comparePaths } from '../../../model/entry.ts';
import type { TreeItem } from '../../../model/tree-item.ts';

export interface WalkedFolder {
  /** '' or ends in `/`. */
  readonly path: string;
  readonly above: WalkedFolder | undefined;
  /** Absent: only the destination has it. */
  readonly source: TreeItem | undefined;
  readonly destination: TreeItem | undefined;
  /** Another user's folder, which is never set. */
  readonly isForeign: boolean;
  /** The folder, or an item in it, is copied. */
  isKept: boolean;
  /** Something in it is written or removed. */
  isChanged: boolean;
  /** It must be opened before its content is removed. */
  isToBeOpened: boolean;
  opened?: Promise<void>;
}

export interface WalkedFolders {
  readonly root: WalkedFolder | undefined;
  /** Call before each batch. Only the folders around the walk's position are kept from earlier batches. */
  beginBatch(): void;
  meet(folder: Pick<WalkedFolder, 'destination' | 'isForeign' | 'path' | 'source'>): WalkedFolder;
  /** The folder of the item, or the nearest one above it that was met. Only for this batch's items. */
  holderOf(path: string): WalkedFolder | undefined;
}

export function createWalkedFolders(): WalkedFolders {
  let met = new Map<string, WalkedFolder>();
  /** The greatest of these paths: the walk's position is in this folder and those above it. */
  let last: WalkedFolder | undefined;
  let root: WalkedFolder | undefined;

  function holderOf(path: string): WalkedFolder | undefined {
    // A folder's own path ends in a slash.
    for (let slash = path.lastIndexOf('/', path.length - 2); slash > 0; ) {
      const found = met.get(path.slice(0, slash + 1));
      if (found) return found;
      slash = path.lastIndexOf('/', slash - 1);
    }
    return root;
  }

  return {
    get root() {
      return root;
    },
    beginBatch() {
      met = new Map();
      for (let at = last; at; at = at.above) met.set(at.path, at);
    },
    meet(folder) {
      const above = folder.path === '' ? undefined : holderOf(folder.path);
      const found = {
        ...folder,
        above,
        isKept: false,
        isChanged: false,
        isToBeOpened: false,
      };
      met.set(found.path, found);
      if (found.path === '') root = found;
      if (last === undefined || comparePaths(found.path, last.path) > 0) last = found;
      return found;
    },
    holderOf,
  };
}
