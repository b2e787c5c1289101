/**
 * Watches a workspace's folder and calls back once it has changed and been quiet for a moment. It says that
 * something changed, never what: the listener scans. So lost or merged events cost nothing as long as one
 * arrives.
 *
 * On Linux each folder gets a watch of its own, because Node's recursive one makes a watch for each file.
 * `.dray`, workspaces below and ignored folders get none. A new folder is entered as soon as its event
 * comes. Elsewhere the system watches the whole tree; events below `.dray` are dropped.
 */
import { type FSWatcher, watch as watchNode } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderEvent } from '../../api/host/changes.ts';
import {
  addIgnoreFile,
  IGNORE_FILE_BYTES_MAX,
  IGNORE_FILE_NAME,
  type IgnoreRules,
  isIgnored,
} from '../../files/scan/ignore-rules.ts';

/** Beyond this the system's memory for watches would be the user's to pay. */
const FOLDERS_MAX = 10_000;
const QUIET_MS = 500;
/** A folder that never rests is looked at all the same. */
const PATIENCE_MS = 5_000;
const OWN_NAMES = new Set(['.dray', '.dray-tmp']);

type WatchEnd = NonNullable<FolderEvent['unwatched']>;

export interface FolderWatchOptions {
  readonly onChange: () => void;
  /** It watches no longer; the listener looks when there is a reason to. */
  readonly onEnd: (why: WatchEnd) => void;
  readonly foldersMax?: number;
  readonly isRecursive?: boolean;
  readonly watch?: typeof watchNode;
}

export interface FolderWatch {
  /** Resolves once the whole tree is watched, or it has ended. */
  readonly ready: Promise<void>;
  close(): void;
}

export function watchFolder(root: string, options: FolderWatchOptions): FolderWatch {
  const { foldersMax = FOLDERS_MAX, isRecursive = process.platform !== 'linux', watch = watchNode } = options;
  const watchers = new Map<string, FSWatcher>();
  const rules = new Map<string, IgnoreRules | undefined>();
  const settled = createSettling(options.onChange);
  let isClosed = false;

  const close = () => {
    isClosed = true;
    settled.stop();
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
  const end = (why: WatchEnd) => {
    if (isClosed) return;
    close();
    options.onEnd(why);
  };
  const leave = (folder: string) => {
    for (const [path, watcher] of watchers) {
      if (path === '' || !path.startsWith(folder)) continue;
      watcher.close();
      watchers.delete(path);
    }
  };
  const onEvent = (folder: string, name: string | null) => {
    if (isClosed) return;
    if (name === null) return settled.note();
    if (OWN_NAMES.has(name.split(/[/\\]/, 1)[0]!)) return;
    const path = `${folder}${name}`;
    if (isIgnored(rules.get(folder), path) && isIgnored(rules.get(folder), `${path}/`)) return;
    settled.note();
    if (!isRecursive) void enterIfNew(`${path}/`);
  };
  const add = (folder: string) => {
    const watcher = watch(join(root, folder), { recursive: isRecursive }, (_, name) => onEvent(folder, name));
    watcher.on('error', () => (folder === '' ? end('failed') : leave(folder)));
    watchers.set(folder, watcher);
  };
  const enterIfNew = async (folder: string) => {
    const stat = await lstat(join(root, folder.slice(0, -1))).catch(() => undefined);
    if (!stat?.isDirectory()) return leave(folder);
    if (watchers.has(folder)) return;
    await enter(folder);
    // What came into it before it was watched.
    if (!isClosed) settled.note();
  };
  const enter = async (top: string): Promise<void> => {
    const open = [top];
    for (let folder = open.pop(); folder !== undefined && !isClosed; folder = open.pop()) {
      const above = rules.get(parentOf(folder));
      if (folder !== '' && (isIgnored(above, folder) || watchers.has(folder))) continue;
      if (watchers.size >= foldersMax) return end('tooMany');
      try {
        add(folder);
        const entries = await readdir(join(root, folder), { withFileTypes: true });
        const isInner = folder !== '' && entries.some(({ name }) => name === '.dray');
        if (isInner) {
          leave(folder);
          continue;
        }
        rules.set(folder, await rulesIn(root, folder, above));
        for (const entry of entries)
          if (entry.isDirectory() && !OWN_NAMES.has(entry.name)) open.push(`${folder}${entry.name}/`);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE') return end('limit');
        if (folder === '') return end('failed');
        // It is gone again, or cannot be read: a scan says so.
        leave(folder);
      }
    }
  };
  const start = async () => {
    if (!isRecursive) return enter('');
    try {
      rules.set('', await rulesIn(root, '', undefined));
      if (!isClosed) add('');
    } catch {
      end('failed');
    }
  };
  return { ready: start(), close };
}

async function rulesIn(
  root: string,
  folder: string,
  above: IgnoreRules | undefined,
): Promise<IgnoreRules | undefined> {
  const path = join(root, folder, IGNORE_FILE_NAME);
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile() || stat.size > IGNORE_FILE_BYTES_MAX) return above;
  return addIgnoreFile(above, folder, await readFile(path, 'utf8'));
}

/** Calls after a quiet moment, and now and then if there is none. */
function createSettling(onSettled: () => void) {
  let quiet: NodeJS.Timeout | undefined;
  let patience: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(quiet);
    clearTimeout(patience);
    quiet = undefined;
    patience = undefined;
  };
  const settle = () => {
    stop();
    onSettled();
  };
  return {
    note() {
      clearTimeout(quiet);
      quiet = setTimeout(settle, QUIET_MS);
      patience ??= setTimeout(settle, PATIENCE_MS);
    },
    stop,
  };
}

function parentOf(folder: string): string {
  return folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
}
