/** Watches of workspaces, shared by all windows. A watch ends with the last window that uses it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderEvent } from '../../api/host/changes.ts';
import { runUntilAborted } from '../../base/abort.ts';
import { createSettling } from '../../files/watch/settling.ts';
import { type TreeWatch, watchTree } from '../../files/watch/watch-tree.ts';
import { DRAY_FOLDER } from '../../workspace/workspace-folder.ts';
import type { HostState } from '../host-state.ts';
import type { HostCall } from '../port/host-call.ts';

/** Bounds the memory that the system's watches take. Larger folders are scanned when the window has focus. */
const FOLDERS_MAX = 10_000;
const QUIET_MS = 500;
/** A folder that changes constantly is reported this often. */
const PATIENCE_MS = 5_000;

/**
 * How often the folder itself is checked: no watch reports that another one has taken its path, and events of
 * `.dray` are ignored.
 */
const CHECK_EVERY_MS = 2_000;

interface Shared {
  readonly listeners: Set<(news: FolderEvent) => void>;
  /** Resolves when the whole folder is watched, or cannot be. */
  ready: Promise<void>;
  readonly close: () => void;
  news: FolderEvent;
  /** All events so far, also those that `news` does not count yet. */
  events: number;
}

const byHost = new WeakMap<HostState, Map<string, Shared>>();

/** Sends an event at once and after each change, until the request is aborted. */
export async function emitFolderNews(root: string, { emit, host, signal }: HostCall): Promise<never> {
  const shared = sharedOf(host, root);
  const listener = (news: FolderEvent) => emit(news);
  shared.listeners.add(listener);
  emit(shared.news);
  try {
    return await runUntilAborted(signal);
  } finally {
    shared.listeners.delete(listener);
    if (shared.listeners.size === 0) {
      shared.close();
      byHost.get(host)?.delete(root);
    }
  }
}

/** Waits until a watch that a window has begun covers the whole folder, so a scan after it misses nothing. */
export async function untilWatched(root: string, host: HostState): Promise<void> {
  await byHost.get(host)?.get(root)?.ready;
}

/** Grows with each event of the folder. 0 if no window watches it. */
export function eventsOf(root: string, host: HostState): number {
  return byHost.get(host)?.get(root)?.events ?? 0;
}

function sharedOf(host: HostState, root: string): Shared {
  const watches = byHost.get(host) ?? new Map<string, Shared>();
  byHost.set(host, watches);
  const known = watches.get(root);
  if (known) return known;
  const listeners: Shared['listeners'] = new Set();
  const publish = (news: FolderEvent) => {
    shared.news = news;
    for (const listener of listeners) listener(shared.news);
  };
  const settling = createSettling({ quietMs: QUIET_MS, patienceMs: PATIENCE_MS }, () =>
    publish({ ...shared.news, changes: shared.news.changes + 1 }),
  );
  const onEvent = () => {
    shared.events += 1;
    settling.note();
  };
  let tree: TreeWatch | undefined;
  const begin = () => {
    const mine = watchTree({
      root,
      isWorkspace: true,
      foldersMax: FOLDERS_MAX,
      onEvent,
      onEnd(unwatched) {
        if (tree === mine) publish({ ...shared.news, unwatched });
      },
    });
    tree = mine;
    shared.news = { ...shared.news, unwatched: 'starting' };
    shared.ready = mine.ready.then(() => {
      const { unwatched, ...news } = shared.news;
      if (tree === mine && unwatched === 'starting') publish({ ...news, watchedMs: host.clock.nowMs() });
    });
  };
  const stopChecks = checkFolder(root, {
    onOther() {
      tree?.close();
      begin();
      onEvent();
    },
    onBase: onEvent,
  });
  const shared: Shared = {
    listeners,
    news: { type: 'folder', root, changes: 0, unwatched: 'starting' },
    events: 0,
    ready: Promise.resolve(),
    close() {
      stopChecks();
      settling.stop();
      tree?.close();
    },
  };
  begin();
  watches.set(root, shared);
  return shared;
}

interface FolderChecks {
  /** Another folder has the path now, or none has. */
  readonly onOther: () => void;
  /** A push, a pull or a switch, maybe by another program, has changed what the folder is compared with. */
  readonly onBase: () => void;
}

/** @returns A function that ends the checks. */
function checkFolder(root: string, { onBase, onOther }: FolderChecks): () => void {
  const state = join(root, DRAY_FOLDER, 'state.json');
  const read = () => Promise.all([identityOf(root), identityOf(state)]);
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const check = async (before: Awaited<ReturnType<typeof read>>) => {
    const now = await read();
    if (isEnded) return;
    timer = setTimeout(() => void check(now), CHECK_EVERY_MS);
    if (now[0] !== before[0]) onOther();
    else if (now[1] !== before[1]) onBase();
  };
  void read().then(check);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/** A new folder may get the inode number of a removed one, so its birth counts too. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && `${found.dev} ${found.ino} ${found.birthtimeMs}`;
}
