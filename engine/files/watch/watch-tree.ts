/**
 * Watches a folder and every folder below it by a watch of its own, for Linux. There Node's recursive watch
 * also takes one for each file, and when the system has no more watches, it says nothing and watches a part.
 */
import { type FSWatcher, lstatSync, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

export interface WatchTreeOptions {
  readonly root: string;
  /** Not watched. The path is relative to the root, with `/`. */
  readonly ignores: (path: string) => boolean;
  /** @param path Null: unknown. */
  readonly onEvent: (path: string | null) => void;
  /** A part is not watched. */
  readonly onError: () => void;
}

/** It is gone again; or this user may not read it, so neither could whoever looks at what changed. */
const PASSING: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

interface WatchedFolder {
  readonly ino: number;
  readonly watcher: FSWatcher;
  readonly below: Map<string, WatchedFolder>;
}

/** @throws The system's error when the root or a folder below it cannot be watched. */
export function watchTree(options: WatchTreeOptions): { close(): void } {
  const { ignores, onError, onEvent, root } = options;
  const close = ({ below, watcher }: WatchedFolder) => {
    watcher.close();
    for (const folder of below.values()) close(folder);
  };
  const open = (path: string, ino: number): WatchedFolder => {
    const full = join(root, path);
    const below = new Map<string, WatchedFolder>();
    const watcher = watch(full, { encoding: 'utf8' }, (_event, name) => {
      if (name === null) return onEvent(null);
      onEvent(joined(path, name));
      try {
        enter(path, below, name);
      } catch {
        onError();
      }
    });
    watcher.on('error', onError);
    const folder = { ino, watcher, below };
    try {
      // Listed after the watch began, so that no folder made meanwhile is missed.
      for (const entry of readdirSync(full, { withFileTypes: true }))
        if (entry.isDirectory()) enter(path, below, entry.name);
      return folder;
    } catch (error) {
      close(folder);
      throw error;
    }
  };
  /** A folder that is new, or took the place of another one. */
  const enter = (above: string, beside: Map<string, WatchedFolder>, name: string) => {
    const path = joined(above, name);
    if (ignores(path)) return;
    const known = beside.get(name);
    try {
      const now = lstatSync(join(root, path), { throwIfNoEntry: false });
      const isFolder = now?.isDirectory() === true;
      if (known && isFolder && known.ino === now.ino) return;
      if (known) close(known);
      beside.delete(name);
      if (isFolder) beside.set(name, open(path, now.ino));
    } catch (error) {
      if (!PASSING.has((error as NodeJS.ErrnoException).code)) throw error;
    }
  };
  const top = open('', statSync(root).ino);
  return { close: () => close(top) };
}

function joined(above: string, name: string): string {
  return above === '' ? name : `${above}/${name}`;
}
