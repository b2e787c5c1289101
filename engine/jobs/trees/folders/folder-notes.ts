/** The folders that a run has to set in the end, each once: a few in memory, millions in a file. */
import type { SpilledPaths } from '../../../index/tree-spill.ts';
import { comparePaths } from '../../../model/entry.ts';

export interface NotedFolder {
  readonly path: string;
  /** That it is set is told of. */
  readonly isTold: boolean;
}

export interface FolderNotes {
  /** The last one of a path counts. */
  add(path: string, isTold: boolean): void;
  /** Pages of some hundreds, folders before the ones they lie in. */
  descending(): Generator<readonly NotedFolder[]>;
}

const HELD_MAX = 10_000;
/** The longest paths of so many fit into one request. */
const PAGE = 500;

export function createFolderNotes(
  open: () => SpilledPaths,
  { heldMax = HELD_MAX }: { readonly heldMax?: number } = {},
): FolderNotes {
  let held = new Map<string, boolean>();
  let spilled: SpilledPaths | undefined;
  const spill = () => {
    spilled ??= open();
    spilled.add([...held.keys()], [...held.values()]);
    held = new Map();
  };
  return {
    add(path, isTold) {
      held.set(path, isTold);
      if (held.size >= heldMax) spill();
    },
    *descending() {
      if (spilled) {
        spill();
        for (const page of spilled.descending())
          yield* pagesOf(page.map(([path, isTold]) => ({ path, isTold })));
        return;
      }
      const folders = [...held].map(([path, isTold]) => ({ path, isTold }));
      yield* pagesOf(folders.sort((left, right) => comparePaths(right.path, left.path)));
    },
  };
}

function* pagesOf(folders: readonly NotedFolder[]): Generator<readonly NotedFolder[]> {
  for (let at = 0; at < folders.length; at += PAGE) yield folders.slice(at, at + PAGE);
}
