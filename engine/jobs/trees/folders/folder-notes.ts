/** The folders that a run must set at the end, each once: a few in memory, millions in a file. */
import type { SpilledPaths } from '../../../index/tree-spill.ts';
import { comparePaths } from '../../../model/entry.ts';

export interface NotedFolder {
  readonly path: string;
  /** Reports this folder as changed. */
  readonly isReported: boolean;
}

export interface FolderNotes {
  /** The last note of a path counts. */
  add(path: string, isReported: boolean): void;
  /** Pages of some hundreds, children before their parents. */
  descending(): Generator<readonly NotedFolder[]>;
}

const HELD_MAX = 10_000;
/** This many paths fit into one request, however long they are. */
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
    add(path, isReported) {
      held.set(path, isReported);
      if (held.size >= heldMax) spill();
    },
    *descending() {
      if (spilled) {
        spill();
        for (const page of spilled.descending())
          yield* pagesOf(page.map(([path, isReported]) => ({ path, isReported })));
        return;
      }
      const folders = [...held].map(([path, isReported]) => ({ path, isReported }));
      yield* pagesOf(folders.sort((left, right) => comparePaths(right.path, left.path)));
    },
  };
}

function* pagesOf(folders: readonly NotedFolder[]): Generator<readonly NotedFolder[]> {
  for (let at = 0; at < folders.length; at += PAGE) yield folders.slice(at, at + PAGE);
}
