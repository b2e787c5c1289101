/** The files of a bucket's keys from one span of time to the next, without those that others lie below. */
import { comparePaths } from '../../../model/entry.ts';
import type { ImportedChange, ImportedFile } from '../import-history.ts';
import { foldersOfKey, type KeyState } from './key-state.ts';

export class ShownFiles {
  readonly #state: KeyState;
  /** By path, those that are not shown included. */
  readonly #files: Map<string, ImportedFile>;
  /** Which others lie below, as in a folder. */
  readonly #hidden = new Set<string>();

  /** @param files What an earlier import knows. */
  constructor(files: readonly ImportedFile[], state: KeyState) {
    this.#files = new Map(files.map((file) => [file.path, file]));
    this.#state = state;
  }

  /** @param changes Which the state has. @returns What they change in a commit, in order of the paths. */
  apply(changes: readonly ImportedChange[]): readonly ImportedChange[] {
    const touched = new Set(changes.flatMap(({ path }) => [path, ...foldersOfKey(path)]));
    const before = [...touched].sort(comparePaths).map((path) => ({ path, file: this.#shown(path) }));
    for (const { file, path } of changes) {
      if (file) this.#files.set(path, file);
      else this.#files.delete(path);
    }
    for (const path of touched) {
      if (this.#files.has(path) && this.#state.isFolder(path)) this.#hidden.add(path);
      else this.#hidden.delete(path);
    }
    return before.flatMap(({ file: old, path }) => {
      const file = this.#shown(path);
      const isSame = old && file ? old.hash === file.hash : old === file;
      return isSame ? [] : [{ path, file }];
    });
  }

  #shown(path: string): ImportedFile | undefined {
    return this.#hidden.has(path) ? undefined : this.#files.get(path);
  }
}
