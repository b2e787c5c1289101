/**
 * Watches a folder and everything below it. Changes are reported together once none has come for a while.
 *
 * The system may lose events: its queue overflows, its number of watches is used up, the folder is moved or
 * its disk unmounted. Then `onLost` is called, the caller looks for itself, and the watch begins again. While
 * a part cannot be watched, a change of unknown paths is reported every five minutes. A
 * call of `onChange` is a hint to look, never proof of what changed.
 */
import { type Stats, statSync, watch } from 'node:fs';
import { watchTree } from './watch-tree.ts';

export interface WatchFolderOptions {
  /** An absolute path. */
  readonly root: string;
  /** Changes of these are not reported. The path is relative to the root, with `/`. */
  readonly ignores: (path: string) => boolean;
  /** How long nothing may change before a report. */
  readonly settleMs: number;
  /** @param paths Relative, with `/`. Undefined: unknown, or too many. */
  readonly onChange: (paths: ReadonlySet<string> | undefined) => void;
  /** @param isWatched False while the folder cannot be watched; another attempt follows. */
  readonly onLost: (isWatched: boolean) => void;
  readonly signal: AbortSignal;
}

const PATHS_MAX = 10_000;
/** A folder that never rests is reported at least this often. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
/** After a watch that broke: with too few watches left in the system, each attempt costs a walk. */
const BROKEN_PAUSE_MS = 5 * 60_000;

export function watchFolder(options: WatchFolderOptions): void {
  if (options.signal.aborted) return;
  const reports = gatherReports(options);
  let watcher: { close(): void } | undefined;
  let watched: Pick<Stats, 'dev' | 'ino'> | undefined;
  let brokenMs = Number.NEGATIVE_INFINITY;
  const stop = () => {
    watcher?.close();
    watcher = undefined;
    watched = undefined;
  };
  const lose = () => {
    stop();
    options.onLost(begin());
  };
  const breakOff = () => {
    if (!watcher) return;
    stop();
    brokenMs = performance.now();
    options.onLost(false);
  };
  const begin = (): boolean => {
    try {
      watched = statSync(options.root);
      watcher = watchAll(options, reports.add, breakOff);
      return true;
    } catch {
      stop();
      brokenMs = performance.now();
      return false;
    }
  };
  let wasThere = begin();
  if (!wasThere) options.onLost(false);
  const looks = setInterval(() => {
    const now = statSync(options.root, { throwIfNoEntry: false });
    const isPause = performance.now() - brokenMs < BROKEN_PAUSE_MS;
    if (!watched && now && !(isPause && wasThere)) {
      if (begin()) options.onLost(true);
      // Nobody else says that something changed.
      else options.onChange(undefined);
    }
    wasThere = now !== undefined;
    // Another folder has this name now: the old one is still watched, and nobody wants that.
    if (watched && (now?.ino !== watched.ino || now?.dev !== watched.dev)) lose();
  }, LOOK_EVERY_MS);
  options.signal.addEventListener(
    'abort',
    () => {
      clearInterval(looks);
      reports.stop();
      stop();
    },
    { once: true },
  );
}

function watchAll(
  { ignores, root }: WatchFolderOptions,
  onEvent: (path: string | null) => void,
  onError: () => void,
): { close(): void } {
  if (process.platform === 'linux') return watchTree({ root, ignores, onEvent, onError });
  const watcher = watch(root, { recursive: true, encoding: 'utf8' }, (_event, name) => onEvent(name));
  return watcher.on('error', onError);
}

function gatherReports({ ignores, onChange, settleMs }: WatchFolderOptions) {
  let paths: Set<string> | undefined = new Set();
  let settled: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(settled);
    clearTimeout(patience);
    settled = undefined;
    patience = undefined;
  };
  const report = () => {
    stop();
    const reported = paths;
    paths = new Set();
    onChange(reported);
  };
  return {
    stop,
    add(name: string | null) {
      const path = name?.replaceAll('\\', process.platform === 'win32' ? '/' : '\\');
      if (path !== undefined && ignores(path)) return;
      if (path === undefined || (paths && paths.size >= PATHS_MAX)) paths = undefined;
      else paths?.add(path);
      clearTimeout(settled);
      settled = setTimeout(report, settleMs);
      patience ??= setTimeout(report, Math.max(PATIENCE_MS, settleMs));
    },
  };
}

/** Files that Dray itself writes into a folder. */
export function isOwnPath(path: string): boolean {
  return /(?:^|\/)\.dray(?:-tmp)?(?:\/|$)/.test(path);
}
