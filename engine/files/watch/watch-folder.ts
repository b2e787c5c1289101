/**
 * Watches a folder for saved jobs and `dray watch`. Reports a burst of changes as one, after a quiet time.
 *
 * The system may lose events: its queue overflows, it has no more watches, the folder is moved, its disk is
 * unmounted. `onLost` reports this, the caller scans the folder, and the watch starts again. While a part of
 * the folder cannot be watched, `onChange` reports unknown paths every five minutes. A call of `onChange` is
 * a reason to scan; it does not prove that a file changed.
 */
import { statSync } from 'node:fs';
import { createSettling } from './settling.ts';
import { type TreeWatch, watchTree } from './watch-tree.ts';

export interface WatchFolderOptions {
  /** An absolute path. */
  readonly root: string;
  /** The time without a change before a report. */
  readonly settleMs: number;
  /** @param paths Relative, with `/`. Undefined: unknown, or too many. */
  readonly onChange: (paths: ReadonlySet<string> | undefined) => void;
  /** @param isWatched False if the folder cannot be watched now; the watch is retried. */
  readonly onLost: (isWatched: boolean) => void;
  readonly signal: AbortSignal;
}

const PATHS_MAX = 10_000;
const PATIENCE_MS = 60_000;
const CHECK_EVERY_MS = 5_000;
/** The pause after a watch failed. Each attempt walks the tree, and fails while the system lacks watches. */
const FAILED_PAUSE_MS = 5 * 60_000;

/** Resolves once the folder is watched, or after `onLost(false)`. Watches until the signal fires. */
export async function watchFolder(options: WatchFolderOptions): Promise<void> {
  const { onChange, onLost, root, signal } = options;
  if (signal.aborted) return;
  const reports = gatherReports(options);
  let tree: TreeWatch | undefined;
  let watched: string | undefined;
  let failedMs = Number.NEGATIVE_INFINITY;
  const stop = () => {
    tree?.close();
    tree = undefined;
  };
  const begin = async (): Promise<boolean> => {
    let isWhole = true;
    let isReady = false;
    watched = identityOf(root);
    const mine = watchTree({
      root,
      onEvent: reports.add,
      onEnd: () => {
        isWhole = false;
        failedMs = performance.now();
        if (tree === mine) tree = undefined;
        if (isReady) onLost(false);
      },
    });
    tree = mine;
    await mine.ready;
    isReady = true;
    return isWhole;
  };
  const check = async () => {
    const now = identityOf(root);
    const isPause = performance.now() - failedMs < FAILED_PAUSE_MS;
    const isBack = !tree && now !== undefined && !(isPause && wasThere);
    wasThere = now !== undefined;
    if (isBack) {
      const isWatched = await begin();
      if (signal.aborted) return;
      if (isWatched) onLost(true);
      // The folder is still not watched, so this call replaces the events.
      else onChange(undefined);
    } else if (tree && now !== watched) {
      // Another folder has this path now; the watch is still on the old one.
      stop();
      const isWatched = await begin();
      if (!signal.aborted) onLost(isWatched);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const checkLater = () => {
    if (!signal.aborted) timer = setTimeout(() => void check().finally(checkLater), CHECK_EVERY_MS);
  };
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      reports.stop();
      stop();
    },
    { once: true },
  );
  let wasThere = await begin();
  if (!wasThere && !signal.aborted) onLost(false);
  checkLater();
}

/** Changes when another folder takes the path. Undefined if no folder can be reached there. */
function identityOf(root: string): string | undefined {
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
