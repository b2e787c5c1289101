/**
 * Watches a folder and everything below it, and reports each event.
 *
 * On Linux each folder gets a watch of its own, and a new folder gets one when its event arrives. Node's
 * recursive watch takes one for each file there, and fails silently when the system has no more. On other
 * systems, one recursive watch covers the tree. Events of Dray's own files (`.dray`, `.dray-tmp`) are
 * ignored.
 */
import { type FSWatcher, watch as watchNode } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IGNORE_FILE_NAME } from '../../model/ignore-file-name.ts';
import { addIgnoreFile, IGNORE_FILE_BYTES_MAX, type IgnoreRules, isIgnored } from '../scan/ignore-rules.ts';

/** Why the watch ended: too many folders, the system's limit of watches, or another error. */
export type WatchEnd = 'tooMany' | 'limit' | 'failed';

export interface WatchTreeOptions {
  /** An absolute path. */
  readonly root: string;
  /** Ignores paths that match `.drayignore` files, and nested workspaces. */
  readonly isWorkspace?: boolean;
  readonly foldersMax?: number;
  /** @param path Relative, with `/`. Null: unknown. */
  readonly onEvent: (path: string | null) => void;
  /** Called at most once. If a part of the tree cannot be watched, the whole watch ends. */
  readonly onEnd: (why: WatchEnd) => void;
  /** For tests. */
  readonly watch?: typeof watchNode;
}

export interface TreeWatch {
  /** Resolves once the whole tree is watched, or the watch has ended. */
  readonly ready: Promise<void>;
  close(): void;
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  readonly identity: string;
  rules: IgnoreRules | undefined;
}

const IS_RECURSIVE = process.platform !== 'linux';
const LIMITS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);
/** The folder has disappeared, or this user may not read it. A scan cannot read it either. */
const SKIPPED: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

export function watchTree(options: WatchTreeOptions): TreeWatch {
  const watch = new FolderWatches(options);
  return { ready: Promise.resolve().then(() => watch.enter('')), close: () => watch.close() };
}

class FolderWatches {
  readonly #options: WatchTreeOptions;
  /** By path with a slash at its end; '' is the root. */
  readonly #watched = new Map<string, WatchedFolder>();
  #isClosed = false;

  constructor(options: WatchTreeOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Watches the folder and, on Linux, all folders below. @param onEntry Called for each of their entries. */
  async enter(top: string, onEntry: (path: string) => void = () => {}): Promise<void> {
    const { foldersMax = Number.POSITIVE_INFINITY } = this.#options;
    const open = [top];
    for (let folder = open.pop(); folder !== undefined && !this.#isClosed; folder = open.pop()) {
      if (folder !== '' && (this.#isLeftOut(parentOf(folder), folder) || this.#watched.has(folder))) continue;
      if (this.#watched.size >= foldersMax) return this.#end('tooMany');
      try {
        open.push(...(await this.#add(folder, onEntry)));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (folder === '' || !SKIPPED.has(code)) return this.#end(LIMITS.has(code) ? 'limit' : 'failed');
        this.#leave(folder);
      }
    }
  }

  /** Resolves to the folders in it that need a watch of their own. */
  async #add(folder: string, onEntry: (path: string) => void): Promise<string[]> {
    const { isWorkspace = false, root, watch = watchNode } = this.#options;
    const identity = identityOf(await lstat(join(root, folder)));
    if (this.#isClosed) return [];
    const watcher = watch(join(root, folder), { recursive: IS_RECURSIVE, encoding: 'utf8' }, (_, name) =>
      this.#take(folder, name),
    );
    watcher.on('error', () => this.#end('failed'));
    const added: WatchedFolder = { watcher, identity, rules: undefined };
    this.#watched.set(folder, added);
    // Listed after the watch starts, so no entry is missed between the two.
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    if (isWorkspace && folder !== '' && entries.some(({ name }) => name === '.dray')) {
      this.#leave(folder);
      return [];
    }
    if (isWorkspace) added.rules = await rulesIn(root, folder, this.#watched.get(parentOf(folder))?.rules);
    for (const { name } of entries) onEntry(`${folder}${name}`);
    if (IS_RECURSIVE) return [];
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}${name}/`);
  }

  #take(folder: string, name: string | null): void {
    if (this.#isClosed) return;
    if (name === null) {
      this.#options.onEvent(null);
      return;
    }
    const path = `${folder}${process.platform === 'win32' ? name.replaceAll('\\', '/') : name}`;
    if (this.#isLeftOut(folder, path) && this.#isLeftOut(folder, `${path}/`)) return;
    this.#options.onEvent(path);
    if (!IS_RECURSIVE) void this.#enterIfNew(`${path}/`);
  }

  /** Watches a new folder, or one that replaced another. Reports the entries that exist already. */
  async #enterIfNew(folder: string): Promise<void> {
    const now = await lstat(join(this.#options.root, folder.slice(0, -1))).catch(() => undefined);
    const isFolder = now?.isDirectory() === true;
    if (isFolder && this.#watched.get(folder)?.identity === identityOf(now)) return;
    this.#leave(folder);
    if (!isFolder) return;
    await this.enter(folder, (path) => {
      if (!this.#isClosed && !this.#isLeftOut(parentOf(path), path)) this.#options.onEvent(path);
    });
  }

  #isLeftOut(folder: string, path: string): boolean {
    return isOwnPath(path) || isIgnored(this.#watched.get(folder)?.rules, path);
  }

  #leave(folder: string): void {
    for (const [path, { watcher }] of this.#watched) {
      if (!path.startsWith(folder)) continue;
      watcher.close();
      this.#watched.delete(path);
    }
  }

  #end(why: WatchEnd): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onEnd(why);
  }
}

/** Includes the time of birth, because a new folder may get the inode number of a removed one. */
function identityOf({ birthtimeMs, dev, ino }: { birthtimeMs: number; dev: number; ino: number }): string {
  return `${dev} ${ino} ${birthtimeMs}`;
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

/** Files that Dray itself writes into a folder. */
function isOwnPath(path: string): boolean {
  return /(?:^|\/)\.dray(?:-tmp)?(?:\/|$)/.test(path);
}

/** The folder of a file or of a folder, with a slash at its end; '' is the root. */
function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
}
