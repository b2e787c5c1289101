/**
 * The folders that a walk over two trees meets. Of those that it has left nothing is held: memory stays flat
 * at any number of them.
 */
import { comparePaths } from '../../../model/entry.ts';
import type { TreeItem } from '../../../model/tree-item.ts';

export interface FolderMet {
  /** '' or ends in `/`. */
  readonly path: string;
  readonly above: FolderMet | undefined;
  /** Absent: the destination alone has it. */
  readonly source: TreeItem | undefined;
  readonly destination: TreeItem | undefined;
  /** Nobody's business to set. */
  readonly isTheirs: boolean;
  /** Something that travels lies in it, or it travels for its own sake. */
  isKept: boolean;
  /** Something in it is written or removed. */
  isChanged: boolean;
  /** Before what lies in it is removed. */
  isToBeOpened: boolean;
  opened?: Promise<void>;
}

export interface FoldersMet {
  readonly root: FolderMet | undefined;
  /** Before each batch: what is known reaches no further back than to the folders that the walk is in. */
  beginBatch(): void;
  meet(folder: Pick<FolderMet, 'destination' | 'isTheirs' | 'path' | 'source'>): FolderMet;
  /** The folder that the item lies in, or the nearest one above that was met. Of this batch's items alone. */
  holderOf(path: string): FolderMet | undefined;
}

export function createFoldersMet(): FoldersMet {
  let met = new Map<string, FolderMet>();
  /** The greatest path of them: all that the walk is still in lie above it. */
  let last: FolderMet | undefined;
  let root: FolderMet | undefined;

  function holderOf(path: string): FolderMet | undefined {
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
