/**
 * Watches a folder for as long as it is wanted, for jobs and `dray watch`. Changes are reported together once
 * none has come for a while.
 *
 * The system may lose events: its queue overflows, its number of watches is used up, the folder is moved or
 * its disk unmounted. Then `onLost` is called, the caller looks for itself, and the watch begins again. While
 * a part cannot be watched, a change of unknown paths is reported every five minutes. A call of `onChange` is
 * a hint to look, never proof of what changed.
 */
import { statSync } from 'node:fs';
import { createSettling } from './settling.ts';
import { type TreeWatch, watchTree } from './watch-tree.ts';

export interface WatchFolderOptions {
  /** An absolute path. */
  readonly root: string;
  /** How long nothing may change before a report. */
  readonly settleMs: number;
  /** @param paths Relative, with `/`. Undefined: unknown, or too many. */
  readonly onChange: (paths: ReadonlySet<string> | undefined) => void;
  /** @param isWatched False while the folder cannot be watched; another attempt follows. */
  readonly onLost: (isWatched: boolean) => void;
  readonly signal: AbortSignal;
}

const PATHS_MAX = 10_000;
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
/** After a watch that broke: with too few watches left in the system, each attempt costs a walk. */
const BROKEN_PAUSE_MS = 5 * 60_000;

/** Resolves once the folder is watched, or after `onLost(false)`. It watches until the signal fires. */
export async function watchFolder(options: WatchFolderOptions): Promise<void> {
  const { onChange, onLost, root, signal } = options;
  if (signal.aborted) return;
  const reports = gatherReports(options);
  let tree: TreeWatch | undefined;
  let watched: string | undefined;
  let brokenMs = Number.NEGATIVE_INFINITY;
  const stop = () => {
    tree?.close();
    tree = undefined;
  };
  const begin = async (): Promise<boolean> => {
    let isWhole = true;
    let isReady = false;
    watched = folderNow(root);
    const mine = watchTree({
      root,
      onEvent: reports.add,
      onEnd: () => {
        isWhole = false;
        brokenMs = performance.now();
        if (tree === mine) tree = undefined;
        if (isReady) onLost(false);
      },
    });
    tree = mine;
    await mine.ready;
    isReady = true;
    return isWhole;
  };
  const look = async () => {
    const now = folderNow(root);
    const isPause = performance.now() - brokenMs < BROKEN_PAUSE_MS;
    const isBack = !tree && now !== undefined && !(isPause && wasThere);
    wasThere = now !== undefined;
    if (isBack) {
      const isWatched = await begin();
      if (signal.aborted) return;
      if (isWatched) onLost(true);
      // Nobody else says that something changed.
      else onChange(undefined);
    } else if (tree && now !== watched) {
      // Another folder has this name now. The old one is still watched, and nobody wants that.
      stop();
      const isWatched = await begin();
      if (!signal.aborted) onLost(isWatched);
    }
  };
  let looks: NodeJS.Timeout | undefined;
  const lookLater = () => {
    if (!signal.aborted) looks = setTimeout(() => void look().finally(lookLater), LOOK_EVERY_MS);
  };
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(looks);
      reports.stop();
      stop();
    },
    { once: true },
  );
  let wasThere = await begin();
  if (!wasThere && !signal.aborted) onLost(false);
  lookLater();
}

/** Tells one folder at this path from another one. Undefined: there is none, or it cannot be reached. */
function folderNow(root: string): string | undefined {
  try {
    const { dev, ino } = statSync(root);
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

function gatherReports({ onChange, settleMs }: WatchFolderOptions) {
  let paths: Set<string> | undefined = new Set();
  const settling = createSettling({ quietMs: settleMs, patienceMs: PATIENCE_MS }, () => {
    const reported = paths;
    paths = new Set();
    onChange(reported);
  });
  return {
    stop: settling.stop,
    add(path: string | null) {
      if (path === null || (paths && paths.size >= PATHS_MAX)) paths = undefined;
      else paths?.add(path);
      settling.note();
    },
  };
}
